//! One subscriber: a poll, or a stream with its credit.

use broker_api::{Activation, SubmitError};
use std::collections::BTreeMap;
use std::time::Duration;

use broker_api::JobRequest;
use protocol::{ActivatedJob, Demand, Key};
use tokio::sync::{mpsc, oneshot};

use super::budget::CreditPart;

/// The answer to a poll.
pub(crate) type Polled = Result<Activation, SubmitError>;

/// A stream asks for queued jobs when this part of what it may have is free, so that a slow one does not cost an entry
/// of the log for every job it takes.
const FREE_PART: usize = 4;
/// Time after which any room is worth an entry.
const IDLE_MAX: Duration = Duration::from_millis(100);
/// Jobs beyond their time-out with which a stream gets no more. Demand names each of them.
pub(super) const OVERDUE_MAX: usize = 256;

/// Where the jobs of a subscriber go.
pub(super) enum Sink {
    Poll {
        reply: oneshot::Sender<Polled>,
        /// Whether it waits for the first job, or takes what there is.
        waits: bool,
    },
    Stream(Box<Stream>),
}

/// Jobs for a worker until it ends. Its credit bounds the jobs that it holds.
pub(super) struct Stream {
    pub buffer: mpsc::Sender<ActivatedJob>,
    pub credit: CreditPart,
    /// Jobs delivered that have not ended.
    pub outstanding: u32,
    /// Jobs whose time was over and that the worker has not answered, with when they are given up, on the engine's
    /// clock.
    pub overdue: BTreeMap<Key, i64>,
    /// The batch that last ended a job of it, and what it held before.
    pub batch: u64,
    pub held_before: u32,
    /// Since when there is room that was not worth an entry.
    pub idle_since: Option<Duration>,
}

impl Stream {
    pub fn new(buffer: mpsc::Sender<ActivatedJob>, credit: CreditPart) -> Self {
        Self {
            buffer,
            credit,
            outstanding: 0,
            overdue: BTreeMap::new(),
            batch: 0,
            held_before: 0,
            idle_since: None,
        }
    }

    /// Jobs with the worker, as far as is known.
    pub fn held(&self) -> u32 {
        self.outstanding + self.overdue.len() as u32
    }

    /// Jobs that it would take beside those it holds, whether it has asked for them or not.
    pub fn free_places(&self) -> u32 {
        if self.overdue.len() > OVERDUE_MAX {
            return 0;
        }
        let held = self.held() + self.credit.held_by_others();
        self.credit.limit().saturating_sub(held).min(self.buffer.capacity() as u32)
    }

    /// Jobs that it may have beside those it holds.
    pub fn room(&self) -> u32 {
        if self.overdue.len() > OVERDUE_MAX {
            return 0;
        }
        self.credit.room().min(self.buffer.capacity() as u32)
    }

    /// When its room is worth an entry of the log, at the earliest.
    fn asks_at(&mut self, now: Duration) -> Option<Duration> {
        let most = self.buffer.max_capacity().min(self.credit.most() as usize);
        match self.room() {
            0 => None,
            room if is_worth_asking(room as usize, most) => Some(now),
            _ => Some(*self.idle_since.get_or_insert(now) + IDLE_MAX),
        }
    }
}

/// Whether so many free places of so many are worth an entry of the log.
pub(crate) fn is_worth_asking(free: usize, most: usize) -> bool {
    free > 0 && free * FREE_PART >= most
}

pub(super) struct Subscriber {
    pub request: JobRequest,
    pub sink: Sink,
    pub group: u64,
    pub in_batch: bool,
    /// Jobs that a stream has asked for with that batch.
    asked: u32,
    /// Whether the demand in the batch passes over jobs.
    pub excepts: bool,
    /// The generation of the queue in which there were at the most jobs that its demand passes over.
    pub passed_over: Option<u64>,
}

impl Subscriber {
    pub fn new(request: JobRequest, sink: Sink, group: u64) -> Self {
        Self { request, sink, group, in_batch: false, asked: 0, excepts: false, passed_over: None }
    }

    pub fn stream(&self) -> Option<&Stream> {
        match &self.sink {
            Sink::Stream(stream) => Some(stream),
            Sink::Poll { .. } => None,
        }
    }

    pub fn stream_mut(&mut self) -> Option<&mut Stream> {
        match &mut self.sink {
            Sink::Stream(stream) => Some(stream),
            Sink::Poll { .. } => None,
        }
    }

    /// Whether it is a poll that takes what there is.
    pub fn is_impatient(&self) -> bool {
        matches!(self.sink, Sink::Poll { waits: false, .. })
    }

    /// Jobs it can take now.
    pub fn room(&self) -> u32 {
        if self.in_batch {
            return 0;
        }
        match &self.sink {
            Sink::Poll { .. } => self.request.max_jobs,
            Sink::Stream(stream) => stream.room(),
        }
    }

    /// Whether a stream takes what is queued, so that no poll need.
    pub fn has_credit(&self, generation: u64) -> bool {
        self.passed_over != Some(generation) && (self.in_batch || self.room() > 0)
    }

    /// When it is worth a batch of its own, at the earliest, given whether jobs may be queued.
    pub fn wants_at(&mut self, queued: bool, generation: u64, now: Duration) -> Option<Duration> {
        if self.in_batch {
            return None;
        }
        let queued = queued && self.passed_over != Some(generation);
        match &mut self.sink {
            Sink::Poll { waits, .. } => (self.request.max_jobs > 0 && (queued || !*waits)).then_some(now),
            Sink::Stream(stream) if queued => stream.asks_at(now),
            Sink::Stream(_) => None,
        }
    }

    /// Notes in the credit of a stream what it holds and has asked for.
    pub fn note(&self) {
        if let Some(stream) = self.stream() {
            stream.credit.set(stream.held(), self.asked);
        }
    }

    /// Takes back the demand of a batch. Returns how many jobs a stream had asked for. To be noted once it is known
    /// what came of it: places in between are nobody's.
    pub fn back(&mut self) -> usize {
        self.in_batch = false;
        std::mem::take(&mut self.asked) as usize
    }

    /// Its demand, which goes into a batch. `except`: keys in order.
    pub fn ask(&mut self, id: u64, max_jobs: u32, except: Vec<Key>) -> Demand {
        debug_assert!(max_jobs > 0 && !self.in_batch, "demand is in one batch at a time");
        debug_assert!(except.len() <= OVERDUE_MAX, "the log holds no more of them");
        self.in_batch = true;
        self.excepts = !except.is_empty();
        if let Sink::Stream(stream) = &mut self.sink {
            stream.idle_since = None;
            self.asked = max_jobs;
            stream.credit.set(stream.held(), max_jobs);
        }
        Demand {
            subscriber_id: id,
            job_type: self.request.job_type.clone(),
            tenant_ids: self.request.tenant_ids.clone(),
            worker: self.request.worker.clone(),
            timeout_ms: self.request.timeout_ms,
            max_jobs,
            fetch_variables: self.request.fetch_variables.clone(),
            caller: self.request.caller.clone().map(Box::new),
            except: self.excepts.then_some(except),
            with_lease: self.request.with_lease,
        }
    }
}
