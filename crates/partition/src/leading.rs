//! Whether this broker leads its partition, for those that work only then.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether this broker does the work of the leader: timers, steps left over, configuration.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    leads: AtomicBool,
    /// The first entries of the leader are applied.
    has_begun: AtomicBool,
    is_alone: bool,
    changed: Notify,
}

impl Leading {
    /// A broker that is alone leads.
    pub fn alone() -> Self {
        let begun = || AtomicBool::new(true);
        Self { leads: begun(), has_begun: begun(), is_alone: true, changed: Notify::new() }
    }

    /// Whether there are no other replicas.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    pub fn leads(&self) -> bool {
        self.leads.load(Ordering::Acquire)
    }

    /// Whether it leads, and its first entries are applied.
    pub fn has_begun(&self) -> bool {
        self.leads() && self.has_begun.load(Ordering::Acquire)
    }

    /// Resolves when leadership has begun or ended since the last call.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// This broker leads from now on, or leads no more.
    pub fn set(&self, leads: bool) {
        self.has_begun.store(false, Ordering::Release);
        self.leads.store(leads, Ordering::Release);
        self.changed.notify_one();
    }

    /// The first entries of the leader are applied.
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
    }
}
