//! A model of the queue that stands in for the engine, with workers and polls.

use std::collections::{BTreeMap, BTreeSet};

use super::super::group::POLL_PATIENCE;
use super::super::*;

pub const CREDIT_MAX: u32 = 40;
pub const BUFFER: usize = 48;
/// Any room of a stream is asked for after so long, and a bit.
pub const IDLE_MS: u64 = 150;
/// How often a time is awaited in which no job goes back.
const CALMS_MAX: usize = 20;
/// Batches that may follow from one step.
pub const BATCHES_MAX: usize = 200;

#[derive(Debug, Clone)]
pub enum Step {
    Create(u8),
    Stream {
        timeout_ms: i64,
    },
    Poll {
        max_jobs: u32,
        waits: bool,
    },
    Close(usize),
    /// The worker of a stream takes jobs from its buffer.
    Read(usize),
    /// The job beyond its time that is taken from the buffer is not handed on.
    Drop(usize),
    /// A completion or a thrown error.
    Answer(usize),
    Fail(usize),
    Cancel(usize),
    /// An answer for a job that is in the queue, or has ended.
    Refuse(usize),
    /// The batch with the demand fails, and another takes its place.
    Lose,
    Pass(u64),
}

pub struct Worker {
    buffer: mpsc::Receiver<ActivatedJob>,
    timeout_ms: i64,
    /// Jobs whose time was over, with when they are given up.
    overdue: BTreeMap<Key, i64>,
}

pub struct Waiting {
    answer: oneshot::Receiver<Polled>,
    waits: bool,
}

pub struct Model {
    pub registry: DemandRegistry,
    /// As of the registry's clock.
    now_ms: i64,
    next_key: Key,
    queue: BTreeSet<Key>,
    /// With whom each job is, and until when.
    pub with: BTreeMap<Key, (u64, i64)>,
    pub workers: BTreeMap<u64, Worker>,
    pub polls: BTreeMap<u64, Waiting>,
    /// When a stream last had credit or ended a job beyond a credit that was lowered, or no job was queued.
    credit_ms: i64,
}

pub fn request(timeout_ms: i64, max_jobs: u32) -> JobRequest {
    JobRequest {
        job_type: Name::from("t"),
        worker: Name::default(),
        timeout_ms,
        max_jobs,
        fetch_variables: vec![],
        tenant_ids: vec![Name::default_tenant()],
        caller: None,
        with_lease: false,
    }
}

fn job(key: Key, deadline_ms: i64) -> ActivatedJob {
    ActivatedJob { deadline_ms, ..protocol::testing::job(key) }
}

impl Model {
    pub fn new() -> Self {
        let options = JobOptions {
            first_stream_credit: 8,
            max_stream_credit: CREDIT_MAX,
            max_demand_per_batch: 3,
            ..JobOptions::default()
        };
        Self {
            registry: DemandRegistry::new(options, Numbers::default()),
            now_ms: 0,
            next_key: 1,
            queue: BTreeSet::new(),
            with: BTreeMap::new(),
            workers: BTreeMap::new(),
            polls: BTreeMap::new(),
            credit_ms: 0,
        }
    }

    pub fn step(&mut self, step: &Step) {
        let at = |count: usize, number: usize| (count > 0).then(|| number % count.max(1));
        let nth = |model: &Self, number| Some(*model.with.keys().nth(at(model.with.len(), number)?)?);
        let stream =
            |model: &Self, number| Some(*model.workers.keys().nth(at(model.workers.len(), number)?)?);
        match *step {
            Step::Create(count) => {
                for _ in 0..count {
                    self.queue.insert(self.next_key);
                    self.next_key += 1;
                }
                self.batch(&[], count > 0, false);
            }
            Step::Stream { timeout_ms } => {
                let (sender, buffer) = mpsc::channel(BUFFER);
                let (id, _) = self.registry.stream(request(timeout_ms, 0), sender).unwrap();
                self.workers.insert(id, Worker { buffer, timeout_ms, overdue: BTreeMap::new() });
            }
            Step::Poll { max_jobs, waits } => {
                let (reply, answer) = oneshot::channel();
                let id = self.registry.poll(request(2000, max_jobs), reply, waits).unwrap();
                self.polls.insert(id, Waiting { answer, waits });
            }
            Step::Close(number) => {
                let Some(id) = stream(self, number) else { return };
                self.registry.unsubscribe(id);
                let mut worker = self.workers.remove(&id).unwrap();
                let unread: Vec<_> = std::iter::from_fn(|| worker.buffer.try_recv().ok()).collect();
                self.registry.give_back(&unread);
            }
            Step::Read(number) => {
                let Some(id) = stream(self, number) else { return };
                while self.workers.get_mut(&id).unwrap().buffer.try_recv().is_ok() {}
                self.registry.wake();
            }
            Step::Drop(number) => {
                let Some(id) = stream(self, number) else { return };
                let worker = self.workers.get_mut(&id).unwrap();
                while let Ok(job) = worker.buffer.try_recv() {
                    if job.deadline_ms <= self.now_ms {
                        self.registry.dropped(id, &job);
                        worker.overdue.remove(&job.key);
                    }
                }
            }
            Step::Answer(number) => self.end(nth(self, number), JobEnd::Answered),
            Step::Fail(number) => self.end(nth(self, number), JobEnd::Failed),
            Step::Cancel(number) => self.end(nth(self, number), JobEnd::Canceled),
            Step::Refuse(number) => {
                // Its keys reach beyond the jobs that there are.
                let key = Key::try_from(number % (self.next_key as usize + 3)).unwrap();
                if self.with.contains_key(&key) {
                    return;
                }
                let holder = self.workers.iter().find(|(_, worker)| worker.overdue.contains_key(&key));
                if let Some(id) = holder.map(|(id, _)| *id) {
                    self.workers.get_mut(&id).unwrap().overdue.remove(&key);
                }
                self.registry.answer_refused(key, !self.queue.contains(&key));
            }
            Step::Lose => self.lose(),
            Step::Pass(ms) => _ = self.pass(ms),
        }
        self.settle();
    }

    /// A job ends, or goes back to the queue.
    fn end(&mut self, key: Option<Key>, end: JobEnd) {
        let Some(key) = key else { return };
        let (id, _) = self.with.remove(&key).unwrap();
        if !self.workers.contains_key(&id) && end != JobEnd::Canceled {
            // An answer of another stream shows that the former one holds the job no longer.
            let holder = self.workers.values_mut().find(|worker| worker.overdue.contains_key(&key));
            _ = holder.map(|worker| worker.overdue.remove(&key));
        }
        let held = self.with.values().filter(|(other, _)| *other == id).count();
        if end == JobEnd::Answered && self.limit(id).is_some_and(|limit| held >= limit as usize) {
            self.credit_ms = self.now_ms;
        }
        if end == JobEnd::Failed {
            self.queue.insert(key);
        }
        self.batch(&[(key, end)], end == JobEnd::Failed, false);
    }

    /// Returns whether jobs went back meanwhile, or were given up.
    fn pass(&mut self, ms: u64) -> bool {
        self.now_ms += ms as i64;
        self.registry.began -= Duration::from_millis(ms);
        // A stream that had credit has had it until now, and a queue without a job had none.
        self.note_credit();
        if self.queue.is_empty() {
            self.credit_ms = self.now_ms;
        }
        let late = self.with.iter().filter(|(_, (_, deadline))| *deadline <= self.now_ms);
        let late: Vec<(Key, u64)> = late.map(|(key, (id, _))| (*key, *id)).collect();
        let mut ended = Vec::new();
        for (key, id) in late {
            self.with.remove(&key);
            self.queue.insert(key);
            ended.push((key, JobEnd::TimedOut));
            if let Some(worker) = self.workers.get_mut(&id) {
                worker.overdue.insert(key, self.now_ms + worker.timeout_ms);
            }
        }
        self.batch(&ended, !ended.is_empty(), false);
        self.registry.expire(self.now_ms);
        let mut has_room = !ended.is_empty();
        for worker in self.workers.values_mut() {
            let before = worker.overdue.len();
            worker.overdue.retain(|_, until| *until > self.now_ms);
            has_room |= worker.overdue.len() < before;
        }
        has_room
    }

    /// A batch whose demand comes back since it was never applied.
    fn lose(&mut self) {
        let demand = self.registry.attach();
        self.registry.return_demand(&demand, &SubmitError::Unavailable("it is lost".to_owned()));
    }

    /// A batch of the log, with demand or without.
    fn batch(&mut self, ended: &[(Key, JobEnd)], is_queued: bool, with_demand: bool) {
        let demand = if with_demand { self.registry.attach() } else { Vec::new() };
        let (mut deliveries, mut unmet) = (Vec::new(), Vec::new());
        for wanted in demand {
            let except = wanted.except.unwrap_or_default();
            let free = self.queue.iter().filter(|key| !except.contains(key));
            let keys: Vec<Key> = free.take(wanted.max_jobs as usize).copied().collect();
            let id = wanted.subscriber_id;
            if keys.is_empty() {
                unmet.push(id);
                continue;
            }
            let deadline_ms = self.now_ms + wanted.timeout_ms;
            for key in &keys {
                self.queue.remove(key);
                self.with.insert(*key, (id, deadline_ms));
            }
            if let Some(worker) = self.workers.get(&id) {
                let held = self.with.values().filter(|(other, _)| *other == id).count();
                let held = held + worker.overdue.len();
                assert!(held <= self.limit(id).unwrap() as usize, "{held} at a stream");
                assert!(keys.iter().all(|key| !worker.overdue.contains_key(key)), "it has one already");
            }
            deliveries.push(Delivery {
                subscriber_id: id,
                jobs: keys.iter().map(|key| job(*key, deadline_ms)).collect(),
            });
        }
        let types = if is_queued { vec![Name::from("t")] } else { Vec::new() };
        let delivered = Delivered { queued_types: &types, ended_jobs: ended, deliveries, unmet: &unmet };
        self.registry.deliver(delivered, self.now_ms, &Positions::default());
    }

    /// Batches as long as there is a reason for one.
    fn settle(&mut self) {
        for _ in 0..BATCHES_MAX {
            self.note_credit();
            let yielded = self.registry.take_yielded();
            if !yielded.is_empty() {
                let mut ended = Vec::new();
                for (key, _) in yielded {
                    if self.with.remove(&key).is_some() {
                        self.queue.insert(key);
                        ended.push((key, JobEnd::Yielded));
                    }
                }
                self.batch(&ended, true, false);
            } else if self.registry.is_wanted() {
                self.batch(&[], false, true);
            } else {
                self.polls.retain(|_, poll| poll.answer.try_recv().is_err());
                return self.check();
            }
        }
        panic!("batches without an end");
    }

    fn limit(&self, id: u64) -> Option<u32> {
        let state = self.registry.lock();
        Some(state.subscribers.get(&id)?.stream()?.credit.limit())
    }

    fn note_credit(&mut self) {
        let state = self.registry.lock();
        if self.workers.keys().any(|id| state.subscribers[id].room() > 0) {
            self.credit_ms = self.now_ms;
        }
    }

    fn check(&mut self) {
        let mut state = self.registry.lock();
        assert_eq!(state.asked, 0, "no batch is under way");
        for (id, worker) in &self.workers {
            let stream = state.subscribers[id].stream().unwrap();
            let limit = stream.credit.limit();
            assert!((1..=CREDIT_MAX).contains(&limit), "{limit}");
            let held = self.with.values().filter(|(other, _)| other == id).count();
            assert_eq!(stream.outstanding as usize, held);
            assert_eq!(stream.overdue, worker.overdue);
        }
        let all: usize = self.with.values().filter(|(id, _)| self.workers.contains_key(id)).count();
        assert_eq!(state.held_count(), all);
        let waits = self.polls.values().any(|poll| poll.waits);
        assert!(self.polls.values().all(|poll| poll.waits), "one that does not wait has no answer");
        if waits && !self.queue.is_empty() {
            let without_ms = self.now_ms - self.credit_ms;
            assert!(
                without_ms < POLL_PATIENCE.as_millis() as i64,
                "a poll waits, {without_ms} ms without credit"
            );
            let (now, look_at) = (self.registry.began.elapsed(), state.look_at);
            assert!(look_at.is_some_and(|at| at <= now + POLL_PATIENCE), "nobody looks again");
        }
        state.look_at = None;
    }

    /// No stream has room for a job that it may have, nor does it wait behind another.
    pub fn assert_all_served(&mut self) {
        for _ in 0..CALMS_MAX {
            let has_room = self.pass(IDLE_MS);
            self.settle();
            if !has_room {
                return self.assert_served();
            }
            // Room that came at the end of that time is asked for later.
        }
        // Jobs of streams with short times may go back all the time.
    }

    fn assert_served(&self) {
        let state = self.registry.lock();
        for (id, worker) in &self.workers {
            let room = state.subscribers[id].room();
            let free = self.queue.iter().find(|key| !worker.overdue.contains_key(key));
            assert!(room == 0 || free.is_none(), "room for {room}, and {free:?} waits");
        }
    }

    /// All that is left ends.
    pub fn end_all(&mut self) {
        for key in self.with.keys().copied().collect::<Vec<_>>() {
            self.end(Some(key), JobEnd::Answered);
        }
        self.queue.clear();
        self.pass(3000);
        self.pass(3000);
        let state = self.registry.lock();
        assert_eq!(state.held_count(), 0);
        for id in self.workers.keys() {
            assert_eq!(state.subscribers[id].stream().unwrap().held(), 0, "a place is lost");
        }
    }
}
