//! The clients' own account: what they asked for, what was answered, and what must never be.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

/// A job as a worker was given it.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// The engine's time from which others may have it.
    deadline_ms: i64,
}

/// The purges that were done when a request began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Era(u64);

/// The knowledge of clients.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Instances by the keys of their creations, since the last purge.
    created: BTreeMap<(u64, u64), u64>,
    /// Instances whose job was completed, as far as was answered.
    completed: BTreeSet<u64>,
    /// Jobs that were handed out.
    held: BTreeMap<u64, Held>,
    /// Jobs of which a completion was answered, and when.
    done: BTreeMap<u64, Instant>,
    /// The job of each instance that has one.
    jobs: BTreeMap<u64, u64>,
    /// Creators of instances that have not ended.
    creators: usize,
    /// Instances that wait for a message each.
    waiting: BTreeSet<u64>,
    /// How often workers asked for the completion of each job.
    asked: BTreeMap<u64, u64>,
    /// Instances of before a purge, and its number.
    purged: BTreeMap<u64, u64>,
    /// Instances that were created while a purge was under way: it may have removed them, or not.
    uncertain: BTreeSet<u64>,
    /// Purges that were begun, and those that were done.
    purges_begun: u64,
    purges_done: u64,
    /// Broken promises.
    pub violations: Vec<String>,
    /// Answers.
    pub answers: u64,
    /// The longest time from a request to its answer, milliseconds.
    pub slowest_ms: u64,
}

impl Ledger {
    /// Notes a broken promise.
    pub fn violated(&mut self, what: String) {
        self.violations.push(what);
    }

    /// The purges that are done.
    pub fn era(&self) -> Era {
        Era(self.purges_done)
    }

    /// Whether no purge was under way since a request began.
    pub fn is_certain(&self, era: Era) -> bool {
        era.0 == self.purges_begun
    }

    /// A purge is asked for. Only one is under way at a time.
    pub fn purge_begins(&mut self) {
        self.purges_begun += 1;
    }

    /// Purges that were begun.
    pub fn purges(&self) -> u64 {
        self.purges_begun
    }

    /// A purge was answered, and the model is there again.
    pub fn purge_ends(&mut self) {
        self.purges_done = self.purges_begun;
        let purged = std::mem::take(&mut self.created);
        // Creations of before whose answer never came are not known to anybody any more.
        self.uncertain.extend(&self.completed);
        self.purged.extend(purged.into_values().map(|instance| (instance, self.purges_done)));
    }

    /// Something of before a purge is answered to a request that began after it.
    fn check_era(&mut self, era: Era, instance: u64) {
        if self.purged.get(&instance).is_some_and(|purge| *purge <= era.0) {
            self.violated(format!("instance {instance} was purged, and is answered"));
        }
    }

    /// A client creates instances until it ends.
    pub fn creator_begins(&mut self) {
        self.creators += 1;
    }

    /// A client creates no more instances.
    pub fn creator_ends(&mut self) {
        self.creators -= 1;
    }

    /// Whether clients still create instances.
    pub fn has_creators(&self) -> bool {
        self.creators > 0
    }

    /// A creation was answered.
    pub fn created(&mut self, era: Era, request: (u64, u64), instance: u64) {
        self.answers += 1;
        self.check_era(era, instance);
        if !self.is_certain(era) {
            self.uncertain.insert(instance);
            return;
        }
        if let Some(before) = self.created.insert(request, instance)
            && before != instance
        {
            self.violated(format!(
                "request {request:?} was answered with {before}, and again with {instance}"
            ));
        }
        let same: Vec<_> =
            self.created.iter().filter(|(_, of)| **of == instance).map(|(of, _)| *of).collect();
        if same.len() > 1 || self.purged.contains_key(&instance) {
            self.violated(format!("instance {instance} is the answer to {same:?}, or to one before a purge"));
        }
    }

    /// A worker was given a job that it asked for at some time.
    pub fn activated(&mut self, job: u64, deadline_ms: i64, timeout_ms: i64, asked: Instant) {
        if self.done.get(&job).is_some_and(|done| *done < asked) {
            self.violated(format!("job {job} is handed out after it was completed"));
        }
        let since_ms = deadline_ms - timeout_ms;
        if let Some(held) = self.held.insert(job, Held { deadline_ms })
            && since_ms < held.deadline_ms
        {
            let before = held.deadline_ms;
            self.violated(format!(
                "job {job} is handed out at {since_ms}, but another has it until {before}"
            ));
        }
    }

    /// An instance waits for its message, or has had it.
    pub fn waits_for_message(&mut self, instance: u64) {
        self.waiting.insert(instance);
    }

    /// Instances that wait for a message, or have had it.
    pub fn with_message(&self) -> usize {
        self.waiting.len()
    }

    /// A worker was given the only job that an instance ever has.
    pub fn has_job(&mut self, job: u64, instance: u64) {
        if let Some(before) = self.jobs.insert(instance, job).filter(|before| *before != job) {
            self.violated(format!("instance {instance} has the jobs {before} and {job}"));
        }
    }

    /// A worker was given a job of an instance, or has completed it.
    pub fn is_at_work(&mut self, era: Era, instance: u64) {
        self.check_era(era, instance);
        if !self.is_certain(era) {
            self.uncertain.insert(instance);
        }
    }

    /// A worker is about to ask for a completion.
    pub fn asks_for_completion(&mut self, job: u64) {
        *self.asked.entry(job).or_default() += 1;
    }

    /// A completion was answered.
    pub fn completed(&mut self, job: u64, instance: u64) {
        self.answers += 1;
        self.done.entry(job).or_insert_with(Instant::now);
        self.completed.insert(instance);
    }

    /// A completion found no job: an earlier one must have done it, of this worker or of another.
    pub fn was_completed(&mut self, job: u64, instance: u64) {
        if self.asked.get(&job).is_none_or(|asked| *asked < 2) {
            self.violated(format!("job {job} is gone, but nobody else has asked for its completion"));
        }
        self.completed(job, instance);
    }

    /// A job that was given while a purge was under way is gone: with the purge, or by a completion without an answer.
    pub fn is_gone(&mut self, instance: u64) {
        self.uncertain.insert(instance);
        self.completed.insert(instance);
    }

    /// Instances that were created, and have not ended.
    pub fn open(&self) -> Vec<u64> {
        self.created.values().filter(|instance| !self.completed.contains(instance)).copied().collect()
    }

    /// Instances that ended, and that no creation was answered with.
    pub fn unknown(&self) -> Vec<u64> {
        let known: BTreeSet<u64> = self.all_instances().collect();
        self.completed.difference(&known).copied().collect()
    }

    /// Instances that were created since the last purge.
    pub fn current(&self) -> impl Iterator<Item = u64> {
        self.created.values().copied()
    }

    /// All instances that creations were answered with.
    pub fn all_instances(&self) -> impl Iterator<Item = u64> {
        self.created.values().chain(self.purged.keys()).chain(&self.uncertain).copied()
    }

    /// How many instances were created.
    pub fn instances(&self) -> usize {
        self.all_instances().collect::<BTreeSet<_>>().len()
    }
}
