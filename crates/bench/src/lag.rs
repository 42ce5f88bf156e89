//! Whether the load generator itself keeps up: how late its own timers are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::task::JoinHandle;

use crate::latency::histogram;

/// Pause between two looks.
const PACE: Duration = Duration::from_millis(10);

/// A task that asks to be woken again and again.
pub(crate) struct Lag {
    is_over: Arc<AtomicBool>,
    task: JoinHandle<Histogram<u64>>,
}

impl Lag {
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let task = tokio::spawn(async move {
            let mut late = histogram();
            while !ends.load(Ordering::Relaxed) {
                let due = Instant::now() + PACE;
                tokio::time::sleep(PACE).await;
                late.saturating_record((due.elapsed().as_micros() as u64).max(1));
            }
            late
        });
        Self { is_over, task }
    }

    /// Ninety-nine of a hundred were at most this late, microseconds.
    pub(crate) async fn end(self) -> Option<u64> {
        self.is_over.store(true, Ordering::Relaxed);
        self.task.await.ok().map(|late| late.value_at_quantile(0.99))
    }
}
