//! The log store of a broker: one raft-engine under all its groups.
//!
//! Appends enter through [`GroupLog`], which openraft drives, and end in `writer`, which gathers what all groups have
//! waiting, writes it as one batch, syncs once and reports back. Reads of what is not yet applied are served from
//! memory.
//!
//! The rest of the crate knows only openraft's storage trait and the few methods here; raft-engine can be exchanged
//! behind them.

mod disk;
mod group_log;
#[cfg(test)]
mod suite;
mod writer;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use raft_engine::{Config, ReadableSize, RecoveryMode};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

pub use self::disk::DiskFaults;
pub(crate) use self::group_log::{GroupLog, LogHandle};
use self::writer::{Change, Done, Request, Shared, Writer};

/// Most requests waiting for the writer thread. Each group has only one or two under way, so this is never met.
const WRITER_QUEUE: usize = 1024;

/// Largest payload the log takes, in bytes. raft-engine's own limit for a batch is some 2 GiB.
pub(crate) const PAYLOAD_LIMIT_BYTES: usize = 64 << 20;
const _: () = assert!(PAYLOAD_LIMIT_BYTES < 1 << 31);

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
    fn engine_config(&self, dir: &Path) -> Config {
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
    Full {
        /// Bytes free now.
        free_bytes: u64,
        /// Bytes needed.
        needed_bytes: u64,
    },
    /// After a failure the log holds less than was acknowledged.
    #[error("group {group} acknowledged entry {acknowledged} but its log ends at {found:?}")]
    Lost {
        /// The group.
        group: u64,
        /// Last acknowledged index.
        acknowledged: u64,
        /// Last index found.
        found: Option<u64>,
    },
    /// The group is already started on this store.
    #[error("group {0} is already started on this log store")]
    InUse(u64),
    /// The store was closed.
    #[error("the log store is closed")]
    Closed,
}

/// The log of all groups of a broker, in one directory. Cheap to clone. The files are closed by
/// [`LogStore::close`], or when the last clone and the last handle of a group on it are gone.
#[derive(Clone)]
pub struct LogStore {
    inner: Arc<Inner>,
}

struct Inner {
    dir: PathBuf,
    writer: Arc<Writer>,
    requests: Option<mpsc::Sender<Request>>,
    writer_thread: Option<JoinHandle<()>>,
    groups: Mutex<HashMap<u64, Weak<GroupLog>>>,
}

impl LogStore {
    /// Opens the log in `dir`, creating it if need be, and starts the writer thread. A torn tail, as a crash leaves
    /// it, is cut off.
    pub fn open(dir: &Path, options: LogOptions) -> Result<Self, LogError> {
        let failed = |reason: String| LogError::Open { dir: dir.to_owned(), reason };
        create_durably(dir).map_err(|error| failed(error.to_string()))?;
        let writer = Arc::new(Writer::new(Shared::open(dir, options)?));
        let (requests, receiver) = mpsc::channel(WRITER_QUEUE);
        let writer_thread =
            writer::spawn(writer.clone(), receiver).map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            inner: Arc::new(Inner {
                dir: dir.to_owned(),
                writer,
                requests: Some(requests),
                writer_thread: Some(writer_thread),
                groups: Mutex::default(),
            }),
        })
    }

    /// The directory of the log.
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    /// Figures of the store so far.
    pub fn stats(&self) -> LogStats {
        self.shared().stats()
    }

    /// Why the log cannot be written now, if it cannot.
    pub fn failure(&self) -> Option<String> {
        self.shared().failure()
    }

    /// Closes the files, whoever still holds the store; the directory can be opened again when this returns. Groups
    /// should have been shut down: whatever they still try fails.
    pub async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.send(Request::Close(reply)).await.is_ok() {
            // An error means that somebody else closed it first.
            let _ = closed.await;
        }
    }

    /// The payload of an entry of a group that is not started; `None` if the log has no entry at this index, or one
    /// of its own.
    pub fn payload(&self, group: u64, index: u64) -> Result<Option<bytes::Bytes>, LogError> {
        let log = GroupLog::load(group, self.clone())?;
        log.payload(index)
    }

    /// The last index of the log of a group that is not started; 0 if it has none.
    pub fn last_index(&self, group: u64) -> Result<u64, LogError> {
        let log = GroupLog::load(group, self.clone())?;
        Ok(log.last().map_or(0, |id| id.index))
    }

    /// The log of one group. A second claim on a group that is running is refused.
    pub(crate) fn group(&self, group: u64) -> Result<Arc<GroupLog>, LogError> {
        let mut groups = self.inner.groups.lock();
        if groups.get(&group).is_some_and(|known| known.strong_count() > 0) {
            return Err(LogError::InUse(group));
        }
        let log = Arc::new(GroupLog::load(group, self.clone())?);
        groups.insert(group, Arc::downgrade(&log));
        Ok(log)
    }

    /// Ends a group's claim on its log.
    pub(crate) fn release(&self, group: u64) {
        self.inner.groups.lock().remove(&group);
    }

    /// Makes the store writable again after a failure; does nothing when it is.
    pub(crate) async fn recover(&self) -> Result<(), LogError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Recover(reply)).await?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    async fn send(&self, request: Request) -> Result<(), LogError> {
        let requests = self.inner.requests.as_ref().ok_or(LogError::Closed)?;
        requests.send(request).await.map_err(|_| LogError::Closed)
    }

    /// Makes a change durable before it returns, on this very thread unless another is about to write anyway.
    fn write_here(&self, change: Change, done: Done) {
        self.inner.writer.write(change, done);
    }

    fn shared(&self) -> &Shared {
        &self.inner.writer.shared
    }
}

/// Creates a directory, and makes its name outlive a power failure.
fn create_durably(dir: &Path) -> std::io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(dir)?;
    match dir.canonicalize()?.parent() {
        Some(parent) => std::fs::File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Closing the channel ends the writer thread, which closes the files.
        drop(self.requests.take());
        if let Some(thread) = self.writer_thread.take()
            && thread.join().is_err()
        {
            tracing::error!(dir = %self.dir.display(), "the log writer thread panicked");
        }
    }
}
