//! Options, figures and errors of the log store.

#![expect(missing_docs, reason = "names say what is held")]

use super::disk::DiskFaults;
use raft_engine::{Config, ReadableSize, RecoveryMode};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// How the log store uses disk and memory.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Size of one log file in bytes.
    pub segment_bytes: u64,
    /// Purged log files are removed or recycled once the log is larger than this, in bytes.
    pub retained_bytes: u64,
    /// Batches from this many bytes on are compressed with LZ4; 0 compresses none. JSON shrinks to less than half for
    /// about half a microsecond of CPU per KiB.
    pub compression_threshold_bytes: u64,
    /// Bytes of applied entries each group keeps in memory for followers that lag a little. Entries not yet applied
    /// are always kept.
    pub cached_bytes_per_group: usize,
    /// A group resumes after a failure only when this many bytes are free on the disk.
    pub min_free_bytes: u64,
    /// Faults to inject, for tests and simulations.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 8 << 20,
            retained_bytes: 32 << 20,
            compression_threshold_bytes: 8 << 10,
            cached_bytes_per_group: 1 << 20,
            min_free_bytes: 32 << 20,
            disk_faults: None,
        }
    }
}

impl LogOptions {
    pub(super) fn engine_config(&self, dir: &Path) -> Config {
        Config {
            dir: dir.to_string_lossy().into_owned(),
            recovery_mode: RecoveryMode::TolerateTailCorruption,
            recovery_threads: 2,
            batch_compression_threshold: ReadableSize(self.compression_threshold_bytes),
            target_file_size: ReadableSize(self.segment_bytes),
            purge_threshold: ReadableSize(self.retained_bytes.max(self.segment_bytes)),
            // Votes and other small facts end up in the rewrite queue; two files of it are plenty.
            purge_rewrite_threshold: Some(ReadableSize(self.segment_bytes * 2)),
            enable_log_recycle: true,
            ..Config::default()
        }
    }
}

/// Figures of a log store since it was opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogStats {
    /// Writes, each with one sync.
    pub writes: u64,
    /// Changes in them; more than one a write when groups shared a sync.
    pub changes: u64,
    /// Bytes written, after compression.
    pub bytes: u64,
    /// Time spent writing and syncing, in microseconds.
    pub write_time_us: u64,
    /// Size of the log's files now, in bytes, each counted in full.
    pub disk_bytes: u64,
    /// Files of the log now.
    pub files: usize,
}

/// Why the log store could not be opened, read or written.
#[derive(Clone, Debug, Error)]
pub enum LogError {
    /// The directory could not be made or its files not be opened or recovered.
    #[error("the log in {dir} cannot be opened: {reason}")]
    Open {
        /// The directory of the log.
        dir: PathBuf,
        /// Message of the disk or of raft-engine.
        reason: String,
    },
    /// The files of the log contradict themselves or their checksums.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// An entry or fact could not be read.
    #[error("the log of group {group} cannot be read: {reason}")]
    Read {
        /// The group whose log it is.
        group: u64,
        /// Message of the disk or of raft-engine.
        reason: String,
    },
    /// The last write failed and no later one is tried until the store has recovered.
    #[error("the log cannot be written: {0}")]
    Write(String),
    /// The disk has too little free space to resume.
    #[error("{free_bytes} bytes are free, {needed_bytes} are needed to resume")]
    Full { free_bytes: u64, needed_bytes: u64 },
    /// After a failure the log holds less than was acknowledged.
    #[error("group {group} acknowledged entry {acknowledged} but its log ends at {found:?}")]
    Lost { group: u64, acknowledged: u64, found: Option<u64> },
    /// The group is already started on this store.
    #[error("group {0} is already started on this log store")]
    InUse(u64),
    /// The store was closed.
    #[error("the log store is closed")]
    Closed,
}

impl LogError {
    /// Whether another process has the log open. A server that is about to end lets go of it last.
    pub fn is_in_use(&self) -> bool {
        // raft-engine has no kind of its own for it.
        matches!(self, Self::Open { reason, .. } if reason.contains("another instance is using"))
    }
}
