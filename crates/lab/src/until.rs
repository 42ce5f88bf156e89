//! Waiting for something that cannot be listened to.

use std::time::{Duration, Instant};

/// Waits until something holds, looking again and again; how long that took, or `None` after `patience`.
pub(crate) async fn until(patience: Duration, holds: impl AsyncFn() -> bool) -> Option<Duration> {
    const PACE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    while !holds().await {
        if began.elapsed() > patience {
            return None;
        }
        tokio::time::sleep(PACE).await;
    }
    Some(began.elapsed())
}
