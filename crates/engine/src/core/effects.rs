//! Effects of a batch on the outside. The leader acts on them; all other replicas drop them.

use protocol::{ActivatedJob, Key, Name, PartitionId, Record, Rejection, Response};

/// Answer to one command.
pub type Outcome = Result<Response, Rejection>;

/// Effects of one batch.
#[derive(Debug, Default, PartialEq)]
pub struct Effects {
    /// One for each command; `None` if its answer comes later, in `late_responses` of another batch.
    pub responses: Vec<Option<Outcome>>,
    /// Answers to earlier requests, by their number.
    pub late_responses: Vec<(u64, Outcome)>,
    /// Jobs for subscribers.
    pub deliveries: Vec<Delivery>,
    /// Types of jobs that entered the queue and are still in it.
    pub queued_types: Vec<Name>,
    /// Jobs that their workers no longer hold, or no longer by right, in order.
    pub ended_jobs: Vec<(Key, JobEnd)>,
    /// Demand of the batch that no job was found for: the queue of these types is empty (for those tenants, and but for
    /// jobs that were excepted).
    pub unmet_subscribers: Vec<u64>,
    /// Records; empty unless wanted.
    pub records: Vec<Record>,
    /// Position of the last record that anybody has a use for, also when no records are wanted here.
    pub last_record: Option<u64>,
    /// When the next timer, deadline or backoff is due, Unix milliseconds of the engine's clock.
    pub next_due_ms: Option<i64>,
    /// Whether steps are left over for a [`protocol::Command::Continue`].
    pub has_pending_steps: bool,
    /// Records, and commands, that a [`protocol::Command::Continue`] or [`protocol::Command::Tick`] was good for.
    pub left_over_records: u64,
    /// Process instances that were banned, with the reason.
    pub banned: Vec<(Key, String)>,
    /// Process instances that ended, with whether they completed.
    pub ended_instances: Vec<(Key, bool)>,
    /// How long things took, for metrics.
    pub latencies: Latencies,
    /// Other partitions that there are new messages for.
    pub outbox: Vec<PartitionId>,
}

/// Reasons why a worker no longer holds a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// Its worker has completed it or thrown an error.
    Answered,
    /// Its worker has failed it.
    Failed,
    /// It timed out.
    TimedOut,
    /// It was given back without having reached its worker.
    Yielded,
    /// Its element instance has ended.
    Canceled,
}

/// How long things took, in milliseconds of the engine's clock.
#[derive(Debug, Default, PartialEq)]
pub struct Latencies {
    /// Of process instances, from creation to completion.
    pub instance_execution_ms: Vec<i64>,
    /// Of jobs, from creation to activation.
    pub job_activation_ms: Vec<i64>,
    /// Of jobs, from creation to completion.
    pub job_life_ms: Vec<i64>,
}

/// Jobs that were activated for a subscriber.
#[derive(Debug, PartialEq)]
pub struct Delivery {
    /// Number of the subscriber.
    pub subscriber_id: u64,
    /// Its jobs.
    pub jobs: Vec<ActivatedJob>,
}

/// How long each list was before a command, to undo what it added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark([usize; 12]);

impl Effects {
    pub(crate) fn mark(&self) -> Mark {
        Mark([
            self.late_responses.len(),
            self.deliveries.len(),
            self.queued_types.len(),
            self.unmet_subscribers.len(),
            self.records.len(),
            self.banned.len(),
            self.ended_instances.len(),
            self.latencies.instance_execution_ms.len(),
            self.latencies.job_activation_ms.len(),
            self.latencies.job_life_ms.len(),
            self.ended_jobs.len(),
            self.outbox.len(),
        ])
    }

    pub(crate) fn truncate(&mut self, Mark(lens): Mark) {
        self.late_responses.truncate(lens[0]);
        self.deliveries.truncate(lens[1]);
        self.queued_types.truncate(lens[2]);
        self.unmet_subscribers.truncate(lens[3]);
        self.records.truncate(lens[4]);
        self.banned.truncate(lens[5]);
        self.ended_instances.truncate(lens[6]);
        self.latencies.instance_execution_ms.truncate(lens[7]);
        self.latencies.job_activation_ms.truncate(lens[8]);
        self.latencies.job_life_ms.truncate(lens[9]);
        self.ended_jobs.truncate(lens[10]);
        self.outbox.truncate(lens[11]);
    }
}
