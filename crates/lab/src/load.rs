//! Load that runs while something is done to the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench::{Options, Report};
use tokio::task::JoinHandle;

use crate::error::LabError;

/// Longer than any experiment: the load is ended by hand.
pub(crate) const UNTIL_ENDED: Duration = Duration::from_secs(100_000);

/// Load under way.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Result<Report, bench::Error>>,
    /// When it began.
    pub(crate) began: Instant,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Load {
    pub(crate) fn start(options: Options) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let task = tokio::spawn(async move { bench::run_until(&options, &ends).await });
        Self { stop, task, began: Instant::now() }
    }

    /// Ends it and waits for what is under way.
    pub(crate) async fn end(self) -> Result<Report, LabError> {
        self.stop.store(true, Ordering::Relaxed);
        self.finish().await
    }

    /// Waits until its time is over.
    pub(crate) async fn finish(mut self) -> Result<Report, LabError> {
        let report = (&mut self.task).await.map_err(|error| LabError::system("the load generator", error))?;
        Ok(report?)
    }
}
