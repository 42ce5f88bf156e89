//! Demand: who has room for jobs. The proposer attaches it to batches, the machine delivers against it.
//!
//! A subscriber's demand is in one batch at a time. Unserved demand comes back with that batch. Subscribers
//! that see the same queue, being of one job type and the same tenants, form a [`group::Group`], and groups take turns.
//! The demand of a stream is what its credit (`credit.rs`) leaves beside the jobs that it holds.

mod budget;
mod figures;
mod group;
#[cfg(test)]
mod properties;
mod state;
mod subscriber;

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use broker_api::{JobRequest, Positions, SubmitError};
use engine::{Delivery, JobEnd};
use protocol::{ActivatedJob, Demand, Key, Name};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::credit::Credit;
use crate::numbers::Numbers;
use crate::options::JobOptions;

pub(crate) use budget::StreamCredit;
pub(crate) use figures::JobTypes;
use state::{State, list, tenants};
pub(crate) use subscriber::{Polled, is_worth_asking};
use subscriber::{Sink, Stream, Subscriber};

/// Jobs given back with one batch; the rest goes with the next.
const YIELDED_PER_BATCH_MAX: usize = 1000;

/// All demand of a partition.
pub(crate) struct DemandRegistry {
    state: Mutex<State>,
    /// Numbers of subscribers. Batches of another life of the broker name others.
    numbers: Numbers,
    /// The engine's clock, as of the last batch.
    now_ms: AtomicI64,
    /// Notified when demand should be proposed without waiting for a command.
    changed: Arc<Notify>,
    options: JobOptions,
    /// Start of the clock of credit.
    began: Instant,
}

/// A stream or a poll that asks for jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The type of jobs.
    pub job_type: Name,
    /// The name that the worker gave itself.
    pub name: Name,
    /// A stream, or a poll that waits.
    pub is_stream: bool,
    /// Tenants whose jobs it takes, in order.
    pub tenant_ids: Vec<Name>,
    /// Jobs that it has; unknown of polls.
    pub holds: u32,
    /// Jobs that it would take now.
    pub free_places: u32,
}

/// Changes of a batch that concern demand.
pub(crate) struct Delivered<'a> {
    pub queued_types: &'a [Name],
    pub ended_jobs: &'a [(Key, JobEnd)],
    pub deliveries: Vec<Delivery>,
    pub unmet: &'a [u64],
}

impl DemandRegistry {
    pub fn new(options: JobOptions, numbers: Numbers) -> Self {
        Self {
            state: Mutex::default(),
            numbers,
            now_ms: AtomicI64::new(i64::MIN),
            changed: Arc::default(),
            options: JobOptions { max_demand_per_batch: options.max_demand_per_batch.max(1), ..options },
            began: Instant::now(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds a poll that waits for the first job, or takes what there is. Returns its number; `None` when the broker
    /// stops.
    pub fn poll(&self, request: JobRequest, reply: oneshot::Sender<Polled>, waits: bool) -> Option<u64> {
        self.subscribe(request, |_| Sink::Poll { reply, waits }).map(|(id, _)| id)
    }

    /// Adds a stream. Returns its number and the flag that tells whether jobs for it may be queued; `None` when the
    /// broker stops.
    #[cfg(test)]
    pub fn stream(
        &self,
        request: JobRequest,
        buffer: mpsc::Sender<ActivatedJob>,
    ) -> Option<(u64, Arc<AtomicBool>)> {
        let credit = self.stream_credit(&request);
        self.stream_within(request, buffer, &credit)
    }

    /// The credit of a new stream.
    pub fn stream_credit(&self, request: &JobRequest) -> StreamCredit {
        let timeout = Duration::from_millis(request.timeout_ms.try_into().unwrap_or_default());
        let first = self.options.first_credit_of(&request.job_type);
        StreamCredit::new(Credit::new(first, self.options.max_stream_credit, timeout))
    }

    /// Adds the part of a stream that is for this partition, see [`Self::stream`].
    pub fn stream_within(
        &self,
        request: JobRequest,
        buffer: mpsc::Sender<ActivatedJob>,
        credit: &StreamCredit,
    ) -> Option<(u64, Arc<AtomicBool>)> {
        self.subscribe(request, |queued| {
            let credit = credit.join(self.began, queued, &self.changed);
            Sink::Stream(Box::new(Stream::new(buffer, credit)))
        })
    }

    fn subscribe(
        &self,
        request: JobRequest,
        sink: impl FnOnce(&Arc<AtomicBool>) -> Sink,
    ) -> Option<(u64, Arc<AtomicBool>)> {
        let id = self.numbers.next();
        let mut state = self.lock();
        let state = &mut *state;
        if state.closed {
            return None;
        }
        let number = state.group(&request);
        let group = state.groups.get_mut(&number).expect("it was just found");
        let queued = Arc::clone(&group.queued);
        let subscriber = Subscriber::new(request, sink(&queued), number);
        group.add(id, &subscriber);
        if group.is_urgent() {
            list(&mut state.urgent, number, group);
            self.changed.notify_one();
        }
        state.subscribers.insert(id, subscriber);
        Some((id, queued))
    }

    /// Whether the queue is known to hold no job for a request.
    pub fn is_known_empty(&self, request: &JobRequest) -> bool {
        let state = self.lock();
        let tenants = tenants(request);
        state
            .find_group(request, &tenants)
            .and_then(|number| state.groups.get(&number))
            .is_some_and(|group| !group.queued.load(Ordering::Acquire))
    }

    /// Removes a subscriber. Others may have a turn by it.
    pub fn unsubscribe(&self, id: u64) {
        if self.lock().remove(id).is_some() {
            self.changed.notify_one();
        }
    }

    /// Gives jobs back that did not reach their worker.
    pub fn give_back<'a>(&self, jobs: impl IntoIterator<Item = &'a ActivatedJob>) {
        let now_ms = self.now_ms();
        let mut state = self.lock();
        for job in jobs {
            state.give_back(job, now_ms);
        }
        if !state.yielded.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Gives back a job that waited in the buffer of a stream beyond its time-out.
    pub fn dropped(&self, id: u64, job: &ActivatedJob) {
        if self.lock().dropped(job, id) {
            self.changed.notify_one();
        }
    }

    /// Notes that an answer for a job was refused: its sender no longer holds the job. `is_gone`: there is no such job.
    pub fn answer_refused(&self, key: Key, is_gone: bool) {
        if self.lock().answer_refused(key, is_gone) {
            self.changed.notify_one();
        }
    }

    /// Gives up waiting for workers that have been silent for twice the time they had. `now_ms` is the engine's clock.
    pub fn expire(&self, now_ms: i64) {
        let mut state = self.lock();
        // A part of a stream may have waited for its turn.
        if state.expire(now_ms) | state.has_shared() {
            self.changed.notify_one();
        }
    }

    /// Keeps jobs of a batch that failed, to be given back with another.
    pub fn give_back_again(&self, jobs: impl IntoIterator<Item = (Key, i64)>) {
        self.lock().yielded.extend(jobs);
    }

    /// The engine's clock, as of the last batch. A job whose time was over by then is with somebody else.
    pub fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::Acquire)
    }

    /// Wakes the proposer: a buffer has room again.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Resolves when demand should be proposed.
    pub async fn changed(&self) {
        let look_at = self.lock().look_at;
        match look_at {
            None => self.changed.notified().await,
            Some(look_at) => tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep_until((self.began + look_at).into()) => {}
            },
        }
    }

    /// Jobs to give back with the next batch, each with the time until which its worker had it.
    pub fn take_yielded(&self) -> Vec<(Key, i64)> {
        let mut state = self.lock();
        if state.yielded.len() <= YIELDED_PER_BATCH_MAX {
            return std::mem::take(&mut state.yielded);
        }
        let rest = state.yielded.split_off(YIELDED_PER_BATCH_MAX);
        std::mem::replace(&mut state.yielded, rest)
    }

    /// Whether a batch with nothing but demand would find a job, or end a poll without one.
    pub fn is_wanted(&self) -> bool {
        let now = self.began.elapsed();
        let mut state = self.lock();
        let State { urgent, groups, subscribers, look_at, yielded, .. } = &mut *state;
        *look_at = None;
        !yielded.is_empty()
            || urgent.iter().any(|number| {
                groups.get_mut(number).is_some_and(|group| group.is_wanting(subscribers, now, look_at))
            })
    }

    /// Demand for the next batch: groups in turn, urgent ones first.
    pub fn attach(&self) -> Vec<Demand> {
        let now = self.began.elapsed();
        self.lock().attach(self.options.max_demand_per_batch, now)
    }

    /// Answers polls that do not wait with an error. Those whose demand is in a batch hear of it.
    pub fn refuse_impatient(&self, error: &SubmitError) {
        let mut state = self.lock();
        if state.groups.values().all(|group| group.impatient == 0) {
            return;
        }
        let refused = state
            .subscribers
            .iter()
            .filter(|(_, subscriber)| !subscriber.in_batch && subscriber.is_impatient());
        let refused: Vec<u64> = refused.map(|(id, _)| *id).collect();
        for id in refused {
            state.answer(id, Err(error.clone()));
        }
    }

    /// Takes back the demand of a batch that was never applied. Polls that do not wait are told why.
    pub fn return_demand(&self, demand: &[Demand], error: &SubmitError) {
        let mut state = self.lock();
        for wanted in demand {
            let Some(subscriber) = state.subscribers.get_mut(&wanted.subscriber_id) else { continue };
            let asked = subscriber.back();
            subscriber.note();
            let is_impatient = subscriber.is_impatient();
            state.asked -= asked;
            if is_impatient {
                state.answer(wanted.subscriber_id, Err(error.clone()));
            }
        }
    }

    /// Hands out what a batch has activated, and takes back what it found no job for. `now_ms` is the engine's clock,
    /// `positions` how far the log is with this batch.
    ///
    /// Demand that is left needs no wake-up: the proposer looks again whenever a batch of its own is done.
    pub fn deliver(&self, batch: Delivered<'_>, now_ms: i64, positions: &Positions) {
        self.now_ms.store(now_ms, Ordering::Release);
        let Delivered { queued_types, ended_jobs, deliveries, unmet } = batch;
        if queued_types.is_empty() && ended_jobs.is_empty() && deliveries.is_empty() && unmet.is_empty() {
            return;
        }
        let now = self.began.elapsed();
        let mut state = self.lock();
        state.next_batch();
        for name in queued_types {
            state.queued(name);
        }
        for (key, end) in ended_jobs {
            state.ended(*key, *end, now, now_ms);
        }
        for delivery in deliveries {
            // In another life of the broker it has reached its worker, or the worker's time will run out.
            if self.numbers.has_given(delivery.subscriber_id) {
                state.hand_out(delivery, now, now_ms, positions);
            }
        }
        for id in unmet {
            state.unmet(*id);
        }
        if !state.yielded.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Ends all subscribers and accepts no more. Streams may still read their buffers.
    pub fn close(&self, error: &SubmitError) {
        let mut state = self.lock();
        state.closed = true;
        let polls: Vec<u64> = state.subscribers.keys().copied().collect();
        for id in polls {
            state.answer(id, Err(error.clone()));
        }
        let mut emptied = State::default();
        emptied.closed = true;
        emptied.yielded = std::mem::take(&mut state.yielded);
        *state = emptied;
        self.changed.notify_one();
    }

    /// Jobs handed to subscribers, and jobs that could not be.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.lock();
        (state.pushed, state.push_failed)
    }

    pub fn streams(&self) -> usize {
        self.lock().subscribers.values().filter(|subscriber| subscriber.stream().is_some()).count()
    }

    /// Workers that ask for jobs, one entry for each stream and poll.
    pub fn workers(&self) -> Vec<Worker> {
        let state = self.lock();
        let worker = |subscriber: &Subscriber| {
            let request = &subscriber.request;
            let (holds, free_places) = match subscriber.stream() {
                Some(stream) => (stream.held(), stream.free_places()),
                None => (0, request.max_jobs),
            };
            Worker {
                job_type: request.job_type.clone(),
                name: request.worker.clone(),
                is_stream: subscriber.stream().is_some(),
                tenant_ids: tenants(request),
                holds,
                free_places,
            }
        };
        state.subscribers.values().map(worker).collect()
    }

    /// Figures of jobs, by their type.
    pub fn job_types(&self) -> JobTypes {
        let state = self.lock();
        let mut types = state.job_types.clone();
        for subscriber in state.subscribers.values() {
            let Some(stream) = subscriber.stream() else { continue };
            let figures = types.of(&subscriber.request.job_type);
            figures.credit += u64::from(stream.credit.figure());
            figures.outstanding += u64::from(stream.outstanding);
            figures.overdue += stream.overdue.len() as u64;
        }
        types
    }
}
