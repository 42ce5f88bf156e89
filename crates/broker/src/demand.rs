//! Demand: who has room for jobs. The proposer attaches it to batches, the machine delivers against it.
//!
//! A subscriber's demand is in one batch at a time. What no job was found for comes back with that batch. Subscribers
//! that see the same queue, being of one job type and the same tenants, form a [`Group`], and groups take turns.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Delivery;
use protocol::{ActivatedJob, Caller, Demand, Key, Name};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::api::{Activation, JobRequest, Positions, SubmitError};

/// Jobs given back with one batch; the rest goes with the next.
const YIELDED_PER_BATCH_MAX: usize = 1000;
/// Groups without queued jobs that are looked at for one batch, per subscriber whose demand fits into it.
const VISITS_PER_DEMAND: usize = 8;
/// A stream asks for queued jobs when this part of its buffer is free, so that a slow reader does not cost an entry of
/// the log for every job it takes.
const FREE_PART: usize = 4;

/// The answer to a poll.
pub(crate) type Polled = Result<Activation, SubmitError>;

/// Where the jobs of a subscriber go.
pub(crate) enum Sink {
    /// One answer.
    Poll {
        reply: oneshot::Sender<Polled>,
        /// Whether it waits for the first job, or takes what there is.
        waits: bool,
    },
    /// A buffer; its free places are the demand.
    Stream(mpsc::Sender<ActivatedJob>),
}

/// Whether so many free places of a buffer are worth an entry of the log.
pub(crate) fn is_worth_asking(free: usize, capacity: usize) -> bool {
    free > 0 && free * FREE_PART >= capacity
}

struct Subscriber {
    request: JobRequest,
    sink: Sink,
    group: u64,
    in_batch: bool,
}

/// Subscribers that see the same queue.
struct Group {
    job_type: Name,
    /// In order, none twice.
    tenants: Vec<Name>,
    /// Whose queue it is: what one may not see, another may.
    caller: Option<Caller>,
    /// In the order of their next turn.
    subscribers: VecDeque<u64>,
    /// How many of them are polls that do not wait.
    impatient: usize,
    /// Whether the queue may hold jobs for them. Unknown is true.
    queued: Arc<AtomicBool>,
    /// Whether it stands in `State::urgent`.
    listed: bool,
}

impl Group {
    /// Whether its demand should be proposed without waiting for a command.
    fn is_urgent(&self) -> bool {
        self.impatient > 0 || self.queued.load(Ordering::Acquire)
    }
}

/// All demand of a partition.
pub(crate) struct DemandRegistry {
    state: Mutex<State>,
    /// The first number given in this life of the broker. Batches of an earlier life name smaller ones.
    first_id: u64,
    next_id: AtomicU64,
    /// The engine's clock, as of the last batch.
    now_ms: AtomicI64,
    /// Told when demand should be proposed without waiting for a command.
    changed: Notify,
    max_per_batch: usize,
}

#[derive(Default)]
struct State {
    closed: bool,
    subscribers: HashMap<u64, Subscriber>,
    next_group: u64,
    groups: HashMap<u64, Group>,
    by_type: HashMap<Name, Vec<u64>>,
    /// Groups that are or were urgent, in the order of their next turn.
    urgent: VecDeque<u64>,
    /// All groups, in the order of their next turn.
    turns: VecDeque<u64>,
    /// Jobs to give back.
    yielded: Vec<Key>,
    pushed: u64,
    push_failed: u64,
}

fn tenants(request: &JobRequest) -> Vec<Name> {
    let mut tenants = request.tenant_ids.clone();
    tenants.sort_unstable();
    tenants.dedup();
    tenants
}

impl DemandRegistry {
    pub fn new(max_per_batch: usize) -> Self {
        let first_id = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |age| age.as_nanos() as u64);
        Self {
            state: Mutex::default(),
            first_id,
            next_id: AtomicU64::new(first_id),
            now_ms: AtomicI64::new(i64::MIN),
            changed: Notify::new(),
            max_per_batch: max_per_batch.max(1),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscriber. Returns its number and the flag that tells whether jobs for it may be queued; `None` when
    /// the broker stops.
    pub fn subscribe(&self, request: JobRequest, sink: Sink) -> Option<(u64, Arc<AtomicBool>)> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        let state = &mut *state;
        if state.closed {
            return None;
        }
        let number = state.group(&request);
        let group = state.groups.get_mut(&number).expect("it was just found");
        group.subscribers.push_back(id);
        if matches!(sink, Sink::Poll { waits: false, .. }) {
            group.impatient += 1;
        }
        let queued = Arc::clone(&group.queued);
        if group.is_urgent() {
            list(&mut state.urgent, number, group);
            self.changed.notify_one();
        }
        state.subscribers.insert(id, Subscriber { request, sink, group: number, in_batch: false });
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

    /// Removes a subscriber.
    pub fn unsubscribe(&self, id: u64) {
        self.lock().remove(id);
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

    /// Keeps keys of a batch that failed, to be given back with another.
    pub fn give_back_again(&self, keys: impl IntoIterator<Item = Key>) {
        self.lock().yielded.extend(keys);
    }

    /// The engine's clock, as of the last batch. A job whose time was over by then is with somebody else.
    pub fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::Acquire)
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
        let mut state = self.lock();
        if state.yielded.len() <= YIELDED_PER_BATCH_MAX {
            return std::mem::take(&mut state.yielded);
        }
        let rest = state.yielded.split_off(YIELDED_PER_BATCH_MAX);
        std::mem::replace(&mut state.yielded, rest)
    }

    /// Whether a batch with nothing but demand would find a job, or somebody is to be told that there is none.
    pub fn is_wanted(&self) -> bool {
        let state = self.lock();
        !state.yielded.is_empty()
            || state.urgent.iter().filter_map(|number| state.groups.get(number)).any(|group| {
                let queued = group.queued.load(Ordering::Acquire);
                let mut subscribers = group.subscribers.iter().filter_map(|id| state.subscribers.get(id));
                group.is_urgent() && subscribers.any(|subscriber| subscriber.is_wanting(queued))
            })
    }

    /// Demand for the next batch: groups in turn, urgent ones first.
    pub fn attach(&self) -> Vec<Demand> {
        let mut state = self.lock();
        let state = &mut *state;
        let mut demand = Vec::new();
        for _ in 0..state.urgent.len() {
            if demand.len() >= self.max_per_batch {
                return demand;
            }
            let Some(number) = state.urgent.pop_front() else { break };
            let Some(group) = state.groups.get_mut(&number) else { continue };
            group.listed = group.is_urgent();
            if group.listed {
                state.urgent.push_back(number);
                take(group, &mut state.subscribers, &mut demand, self.max_per_batch);
            }
        }
        for _ in 0..state.turns.len().min(self.max_per_batch * VISITS_PER_DEMAND) {
            if demand.len() >= self.max_per_batch {
                break;
            }
            let Some(number) = state.turns.pop_front() else { break };
            let Some(group) = state.groups.get_mut(&number) else { continue };
            if group.subscribers.is_empty() {
                // Nobody is left: the group is forgotten, and with it what was known of its queue.
                state.forget(number);
                continue;
            }
            state.turns.push_back(number);
            if !group.listed {
                take(group, &mut state.subscribers, &mut demand, self.max_per_batch);
            }
        }
        demand
    }

    /// Tells polls that do not wait why they get nothing. Those whose demand is in a batch hear of it.
    pub fn refuse_impatient(&self, error: &SubmitError) {
        let mut state = self.lock();
        if state.groups.values().all(|group| group.impatient == 0) {
            return;
        }
        let refused = state.subscribers.iter().filter(|(_, subscriber)| {
            !subscriber.in_batch && matches!(subscriber.sink, Sink::Poll { waits: false, .. })
        });
        let refused: Vec<u64> = refused.map(|(id, _)| *id).collect();
        for id in refused {
            state.answer(id, Err(error.clone()));
        }
    }

    /// Demand of a batch that never was applied. Polls that do not wait are told why.
    pub fn return_demand(&self, demand: &[Demand], error: &SubmitError) {
        let mut state = self.lock();
        for wanted in demand {
            let Some(subscriber) = state.subscribers.get_mut(&wanted.subscriber_id) else { continue };
            subscriber.in_batch = false;
            if matches!(subscriber.sink, Sink::Poll { waits: false, .. }) {
                state.answer(wanted.subscriber_id, Err(error.clone()));
            }
        }
    }

    /// Hands out what a batch has activated, and takes back what it found no job for. `now_ms` is the engine's clock,
    /// `positions` how far the log is with this batch.
    ///
    /// Nobody need be told of demand that is left: the proposer looks again whenever a batch of its own is done.
    pub fn deliver(
        &self,
        queued_types: &[Name],
        deliveries: Vec<Delivery>,
        unmet: &[u64],
        now_ms: i64,
        positions: &Positions,
    ) {
        self.now_ms.store(now_ms, Ordering::Release);
        if queued_types.is_empty() && deliveries.is_empty() && unmet.is_empty() {
            return;
        }
        let mut state = self.lock();
        let state = &mut *state;
        for name in queued_types {
            for number in state.by_type.get(name).into_iter().flatten() {
                if let Some(group) = state.groups.get_mut(number) {
                    group.queued.store(true, Ordering::Release);
                    list(&mut state.urgent, *number, group);
                }
            }
        }
        for delivery in deliveries {
            // In an earlier life of the broker it has reached its worker, or the worker's time will run out.
            if delivery.subscriber_id >= self.first_id {
                state.hand_out(delivery, now_ms, positions);
            }
        }
        for id in unmet {
            state.unmet(*id);
        }
        if !state.yielded.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Sends everybody away, and takes nobody on any more. What streams hold in their buffers they may still read.
    pub fn close(&self, error: &SubmitError) {
        let mut state = self.lock();
        state.closed = true;
        let polls: Vec<u64> = state.subscribers.keys().copied().collect();
        for id in polls {
            state.answer(id, Err(error.clone()));
        }
        *state = State { closed: true, yielded: std::mem::take(&mut state.yielded), ..State::default() };
        self.changed.notify_one();
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

/// Puts a group among the urgent ones.
fn list(urgent: &mut VecDeque<u64>, number: u64, group: &mut Group) {
    if !group.listed {
        group.listed = true;
        urgent.push_back(number);
    }
}

/// Adds the demand of a group, as far as it fits.
fn take(
    group: &mut Group,
    subscribers: &mut HashMap<u64, Subscriber>,
    demand: &mut Vec<Demand>,
    max_per_batch: usize,
) {
    for _ in 0..group.subscribers.len() {
        if demand.len() >= max_per_batch {
            return;
        }
        let Some(id) = group.subscribers.pop_front() else { return };
        group.subscribers.push_back(id);
        let Some(subscriber) = subscribers.get_mut(&id) else { continue };
        let room = subscriber.room();
        if room > 0 {
            subscriber.in_batch = true;
            demand.push(subscriber.demand(id, room));
        }
    }
}

impl State {
    fn find_group(&self, request: &JobRequest, tenants: &[Name]) -> Option<u64> {
        let same = |number: &&u64| {
            let group = self.groups.get(number);
            group.is_some_and(|group| *group.tenants == *tenants && group.caller == request.caller)
        };
        self.by_type.get(&request.job_type)?.iter().find(same).copied()
    }

    /// The group of a request, new if need be.
    fn group(&mut self, request: &JobRequest) -> u64 {
        let tenants = tenants(request);
        if let Some(number) = self.find_group(request, &tenants) {
            return number;
        }
        let number = self.next_group;
        self.next_group += 1;
        let group = Group {
            job_type: request.job_type.clone(),
            tenants,
            caller: request.caller.clone(),
            subscribers: VecDeque::new(),
            impatient: 0,
            queued: Arc::new(AtomicBool::new(true)),
            listed: false,
        };
        self.groups.insert(number, group);
        self.by_type.entry(request.job_type.clone()).or_default().push(number);
        self.turns.push_back(number);
        number
    }

    fn forget(&mut self, number: u64) {
        let Some(group) = self.groups.remove(&number) else { return };
        if let Some(numbers) = self.by_type.get_mut(&group.job_type) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.by_type.remove(&group.job_type);
            }
        }
    }

    fn remove(&mut self, id: u64) -> Option<Subscriber> {
        let subscriber = self.subscribers.remove(&id)?;
        if let Some(group) = self.groups.get_mut(&subscriber.group) {
            group.subscribers.retain(|other| *other != id);
            if matches!(subscriber.sink, Sink::Poll { waits: false, .. }) {
                group.impatient -= 1;
            }
        }
        Some(subscriber)
    }

    fn give_back(&mut self, job: &ActivatedJob, now_ms: i64) {
        if job.deadline_ms > now_ms {
            self.yielded.push(job.key);
        }
    }

    /// Answers a poll and lets it go; a stream just goes.
    fn answer(&mut self, id: u64, answer: Polled) -> Option<Vec<ActivatedJob>> {
        let subscriber = self.remove(id)?;
        match subscriber.sink {
            Sink::Poll { reply, .. } => reply.send(answer).err()?.ok().map(|activation| activation.jobs),
            Sink::Stream(_) => None,
        }
    }

    fn hand_out(&mut self, delivery: Delivery, now_ms: i64, positions: &Positions) {
        let id = delivery.subscriber_id;
        let count = delivery.jobs.len() as u64;
        let Some(subscriber) = self.subscribers.get_mut(&id) else {
            self.refused(&delivery.jobs, now_ms);
            return;
        };
        subscriber.in_batch = false;
        if let Sink::Stream(buffer) = &subscriber.sink {
            let mut refused = Vec::new();
            for job in delivery.jobs {
                match buffer.try_send(job) {
                    Ok(()) => self.pushed += 1,
                    Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) => {
                        refused.push(job);
                    }
                }
            }
            // Who was served stands behind the others.
            if let Some(group) = self.groups.get_mut(&subscriber.group) {
                group.subscribers.retain(|other| *other != id);
                group.subscribers.push_back(id);
            }
            self.refused(&refused, now_ms);
            return;
        }
        let activation = Activation { jobs: delivery.jobs, positions: positions.clone() };
        match self.answer(id, Ok(activation)) {
            None => self.pushed += count,
            Some(jobs) => self.refused(&jobs, now_ms),
        }
    }

    fn refused(&mut self, jobs: &[ActivatedJob], now_ms: i64) {
        self.push_failed += jobs.len() as u64;
        for job in jobs {
            self.give_back(job, now_ms);
        }
    }

    fn unmet(&mut self, id: u64) {
        let Some(subscriber) = self.subscribers.get_mut(&id) else { return };
        subscriber.in_batch = false;
        if let Some(group) = self.groups.get(&subscriber.group) {
            group.queued.store(false, Ordering::Release);
        }
        if matches!(subscriber.sink, Sink::Poll { waits: false, .. }) {
            self.answer(id, Ok(Activation::default()));
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

    /// Whether it is worth a batch of its own, given whether jobs may be queued.
    fn is_wanting(&self, queued: bool) -> bool {
        match &self.sink {
            Sink::Poll { waits, .. } => self.room() > 0 && (queued || !waits),
            Sink::Stream(buffer) => {
                queued && !self.in_batch && is_worth_asking(buffer.capacity(), buffer.max_capacity())
            }
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
            caller: self.request.caller.clone().map(Box::new),
        }
    }
}
