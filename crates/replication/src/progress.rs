//! Progress of applying, for those that wait for it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::types::{GroupFailure, LogId};

/// Progress of the apply thread for the rest of the group.
#[derive(Default)]
pub(crate) struct Progress {
    applied: Mutex<Option<LogId>>,
    applied_index: AtomicU64,
    pub(crate) failure: OnceLock<GroupFailure>,
    /// Whether the core's last order to install a snapshot failed; changes, too, when one has been installed.
    pub(crate) install_failed: watch::Sender<bool>,
}

impl Progress {
    pub(crate) fn applied_index(&self) -> u64 {
        self.applied_index.load(Ordering::Acquire)
    }

    /// Why the state machine stopped for good, if it did.
    pub(crate) fn failure(&self) -> Option<&GroupFailure> {
        self.failure.get()
    }

    /// The last entry that was applied.
    pub(crate) fn applied(&self) -> Option<LogId> {
        *self.applied.lock()
    }

    /// Of a state machine that has applied everything up to an index.
    #[cfg(test)]
    pub(crate) fn at(index: u64) -> Self {
        Self { applied_index: AtomicU64::new(index), ..Self::default() }
    }

    /// Forgets about orders to an earlier core.
    pub(crate) fn begin_core(&self) {
        self.install_failed.send_replace(false);
    }

    /// Waits until the state has everything up to `index`; false if the snapshot that was to bring it there failed.
    pub(crate) async fn reaches(&self, index: u64) -> bool {
        let mut failed = self.install_failed.subscribe();
        let seen = failed.wait_for(|failed| *failed || self.applied_index() >= index).await;
        seen.is_ok() && self.applied_index() >= index
    }

    pub(crate) fn set_applied(&self, id: LogId) {
        let before = self.applied.lock().replace(id);
        debug_assert!(
            before.is_none_or(|before| before.index <= id.index),
            "entry {id} is applied after {before:?}"
        );
        self.applied_index.store(id.index, Ordering::Release);
    }
}
