//! Jobs that were handed to a call, of which the client has not got all bytes. The remaining ones, when the call
//! ends goes back.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

use broker_api::Broker;
use protocol::{ActivatedJob, Command};

use crate::wall_clock::now_ms;

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

/// Such jobs of one call. The call's stream of jobs adds them; the connection clears them once their bytes are on
/// their way.
///
/// They outlive the stream of jobs, which ends before its last bytes are sent: what is left goes back when the call
/// lets go of this.
#[derive(Default)]
pub(super) struct Handed(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    broker: Option<Arc<dyn Broker>>,
    lent: Vec<Lent>,
}

impl Handed {
    pub(super) fn add(&self, broker: &Arc<dyn Broker>, jobs: impl IntoIterator<Item = Lent>) {
        let mut handed = self.jobs();
        handed.broker.get_or_insert_with(|| Arc::clone(broker));
        handed.lent.extend(jobs);
    }

    /// All that was added is on its way to the client.
    pub(super) fn are_sent(&self) {
        self.jobs().lent.clear();
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.0.lock()
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        let Jobs { broker, lent } = std::mem::take(self.0.get_mut());
        if let Some(broker) = broker {
            give_back(&broker, &lent);
        }
    }
}

/// Gives jobs back that a worker did not take before it went away, unless their time is over: others may have them
/// by then.
pub(super) fn give_back(broker: &Arc<dyn Broker>, jobs: &[Lent]) {
    let now_ms = now_ms();
    let held = jobs.iter().filter(|job| job.deadline_ms > now_ms).map(|job| (job.key, job.deadline_ms));
    let (job_keys, deadlines_ms): (Vec<_>, Vec<_>) = held.unzip();
    if job_keys.is_empty() {
        return;
    }
    // Should this fail too, the jobs come back by their timeout.
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        let broker = Arc::clone(broker);
        let command = Command::YieldJobs { job_keys, deadlines_ms: Some(deadlines_ms) };
        runtime.spawn(async move { broker.submit(command).await.map(drop) });
    }
}
