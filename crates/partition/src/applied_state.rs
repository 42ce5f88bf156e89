//! Progress of the engine, as of the last batch that was applied. The machine writes it.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use engine::Engine;
use parking_lot::Mutex;
use protocol::ClusterChange;
use tokio::sync::watch;

use crate::write_limit::Written;

/// Values of the engine that others read without its lock.
#[derive(Default)]
pub(crate) struct AppliedState {
    position: AtomicU64,
    written: Mutex<Written>,
    engine_version: AtomicU16,
    grants_version: AtomicU64,
    cluster_change: Mutex<Option<ClusterChange>>,
    distributed: watch::Sender<u64>,
}

impl AppliedState {
    /// Of an engine that has been opened.
    pub fn of(engine: &Engine) -> Self {
        let state = Self::default();
        state.note(engine, 0);
        state
    }

    /// Notes how far the engine is, and what it makes of the next batch.
    pub fn note(&self, engine: &Engine, left_over_records: u64) {
        self.position.store(engine.position(), Ordering::Release);
        {
            let mut written = self.written.lock();
            written.position = engine.position();
            written.left_over += left_over_records;
        }
        self.grants_version.store(engine.grants_version(), Ordering::Release);
        self.engine_version.store(engine.active_version(), Ordering::Release);
        *self.cluster_change.lock() = engine.cluster_change();
        let distributed = engine.distributed();
        self.distributed.send_if_modified(|known| std::mem::replace(known, distributed) != distributed);
    }

    /// Position of the last record of the state.
    pub fn position(&self) -> u64 {
        self.position.load(Ordering::Acquire)
    }

    /// Records written so far, for the write limit.
    pub fn written(&self) -> Written {
        *self.written.lock()
    }

    /// Version of the engine that the next batch asks for.
    pub fn engine_version(&self) -> u16 {
        self.engine_version.load(Ordering::Acquire)
    }

    /// See [`Engine::grants_version`].
    pub fn grants_version(&self) -> u64 {
        self.grants_version.load(Ordering::Acquire)
    }

    /// See [`Engine::distributed`].
    pub fn distributed(&self) -> watch::Receiver<u64> {
        self.distributed.subscribe()
    }

    /// See [`Engine::cluster_change`].
    pub fn cluster_change(&self) -> Option<ClusterChange> {
        *self.cluster_change.lock()
    }
}
