//! The log store of a broker: one raft-engine under all its groups.
//!
//! Appends enter through [`GroupLog`], which openraft drives, and end in `writer`, which gathers what all groups have
//! waiting, writes it as one batch, syncs once and reports back. Reads of what is not yet applied are served from
//! memory.
//!
//! The rest of the crate knows only openraft's storage trait and the few methods here; raft-engine can be exchanged
//! behind them.

mod cache;
mod disk;
mod group_log;
mod options;
mod size;
#[cfg(test)]
mod suite;
mod writer;

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

pub use self::disk::DiskFaults;
pub(crate) use self::group_log::{GroupLog, LogHandle};
pub use self::options::{LogError, LogOptions, LogStats};
use self::writer::{Change, Done, LogState, Writer, WriterRequest};

/// Most requests waiting for the writer thread. Each group has only one or two under way, so this is never met.
const WRITER_QUEUE: usize = 1024;

/// Largest payload the log takes, in bytes. raft-engine's own limit for a batch is some 2 GiB.
pub(crate) const PAYLOAD_LIMIT_BYTES: usize = 64 << 20;
const _: () = assert!(PAYLOAD_LIMIT_BYTES < 1 << 31);

/// The log of all groups of a broker, in one directory. Cheap to clone. The files are closed by
/// [`LogStore::close`], or when the last clone and the last handle of a group on it are gone.
#[derive(Clone)]
pub struct LogStore {
    inner: Arc<StoreState>,
}

struct StoreState {
    dir: PathBuf,
    writer: Arc<Writer>,
    requests: Option<mpsc::Sender<WriterRequest>>,
    writer_thread: Option<JoinHandle<()>>,
    groups: Mutex<HashMap<u64, Weak<GroupLog>>>,
}

impl LogStore {
    /// Opens the log in `dir`, creating it if need be, and starts the writer thread. A torn tail, as a crash leaves
    /// it, is cut off.
    pub fn open(dir: &Path, options: LogOptions) -> Result<Self, LogError> {
        let failed = |reason: String| LogError::Open { dir: dir.to_owned(), reason };
        create_durably(dir).map_err(|error| failed(error.to_string()))?;
        let writer = Arc::new(Writer::new(LogState::open(dir, options)?));
        let (requests, receiver) = mpsc::channel(WRITER_QUEUE);
        let writer_thread =
            writer::spawn(writer.clone(), receiver).map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            inner: Arc::new(StoreState {
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
        if self.send(WriterRequest::Close(reply)).await.is_ok() {
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
        self.send(WriterRequest::Recover(reply)).await?;
        answer.await.map_err(|_| LogError::Closed)?
    }

    async fn send(&self, request: WriterRequest) -> Result<(), LogError> {
        let requests = self.inner.requests.as_ref().ok_or(LogError::Closed)?;
        requests.send(request).await.map_err(|_| LogError::Closed)
    }

    /// Makes a change durable before it returns, on this very thread unless another is about to write anyway.
    fn write_here(&self, change: Change, done: Done) {
        self.inner.writer.write(change, done);
    }

    fn shared(&self) -> &LogState {
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

impl Drop for StoreState {
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
