//! Demand: who has room for jobs. The proposer attaches it to batches, the machine delivers against it.
//!
//! A subscriber's demand is in one batch at a time. What no job was found for comes back with that batch.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::Delivery;
use protocol::{ActivatedJob, Demand, Key, Name};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::api::JobRequest;

/// Where the jobs of a subscriber go.
pub(crate) enum Sink {
    /// One answer.
    Poll {
        reply: oneshot::Sender<Vec<ActivatedJob>>,
        /// Whether it waits for the first job, or takes what there is.
        waits: bool,
    },
    /// A buffer; its free places are the demand.
    Stream(mpsc::Sender<ActivatedJob>),
}

struct Subscriber {
    request: JobRequest,
    sink: Sink,
    in_batch: bool,
}

/// Subscribers of one job type.
struct JobType {
    subscribers: VecDeque<u64>,
    /// Whether the queue may hold jobs of this type. Unknown is true.
    queued: Arc<AtomicBool>,
}

/// All demand of a partition.
pub(crate) struct DemandRegistry {
    state: Mutex<State>,
    next_id: AtomicU64,
    /// Told when demand should be proposed without waiting for a command.
    changed: Notify,
    max_per_batch: usize,
}

#[derive(Default)]
struct State {
    subscribers: HashMap<u64, Subscriber>,
    types: HashMap<Name, JobType>,
    /// Types in the order of their next turn.
    turns: VecDeque<Name>,
    /// Jobs to give back.
    yielded: Vec<Key>,
    pushed: u64,
    push_failed: u64,
}

impl DemandRegistry {
    pub fn new(max_per_batch: usize) -> Self {
        Self { state: Mutex::default(), next_id: AtomicU64::new(1), changed: Notify::new(), max_per_batch }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscriber. Returns its number and the flag that tells whether jobs of its type may be queued.
    pub fn subscribe(&self, request: JobRequest, sink: Sink) -> (u64, Arc<AtomicBool>) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        let state = &mut *state;
        let job_type = state.types.entry(request.job_type.clone()).or_insert_with(|| {
            state.turns.push_back(request.job_type.clone());
            JobType { subscribers: VecDeque::new(), queued: Arc::new(AtomicBool::new(true)) }
        });
        job_type.subscribers.push_back(id);
        let queued = Arc::clone(&job_type.queued);
        state.subscribers.insert(id, Subscriber { request, sink, in_batch: false });
        if queued.load(Ordering::Acquire) {
            self.changed.notify_one();
        }
        (id, queued)
    }

    /// Whether jobs of a type may be queued.
    pub fn may_be_queued(&self, job_type: &Name) -> bool {
        self.lock().types.get(job_type).is_none_or(|job_type| job_type.queued.load(Ordering::Acquire))
    }

    /// Removes a subscriber.
    pub fn unsubscribe(&self, id: u64) {
        let mut state = self.lock();
        let Some(subscriber) = state.subscribers.remove(&id) else { return };
        if let Some(job_type) = state.types.get_mut(&subscriber.request.job_type) {
            job_type.subscribers.retain(|other| *other != id);
        }
    }

    /// Gives jobs back that did not reach their worker.
    pub fn give_back(&self, keys: impl IntoIterator<Item = Key>) {
        let mut state = self.lock();
        let before = state.yielded.len();
        state.yielded.extend(keys);
        if state.yielded.len() > before {
            self.changed.notify_one();
        }
    }

    /// Room has come up in a buffer.
    pub fn wake(&self) {
        self.changed.notify_one();
    }

    /// Resolves when demand should be proposed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Jobs to give back with the next batch.
    pub fn take_yielded(&self) -> Vec<Key> {
        std::mem::take(&mut self.lock().yielded)
    }

    /// Whether a batch with nothing but demand would find a job.
    pub fn is_wanted(&self) -> bool {
        let state = self.lock();
        !state.yielded.is_empty()
            || state.types.values().any(|job_type| {
                job_type.queued.load(Ordering::Acquire)
                    && job_type
                        .subscribers
                        .iter()
                        .any(|id| state.subscribers.get(id).is_some_and(|s| s.room() > 0))
            })
    }

    /// Demand for the next batch: types in turn, those with queued jobs first.
    pub fn attach(&self) -> Vec<Demand> {
        let mut state = self.lock();
        let state = &mut *state;
        let mut demand = Vec::new();
        let turns = state.turns.len();
        for queued in [true, false] {
            for _ in 0..turns {
                if demand.len() >= self.max_per_batch {
                    return demand;
                }
                let Some(name) = state.turns.pop_front() else { break };
                let Some(job_type) = state.types.get_mut(&name) else { continue };
                if job_type.subscribers.is_empty() && !queued {
                    // Nobody is left: the type is forgotten, and with it what was known of its queue.
                    state.types.remove(&name);
                    continue;
                }
                if job_type.queued.load(Ordering::Acquire) == queued {
                    for _ in 0..job_type.subscribers.len() {
                        if demand.len() >= self.max_per_batch {
                            break;
                        }
                        let Some(id) = job_type.subscribers.pop_front() else { break };
                        job_type.subscribers.push_back(id);
                        let Some(subscriber) = state.subscribers.get_mut(&id) else { continue };
                        let room = subscriber.room();
                        if room > 0 {
                            subscriber.in_batch = true;
                            demand.push(subscriber.demand(id, room));
                        }
                    }
                }
                state.turns.push_back(name);
            }
        }
        demand
    }

    /// Demand of a batch that never was applied.
    pub fn return_demand(&self, demand: &[Demand]) {
        let mut state = self.lock();
        for wanted in demand {
            if let Some(subscriber) = state.subscribers.get_mut(&wanted.subscriber_id) {
                subscriber.in_batch = false;
            }
        }
    }

    /// Hands out what a batch has activated, and takes back what it found no job for.
    pub fn deliver(&self, queued_types: &[Name], deliveries: Vec<Delivery>, unmet: &[u64]) {
        if queued_types.is_empty() && deliveries.is_empty() && unmet.is_empty() {
            return;
        }
        let mut state = self.lock();
        let state = &mut *state;
        for name in queued_types {
            if let Some(job_type) = state.types.get(name) {
                job_type.queued.store(true, Ordering::Release);
            }
        }
        for delivery in deliveries {
            state.hand_out(delivery);
        }
        for id in unmet {
            state.unmet(*id);
        }
        let wanted = !state.yielded.is_empty()
            || queued_types.iter().any(|name| {
                state.types.get(name).is_some_and(|job_type| {
                    job_type.queued.load(Ordering::Acquire)
                        && job_type
                            .subscribers
                            .iter()
                            .any(|id| state.subscribers.get(id).is_some_and(|s| s.room() > 0))
                })
            });
        if wanted {
            self.changed.notify_one();
        }
    }

    /// Jobs handed to subscribers, and jobs that could not be.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.lock();
        (state.pushed, state.push_failed)
    }

    /// Open streams.
    pub fn streams(&self) -> usize {
        self.lock().subscribers.values().filter(|s| matches!(s.sink, Sink::Stream(_))).count()
    }
}

impl State {
    fn hand_out(&mut self, delivery: Delivery) {
        let id = delivery.subscriber_id;
        let count = delivery.jobs.len() as u64;
        let Some(subscriber) = self.subscribers.get_mut(&id) else {
            self.push_failed += count;
            self.yielded.extend(delivery.jobs.iter().map(|job| job.key));
            return;
        };
        subscriber.in_batch = false;
        if let Sink::Stream(buffer) = &subscriber.sink {
            for job in delivery.jobs {
                match buffer.try_send(job) {
                    Ok(()) => self.pushed += 1,
                    Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) => {
                        self.push_failed += 1;
                        self.yielded.push(job.key);
                    }
                }
            }
            return;
        }
        let Some(subscriber) = self.subscribers.remove(&id) else { return };
        if let Some(job_type) = self.types.get_mut(&subscriber.request.job_type) {
            job_type.subscribers.retain(|other| *other != id);
        }
        if let Sink::Poll { reply, .. } = subscriber.sink {
            match reply.send(delivery.jobs) {
                Ok(()) => self.pushed += count,
                Err(jobs) => {
                    self.push_failed += count;
                    self.yielded.extend(jobs.iter().map(|job| job.key));
                }
            }
        }
    }

    fn unmet(&mut self, id: u64) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        subscriber.in_batch = false;
        if let Some(job_type) = self.types.get(&subscriber.request.job_type) {
            job_type.queued.store(false, Ordering::Release);
        }
        if matches!(subscriber.sink, Sink::Poll { waits: false, .. }) {
            self.hand_out(Delivery { subscriber_id: id, jobs: Vec::new() });
        }
    }
}

impl Subscriber {
    /// Jobs it can take now.
    fn room(&self) -> u32 {
        if self.in_batch {
            return 0;
        }
        match &self.sink {
            Sink::Poll { .. } => self.request.max_jobs,
            Sink::Stream(buffer) => buffer.capacity() as u32,
        }
    }

    fn demand(&self, id: u64, max_jobs: u32) -> Demand {
        Demand {
            subscriber_id: id,
            job_type: self.request.job_type.clone(),
            tenant_ids: self.request.tenant_ids.clone(),
            worker: self.request.worker.clone(),
            timeout_ms: self.request.timeout_ms,
            max_jobs,
            fetch_variables: self.request.fetch_variables.clone(),
        }
    }
}
