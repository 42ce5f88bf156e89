//! State that the partition's thread shares with the rest of the broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

use engine::{Counters, Engine};
use export::Hub;
use parking_lot::Mutex;
use protocol::{Batch, Record};
use tokio::sync::watch;

use crate::answers::LateAnswers;
use crate::clock::Due;
use crate::comparison::WantedHash;
use crate::demand::DemandRegistry;
use crate::divergence::Digests;
use crate::entered::Entered;
use crate::exporting::LocalPositions;
use crate::leading::Leading;
use crate::metric_definitions::Metrics;
use crate::tally::{Applied, Tally};
use crate::write_limit::Written;

/// The same, each part with a lock of its own, if any.
pub(crate) struct PartitionState {
    pub demand: Arc<DemandRegistry>,
    pub late: LateAnswers,
    pub due: Due,
    pub leading: Leading,
    /// Entries of this broker under way, if it is in a cluster.
    pub entered: Entered,
    pub metrics: Metrics,
    /// Log index up to which everything is on disk.
    pub durable: watch::Sender<u64>,
    /// Set to flush at the next batch, whatever the time.
    pub flush_now: AtomicBool,
    /// Set to flush when no flush is under way, whatever the time.
    pub flush_asked: AtomicBool,
    /// Whether only the broker's own commands are taken.
    pub paused: AtomicBool,
    /// Whether there is something to flush, or to take over from a flush.
    pub unflushed: AtomicBool,
    /// Position of the last record.
    pub position: AtomicU64,
    /// For the write limit.
    pub written: Mutex<Written>,
    /// Version of the engine that the next batch asks for.
    pub engine_version: AtomicU16,
    /// See [`Engine::grants_version`].
    pub grants_version: AtomicU64,
    /// Whether exporters take records, here or on other brokers.
    pub is_recorded: bool,
    /// Position of the last record; 0 if there was none yet.
    pub recorded: AtomicU64,
    /// Position up to which the records were handed to exporters.
    pub handed_on: AtomicU64,
    /// Counters of the engine.
    pub counters: Mutex<Counters>,
    /// Counts of the partition's thread, looked at once a second.
    pub tally: Mutex<Tally>,
    /// Rows of the tables of the state.
    pub rows: Mutex<Vec<(&'static str, u64)>>,
    /// Why the last flush failed, if it did.
    pub flush_failure: Mutex<Option<String>>,
    /// Whether flushes fail and memory holds as much unflushed state as it may.
    pub overlay_full: AtomicBool,
    /// Of the state after recent entries, and whether they differ from the leader's.
    pub digests: Digests,
    /// A hash of the whole state that another broker waits for.
    pub wanted_hash: WantedHash,
    /// Where records go; `None` if there are no exporters, and no records.
    pub exports: Option<Arc<Hub>>,
    /// Positions of exporters, if this broker has copies of their targets.
    pub local_positions: Option<Arc<LocalPositions>>,
}

impl PartitionState {
    /// Log index up to which everything is on disk.
    pub fn durable_index(&self) -> u64 {
        // The guard of a watch must not outlive this line: a sender would wait for it.
        *self.durable.borrow()
    }

    /// Gives a batch the time and the engine version that its entry has.
    pub fn stamp(&self, batch: &mut Batch) {
        batch.engine_version = self.engine_version.load(Ordering::Acquire);
        batch.timestamp_ms = self.due.log_time_ms();
    }

    /// Has the leader of a cluster say in a batch which state it has.
    pub fn stamp_digest(&self, batch: &mut Batch) {
        batch.digest = self.leading.leads().then(|| self.digests.announce()).flatten();
    }

    /// For the write limit.
    pub fn written(&self) -> Written {
        *self.written.lock()
    }

    fn note_written(&self, position: u64, left_over: u64) {
        let mut written = self.written.lock();
        written.position = position;
        written.left_over += left_over;
    }

    /// Notes how the last flush ended. Returns whether the one before had failed.
    pub(super) fn set_flush_failure(&self, failure: Option<String>) -> bool {
        let mut noted = self.flush_failure.lock();
        std::mem::replace(&mut *noted, failure).is_some()
    }

    /// Notes how far the engine is, and what it makes of the next batch.
    pub(super) fn note(&self, engine: &Engine, left_over_records: u64) {
        self.position.store(engine.position(), Ordering::Release);
        self.note_written(engine.position(), left_over_records);
        self.grants_version.store(engine.grants_version(), Ordering::Release);
        self.engine_version.store(engine.active_version(), Ordering::Release);
    }

    /// Counts what an entry was to the engine, and how long that took. `is_here` says that this broker proposed it.
    pub(super) fn tell(&self, is_here: bool, (applied, took): (Applied, Duration), records: &[Record]) {
        // A broker that is alone has proposed all that it does not replay.
        let leads = if self.leading.is_alone() { is_here } else { self.leading.leads() };
        if leads {
            self.tally.lock().processed(applied, records);
        } else {
            self.tally.lock().replayed(applied);
            self.metrics.replayed(took);
        }
    }

    /// Notes figures for operators.
    pub fn count(&self, engine: &Engine) {
        self.counters.lock().clone_from(engine.counters());
        *self.rows.lock() = engine.tables().row_counts();
    }
}
