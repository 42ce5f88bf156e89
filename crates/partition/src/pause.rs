//! Operations on a partition as a whole: to pause processing, and to write its state to disk.
//!
//! While processing is paused, the log takes nothing but what the broker needs for itself. Everything else is
//! refused by the proposer, timers are late, workers get no jobs; queries are answered as ever. A start ends the
//! pause of a broker that is alone; those of a cluster order each other.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::partition::{Partition, nothing};
use broker_api::SubmitError;

/// Time-out of writing state to disk, after which the request is answered. Writing goes on.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which the flush is checked.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

impl Partition {
    /// Pauses or resumes processing on this broker.
    pub fn set_paused(&self, paused: bool) {
        if self.shared.paused.swap(paused, Ordering::AcqRel) != paused {
            tracing::info!(paused, "processing is paused or resumes");
        }
        if !paused {
            self.shared.due.check();
        }
    }

    /// Waits until earlier entries of the log are applied.
    pub async fn settle(&self) -> Result<(), SubmitError> {
        self.run_own(nothing()).await.map(drop)
    }

    /// Whether it is paused.
    pub fn is_processing_paused(&self) -> bool {
        self.shared.is_paused()
    }

    /// Writes state to disk as of now or later. Only the caller waits for that.
    pub async fn write_state(&self) -> Result<(), SubmitError> {
        let wanted = self.status().committed_index;
        let began = Instant::now();
        if self.shared.flush.durable_index() < wanted {
            self.shared.flush.ask();
        }
        while self.shared.flush.durable_index() < wanted {
            if began.elapsed() > WRITE_TIMEOUT {
                let failure = self.shared.flush.failure();
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
