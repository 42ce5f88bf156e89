//! Jobs that were handed to a call, of which the client has not got all bytes. What is left of them when the call ends goes back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::ActivatedJob;

/// A job and the end of its time, which gives it to others anyway.
#[derive(Clone, Copy)]
pub(super) struct Lent {
    pub(super) key: u64,
    pub(super) deadline_ms: i64,
}

impl From<&ActivatedJob> for Lent {
    fn from(job: &ActivatedJob) -> Self {
        Self { key: job.key, deadline_ms: job.deadline_ms }
    }
}

/// Such jobs. The call's stream of jobs adds them; the connection clears them once their bytes are on their way.
#[derive(Default)]
pub(super) struct Handed(Mutex<Vec<Lent>>);

impl Handed {
    pub(super) fn add(&self, jobs: impl IntoIterator<Item = Lent>) {
        self.jobs().extend(jobs);
    }

    /// All that was added is on its way to the client.
    pub(super) fn are_sent(&self) {
        self.jobs().clear();
    }

    /// What is left.
    pub(super) fn take(&self) -> Vec<Lent> {
        std::mem::take(&mut self.jobs())
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Lent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
