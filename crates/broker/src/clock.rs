//! The clock of the leader, and when the engine wants to be woken.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;

const NEVER: i64 = i64::MAX;

pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64)
}

/// The engine's clock after a batch.
#[derive(Clone, Copy)]
pub(crate) struct EngineClock {
    pub now_ms: i64,
    pub is_pinned: bool,
    /// How far it is ahead of the wall's while it is not pinned.
    pub offset_ms: i64,
}

/// Work without a client that the partition's thread reports to the proposer.
pub(crate) struct Due {
    next_ms: AtomicI64,
    pinned: AtomicBool,
    engine_now_ms: AtomicI64,
    offset_ms: AtomicI64,
    pending_steps: AtomicBool,
    changed: Notify,
}

impl Due {
    pub fn new() -> Self {
        Self {
            next_ms: AtomicI64::new(NEVER),
            pinned: AtomicBool::new(false),
            engine_now_ms: AtomicI64::new(0),
            offset_ms: AtomicI64::new(0),
            pending_steps: AtomicBool::new(false),
            changed: Notify::new(),
        }
    }

    /// Notes the state of the engine after a batch.
    pub fn update(&self, next_ms: Option<i64>, clock: EngineClock, pending_steps: bool) {
        let next = next_ms.unwrap_or(NEVER);
        self.engine_now_ms.store(clock.now_ms, Ordering::Release);
        let was_pinned = self.pinned.swap(clock.is_pinned, Ordering::AcqRel);
        let offset_before = self.offset_ms.swap(clock.offset_ms, Ordering::AcqRel);
        let before = self.next_ms.swap(next, Ordering::AcqRel);
        self.pending_steps.store(pending_steps, Ordering::Release);
        let has_moved = was_pinned != clock.is_pinned || offset_before != clock.offset_ms;
        if next < before || pending_steps || has_moved {
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
        Some(Duration::from_millis(u64::try_from(next.saturating_sub(self.now_ms())).unwrap_or(0)))
    }

    /// Time of the engine's clock.
    pub fn now_ms(&self) -> i64 {
        if self.pinned.load(Ordering::Acquire) {
            return self.engine_now_ms.load(Ordering::Acquire);
        }
        now_ms().saturating_add(self.offset_ms.load(Ordering::Acquire))
    }

    /// Has somebody look again.
    pub fn check(&self) {
        self.changed.notify_one();
    }

    /// Resolves when the answers above may have changed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}
