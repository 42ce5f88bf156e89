//! The clock of the leader, and when the engine wants to be woken.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

/// Nothing is due.
const NEVER: i64 = i64::MAX;

/// Unix milliseconds now.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64)
}

/// What the partition's thread tells the proposer about work that no client asked for.
pub(crate) struct Due {
    next_ms: AtomicI64,
    pinned: AtomicBool,
    engine_now_ms: AtomicI64,
    pending_steps: AtomicBool,
    changed: Notify,
}

impl Due {
    pub fn new() -> Self {
        Self {
            next_ms: AtomicI64::new(NEVER),
            pinned: AtomicBool::new(false),
            engine_now_ms: AtomicI64::new(0),
            pending_steps: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Notes the state of the engine after a batch.
    pub fn update(&self, next_ms: Option<i64>, engine_now_ms: i64, pinned: bool, pending_steps: bool) {
        let next = next_ms.unwrap_or(NEVER);
        self.engine_now_ms.store(engine_now_ms, Ordering::Release);
        let was_pinned = self.pinned.swap(pinned, Ordering::AcqRel);
        let before = self.next_ms.swap(next, Ordering::AcqRel);
        self.pending_steps.store(pending_steps, Ordering::Release);
        if next < before || pending_steps || was_pinned != pinned {
            self.changed.notify_one();
        }
    }

    /// Whether steps are left over.
    pub fn has_pending_steps(&self) -> bool {
        self.pending_steps.load(Ordering::Acquire)
    }

    /// Time until something is due; `None` if nothing is.
    pub fn wait(&self) -> Option<Duration> {
        let next = self.next_ms.load(Ordering::Acquire);
        if next == NEVER {
            return None;
        }
        if self.pinned.load(Ordering::Acquire) {
            return (next <= self.engine_now_ms.load(Ordering::Acquire)).then_some(Duration::ZERO);
        }
        Some(Duration::from_millis(u64::try_from(next - now_ms()).unwrap_or(0)))
    }

    /// Resolves when the answers above may have changed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}
