//! Writing: group commit for all groups of a broker, and recovery when the disk let it down.
//!
//! A group that has nothing else to do before its change is durable writes on its own thread ([`Writer::write`]), which
//! saves waking another; everything else comes over the channel to the writer thread. Both gather what the other has
//! waiting. raft-engine would merge concurrent writes, too, but when it panics in the midst of a merged write it
//! tells some of the writers that theirs succeeded.

use parking_lot::{Mutex, RwLock};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use openraft::storage::LogFlushed;
use planted::Bug;
use raft_engine::{Command, Engine, LogBatch};
use tokio::sync::{mpsc, oneshot};

use super::disk::Disk;
use super::options::{LogError, LogOptions, LogStats};
use crate::metric_definitions::JournalMetrics;
use crate::record::Record;
use crate::types::TypeConfig;

/// Bytes gathered into one write before the sync, so that a single sync never waits for an unbounded write.
const GATHERED_BYTES: usize = 4 << 20;

/// A change to the log of one group.
pub(crate) struct Change {
    pub(crate) group: u64,
    pub(crate) records: Vec<Record>,
    /// Facts to set, or to remove where there is no value.
    pub(crate) facts: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Entries before this index are dropped.
    pub(crate) compact_to: Option<u64>,
}

/// Whom to tell that a change is durable, or is not.
pub(crate) enum Done {
    Flushed(LogFlushed<TypeConfig>),
    Reply(oneshot::Sender<Result<(), LogError>>),
}

impl Done {
    fn complete(self, result: Result<(), LogError>) {
        match self {
            Self::Flushed(callback) => {
                callback.log_io_completed(result.map_err(|error| io::Error::other(error.to_string())));
            }
            // The asker may be gone.
            Self::Reply(reply) => drop(reply.send(result)),
        }
    }
}

pub(crate) enum WriterRequest {
    Change(Change, Done),
    /// Removes the files that hold only compacted entries.
    Purge,
    Recover(oneshot::Sender<Result<(), LogError>>),
    Close(oneshot::Sender<()>),
}

pub(crate) type LogEngine = Engine<Disk>;

/// State shared by writers and readers.
pub(crate) struct LogState {
    dir: PathBuf,
    pub(crate) options: LogOptions,
    disk: Disk,
    /// Absent only while the store recovers.
    engine: RwLock<Option<LogEngine>>,
    /// raft-engine has found that its files contradict each other.
    damage: OnceLock<String>,
    counters: Counters,
    metrics: JournalMetrics,
}

#[derive(Default)]
struct Counters {
    writes: AtomicU64,
    changes: AtomicU64,
    bytes: AtomicU64,
    write_time_us: AtomicU64,
}

impl LogState {
    pub(crate) fn open(dir: &Path, options: LogOptions) -> Result<Self, LogError> {
        let disk = Disk::new(options.disk_faults.clone());
        let engine = open_engine(dir, &options, &disk)?;
        let engine = RwLock::new(Some(engine));
        let (counters, metrics) = (Counters::default(), JournalMetrics::new());
        Ok(Self { dir: dir.to_owned(), options, disk, engine, damage: OnceLock::new(), counters, metrics })
    }

    pub(crate) fn stats(&self) -> LogStats {
        let engine = self.engine.read();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LogStats {
            writes: read(&self.counters.writes),
            changes: read(&self.counters.changes),
            bytes: read(&self.counters.bytes),
            write_time_us: read(&self.counters.write_time_us),
            disk_bytes: engine.as_ref().map_or(0, |engine| engine.get_used_size() as u64),
            files: self.disk.files(),
        }
    }

    pub(crate) fn failure(&self) -> Option<String> {
        let closed = || self.engine.read().is_none();
        self.disk.failure().or_else(|| closed().then(|| "the store is closed or recovering".to_owned()))
    }

    /// Reads with the engine, if there is one now.
    pub(crate) fn read<T>(
        &self,
        group: u64,
        read: impl FnOnce(&LogEngine) -> io::Result<T>,
    ) -> Result<T, LogError> {
        let failed = |reason: String| LogError::Read { group, reason };
        let engine = self.engine.read();
        let engine = engine.as_ref().ok_or_else(|| failed("the store is closed or recovering".to_owned()))?;
        let read = catch_unwind(AssertUnwindSafe(|| read(engine)));
        let read = read.map_err(|panic| match EnginePanic::of(&*panic) {
            EnginePanic::Damage(reason) => LogError::Damaged(reason),
            EnginePanic::Disk(reason) => failed(reason),
        })?;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => LogError::Damaged(error.to_string()),
            _ => failed(error.to_string()),
        })
    }

    /// Writes one batch and syncs it. On failure the disk refuses all changes until the store has recovered.
    fn write(&self, batch: &mut LogBatch, changes: usize, entries: usize) -> Result<(), LogError> {
        if let Some(reason) = self.disk.failure() {
            return Err(LogError::Write(reason));
        }
        let engine = self.engine.read();
        let Some(engine) = engine.as_ref() else {
            return Err(LogError::Write("the store has not recovered".to_owned()));
        };
        let (began, synced) = (Instant::now(), self.disk.sync_time());
        // raft-engine panics on a few disk errors (syncing the directory); none may take the broker down.
        let reason =
            match catch_unwind(AssertUnwindSafe(|| engine.write(batch, !planted::has(Bug::SkippedSync)))) {
                Ok(Ok(bytes)) => match self.disk.failure() {
                    None => {
                        self.counters.writes.fetch_add(1, Ordering::Relaxed);
                        self.counters.changes.fetch_add(changes as u64, Ordering::Relaxed);
                        self.counters.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                        let took = began.elapsed();
                        self.counters.write_time_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
                        let synced = self.disk.sync_time().saturating_sub(synced);
                        self.metrics.written(entries, bytes, took, synced.min(took));
                        return Ok(());
                    }
                    Some(reason) => reason,
                },
                Ok(Err(error)) => error.to_string(),
                Err(panic) => self.note(EnginePanic::of(&*panic)),
            };
        tracing::error!(reason, dir = %self.dir.display(), "the log cannot be written");
        self.disk.fail(reason.clone());
        Err(LogError::Write(reason))
    }

    /// Notes why the engine has panicked while it wrote; gives the reason.
    fn note(&self, panic: EnginePanic) -> String {
        match panic {
            EnginePanic::Damage(reason) => self.damage.get_or_init(|| reason).clone(),
            EnginePanic::Disk(reason) => reason,
        }
    }

    fn purge(&self) {
        let engine = self.engine.read();
        let (Some(engine), None) = (engine.as_ref(), self.disk.failure()) else { return };
        match catch_unwind(AssertUnwindSafe(|| engine.purge_expired_files())) {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "purged log files could not be removed"),
            Err(panic) => self.disk.fail(self.note(EnginePanic::of(&*panic))),
        }
    }

    /// Closes the files, as far as they are open.
    fn close(&self) {
        let engine = self.engine.write().take();
        // Closing tidies up the files, which a failed disk refuses.
        if catch_unwind(AssertUnwindSafe(|| drop(engine))).is_err() {
            tracing::warn!(dir = %self.dir.display(), "the log engine panicked when it was closed");
        }
    }

    fn recover(&self) -> Result<(), LogError> {
        if let Some(damage) = self.damage.get() {
            return Err(LogError::Damaged(damage.clone()));
        }
        let slot = self.engine.read();
        if slot.is_some() && self.disk.failure().is_none() {
            return Ok(());
        }
        let failed = |error: io::Error| LogError::Open { dir: self.dir.clone(), reason: error.to_string() };
        let free_bytes = self.disk.free_bytes(&self.dir).map_err(failed)?;
        if free_bytes < self.options.min_free_bytes {
            return Err(LogError::Full { free_bytes, needed_bytes: self.options.min_free_bytes });
        }
        drop(slot);
        self.close();
        self.disk.repair().map_err(failed)?;
        let engine = open_engine(&self.dir, &self.options, &self.disk)?;
        if let Some(reason) = self.disk.failure() {
            return Err(LogError::Write(reason));
        }
        *self.engine.write() = Some(engine);
        tracing::info!(dir = %self.dir.display(), "the log is writable again");
        Ok(())
    }
}

/// Whether files contradict themselves or their checksums.
fn is_damage(error: &raft_engine::Error) -> bool {
    use raft_engine::Error as Log;
    matches!(error, Log::Corruption(_) | Log::Codec(_) | Log::Protobuf(_))
}

/// An error of reading entries.
pub(crate) fn read_error(error: &raft_engine::Error) -> io::Error {
    let kind = if is_damage(error) { io::ErrorKind::InvalidData } else { io::ErrorKind::Other };
    io::Error::new(kind, error.to_string())
}

fn open_engine(dir: &Path, options: &LogOptions, disk: &Disk) -> Result<LogEngine, LogError> {
    let failed = |reason: String| LogError::Open { dir: dir.to_owned(), reason };
    let config = options.engine_config(dir);
    let disk = Arc::new(disk.clone());
    match catch_unwind(AssertUnwindSafe(|| Engine::open_with_file_system(config, disk))) {
        Ok(Ok(engine)) => Ok(engine),
        Ok(Err(error)) if is_damage(&error) => Err(LogError::Damaged(error.to_string())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(panic) => match EnginePanic::of(&*panic) {
            EnginePanic::Damage(reason) => Err(LogError::Damaged(reason)),
            EnginePanic::Disk(reason) => Err(failed(reason)),
        },
    }
}

/// The reason of a panic of raft-engine.
#[derive(Debug, PartialEq, Eq)]
enum EnginePanic {
    /// The disk has failed it where it does not expect that. Later it may not.
    Disk(String),
    /// The content of its files contradicts what it takes for granted: another start on them ends in the same way.
    Damage(String),
}

impl EnginePanic {
    fn of(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "without a reason".to_owned());
        let reason = format!("the log engine panicked: {text}");
        // Errors of the disk are those that it unwraps, and a place in a file that it cannot go back to.
        if text.contains("`Err` value") || text.contains("write failure") {
            Self::Disk(reason)
        } else {
            Self::Damage(reason)
        }
    }
}

/// Starts the writer thread. It ends when the last sender of `requests` is dropped.
pub(crate) fn spawn(
    writer: Arc<Writer>,
    mut requests: mpsc::Receiver<WriterRequest>,
) -> io::Result<JoinHandle<()>> {
    let (purges, purge_requests) = std::sync::mpsc::sync_channel(1);
    let purger_writer = writer.clone();
    // Purging rewrites and deletes files; it has a thread of its own so that no append waits for it.
    let purger = thread::Builder::new().name("log-purger".to_owned()).spawn(move || {
        while purge_requests.recv().is_ok() {
            purger_writer.shared.purge();
        }
    })?;
    thread::Builder::new().name("log-writer".to_owned()).spawn(move || {
        writer.run(&mut requests, &purges);
        drop(purges);
        if purger.join().is_err() {
            tracing::error!("the log purger thread panicked");
        }
    })
}

/// Group commit. A writer puts its change in the queue and then writes, with one sync, all changes queued by the
/// time the disk is free: its own change, if nobody else has written it, and those that came meanwhile.
pub(crate) struct Writer {
    pub(crate) shared: LogState,
    queue: Mutex<Vec<(Change, Done)>>,
    /// Held while writing, so that changes reach the disk in the order of the queue.
    gathered: Mutex<Gathered>,
}

/// Changes on their way to the disk.
#[derive(Default)]
struct Gathered {
    batch: LogBatch,
    entries: usize,
    waiting: Vec<Done>,
}

impl Writer {
    pub(crate) fn new(shared: LogState) -> Self {
        Self { shared, queue: Mutex::default(), gathered: Mutex::default() }
    }

    /// Makes a change durable, on this thread or on another that is about to write anyway. Blocks until then; whom
    /// `done` names has been told by the time this returns.
    pub(crate) fn write(&self, change: Change, done: Done) {
        self.enqueue(change, done);
        self.commit_queued();
    }

    fn enqueue(&self, change: Change, done: Done) {
        self.queue.lock().push((change, done));
    }

    fn commit_queued(&self) {
        let mut gathered = self.gathered.lock();
        let queued = std::mem::take(&mut *self.queue.lock());
        for (change, done) in queued {
            gathered.add(change, done);
            if gathered.batch.approximate_size() >= GATHERED_BYTES {
                gathered.commit(&self.shared);
            }
        }
        gathered.commit(&self.shared);
    }

    /// Serves requests that come over the channel.
    fn run(&self, requests: &mut mpsc::Receiver<WriterRequest>, purges: &std::sync::mpsc::SyncSender<()>) {
        while let Some(first) = requests.blocking_recv() {
            let mut next = Some(first);
            let mut recoveries = Vec::new();
            let mut closing = None;
            while let Some(request) = next.take() {
                match request {
                    WriterRequest::Change(change, done) => self.enqueue(change, done),
                    // One purge that is still to begin is as good as two.
                    WriterRequest::Purge => drop(purges.try_send(())),
                    WriterRequest::Recover(reply) => {
                        recoveries.push(reply);
                        break;
                    }
                    WriterRequest::Close(reply) => {
                        closing = Some(reply);
                        break;
                    }
                }
                next = requests.try_recv().ok();
            }
            self.commit_queued();
            if recoveries.is_empty() && closing.is_none() {
                continue;
            }
            let writing = self.gathered.lock();
            for reply in recoveries {
                // The asker may be gone.
                let _ = reply.send(self.shared.recover());
            }
            if let Some(reply) = closing {
                self.shared.close();
                drop(writing);
                let _ = reply.send(());
                return;
            }
        }
    }
}

impl Gathered {
    fn add(&mut self, change: Change, done: Done) {
        let entries = change.records.len();
        match fill(&mut self.batch, change) {
            Ok(()) => {
                self.entries += entries;
                self.waiting.push(done);
            }
            Err(error) => {
                // The part of the change that was added already must not be written either.
                (self.batch, self.entries) = (LogBatch::default(), 0);
                let reason = format!("the change does not fit the log format: {error}");
                done.complete(Err(LogError::Write(reason.clone())));
                for done in self.waiting.drain(..) {
                    done.complete(Err(LogError::Write(reason.clone())));
                }
            }
        }
    }

    fn commit(&mut self, shared: &LogState) {
        if self.waiting.is_empty() {
            return;
        }
        let entries = std::mem::take(&mut self.entries);
        let result = shared.write(&mut self.batch, self.waiting.len(), entries);
        if result.is_err() || self.batch.approximate_size() > GATHERED_BYTES {
            self.batch = LogBatch::default();
        }
        for done in self.waiting.drain(..) {
            done.complete(result.clone());
        }
    }
}

fn fill(batch: &mut LogBatch, change: Change) -> raft_engine::Result<()> {
    batch.add_entries::<Record>(change.group, &change.records)?;
    for (key, value) in change.facts {
        match value {
            Some(value) => batch.put(change.group, key, value)?,
            None => batch.delete(change.group, key),
        }
    }
    if let Some(index) = change.compact_to {
        batch.add_command(change.group, Command::Compact { index });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::log_id;

    #[test]
    fn a_panic_of_the_engine_is_damage_unless_the_disk_has_failed_it() {
        let of = |text: String| EnginePanic::of(&text);
        let hole = of("memtable 1 has a hole".to_owned());
        assert_eq!(hole, EnginePanic::Damage("the log engine panicked: memtable 1 has a hole".to_owned()));
        assert!(matches!(EnginePanic::of(&"attempt to overwrite compacted entries"), EnginePanic::Damage(_)));
        assert!(matches!(EnginePanic::of(&7), EnginePanic::Damage(_)));
        let failed = of("called `Result::unwrap()` on an `Err` value: Os { code: 5 }".to_owned());
        assert!(matches!(failed, EnginePanic::Disk(_)));
    }

    #[test]
    fn a_hole_is_damage_and_the_log_does_not_recover() {
        let directory = tempfile::tempdir().unwrap();
        let state = LogState::open(directory.path(), LogOptions::default()).unwrap();
        let write = |index| {
            let record = Record::new_of(log_id(1, 1, index), 0, bytes::Bytes::new());
            let change = Change { group: 1, records: vec![record], facts: Vec::new(), compact_to: None };
            let mut batch = LogBatch::default();
            fill(&mut batch, change).unwrap();
            state.write(&mut batch, 1, 1)
        };
        write(1).unwrap();
        let error = write(5).unwrap_err();
        assert!(matches!(&error, LogError::Write(reason) if reason.contains("has a hole")), "{error}");
        let error = state.recover().unwrap_err();
        assert!(matches!(&error, LogError::Damaged(reason) if reason.contains("has a hole")), "{error}");
    }
}
