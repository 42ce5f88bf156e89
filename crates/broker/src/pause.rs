//! Operations on a partition as a whole: to pause processing, and to write its state to disk.
//!
//! While processing is paused, the log takes nothing but what the broker needs for itself. Everything else is
//! refused by the proposer, timers are late, workers get no jobs; queries are answered as ever. A start ends the
//! pause of a broker that is alone; for those of a cluster see `cluster_pause`.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use broker_api::SubmitError;
use protocol::Command;

use crate::node::Node;

/// How long writing state to disk may take until whoever asked is told so; it goes on.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is looked whether it is done.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// A command that changes nothing.
pub(crate) fn nothing() -> Command {
    Command::YieldJobs { job_keys: Vec::new(), deadlines_ms: None }
}

impl Node {
    /// Stops processing, in a cluster on all brokers that can be reached. Earlier entries of the log are applied when
    /// this returns.
    pub async fn pause_processing(&self) -> Result<(), SubmitError> {
        match &self.router {
            Some(router) => self.order_pause(&router.links, true).await?,
            None => self.set_paused(true),
        }
        self.settle().await
    }

    /// Goes on with it, in a cluster on all brokers.
    pub async fn resume_processing(&self) -> Result<(), SubmitError> {
        let Some(router) = &self.router else {
            self.set_paused(false);
            return Ok(());
        };
        self.order_pause(&router.links, false).await
    }

    /// Pauses processing on this broker, or goes on with it.
    pub(crate) fn set_paused(&self, paused: bool) {
        if self.shared.paused.swap(paused, Ordering::AcqRel) != paused {
            tracing::info!(paused, "processing is paused or resumes");
        }
        if !paused {
            self.shared.due.check();
        }
    }

    /// Waits until earlier entries of the log are applied.
    pub(crate) async fn settle(&self) -> Result<(), SubmitError> {
        self.run_own(nothing()).await.map(drop)
    }

    /// Whether it is paused.
    pub fn is_processing_paused(&self) -> bool {
        self.shared.paused.load(Ordering::Acquire)
    }

    /// Writes state to disk as of now or later. Nobody waits for that but who asks.
    pub async fn write_state(&self) -> Result<(), SubmitError> {
        let wanted = self.partition().committed_index;
        let began = Instant::now();
        if self.shared.durable_index() < wanted {
            self.shared.flush_asked.store(true, Ordering::Release);
        }
        while self.shared.durable_index() < wanted {
            if began.elapsed() > WRITE_TIMEOUT {
                let failure = self.shared.flush_failure.lock().clone();
                return Err(SubmitError::Timeout(format!(
                    "Expected to write state to disk within {} s, but {}; writing continues",
                    WRITE_TIMEOUT.as_secs(),
                    failure.as_deref().unwrap_or("it takes longer")
                )));
            }
            // An entry lets the machine begin a flush, or take one over.
            self.run_own(nothing()).await?;
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(())
    }
}
