//! The clients' own account: what they asked for, what was answered, and what must never be.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

/// A job as a worker was given it.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// The engine's time from which others may have it.
    deadline_ms: i64,
}

/// The knowledge of clients.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Instances by the keys of their creations.
    created: BTreeMap<(u64, u64), u64>,
    /// Instances whose job was completed, as far as was answered.
    completed: BTreeSet<u64>,
    /// Jobs that were handed out.
    held: BTreeMap<u64, Held>,
    /// Jobs of which a completion was answered, and when.
    done: BTreeMap<u64, Instant>,
    /// How often workers asked for the completion of each job.
    asked: BTreeMap<u64, u64>,
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

    /// A creation was answered.
    pub fn created(&mut self, request: (u64, u64), instance: u64) {
        self.answers += 1;
        if let Some(before) = self.created.insert(request, instance)
            && before != instance
        {
            self.violated(format!(
                "request {request:?} was answered with {before}, and again with {instance}"
            ));
        }
        let same: Vec<_> =
            self.created.iter().filter(|(_, of)| **of == instance).map(|(of, _)| *of).collect();
        if same.len() > 1 {
            self.violated(format!("instance {instance} is the answer to {same:?}"));
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

    /// Instances that were created, and have not ended.
    pub fn open(&self) -> Vec<u64> {
        self.created.values().filter(|instance| !self.completed.contains(instance)).copied().collect()
    }

    /// Instances that ended, and that no creation was answered with.
    pub fn unknown(&self) -> Vec<u64> {
        let known: BTreeSet<u64> = self.created.values().copied().collect();
        self.completed.difference(&known).copied().collect()
    }

    /// How many instances were created.
    pub fn instances(&self) -> usize {
        self.created.len()
    }
}
