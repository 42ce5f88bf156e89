//! Snapshots of a partition's state: written for other replicas, checked on arrival, and brought into a state file.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Engine;
use metrics::Gauge;
use protocol::PartitionId;
use replication::{SnapshotCheck, SnapshotError, SnapshotSource};
use state::{Replacement, Snapshot, Store};

use crate::metric_definitions::snapshot_pinned;
use crate::options::PartitionOptions;
use data_directory::durable_file;
use data_directory::state_file;
use data_directory::{SyncedFile, check_room};

/// The place of a partition's state, and how it is opened.
#[derive(Clone)]
pub(crate) struct StatePlace {
    pub file: PathBuf,
    pub store: state::Options,
    pub engine: engine::Options,
}

pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SnapshotError {
    SnapshotError::Failed(Box::new(error))
}

impl StatePlace {
    pub fn of(options: &PartitionOptions) -> Self {
        Self {
            file: state_file(&options.data_dir, options.number),
            store: options.store(),
            engine: options.engine(),
        }
    }

    /// Builds the state of a snapshot beside that which is there, with an engine on it.
    pub fn prepare(&self, index: u64, source: &Path) -> Result<(Replacement, Engine), SnapshotError> {
        let source = BufReader::new(File::open(source).map_err(failed)?);
        let replacement =
            Store::prepare_replacement(&self.file, source, self.store.clone()).map_err(failed)?;
        expect(index, replacement.applied_index())?;
        let engine = Engine::open(replacement.store(), self.engine.clone()).map_err(failed)?;
        Ok((replacement, engine))
    }

    /// Syncs the directory, so that the new state file survives a crash.
    pub fn sync(&self) -> io::Result<()> {
        durable_file::sync(self.file.parent().unwrap_or(Path::new(".")))
    }
}

fn expect(index: u64, found: u64) -> Result<(), SnapshotError> {
    if index == found {
        return Ok(());
    }
    Err(failed(io::Error::other(format!("the snapshot is as of entry {found}, not {index}"))))
}

/// Reads a whole snapshot.
pub(crate) fn check() -> SnapshotCheck {
    Arc::new(|index, source| {
        let source = BufReader::new(File::open(source).map_err(failed)?);
        expect(index, Store::check_snapshot(source).map_err(failed)?)
    })
}

/// Time for which a view may keep space in the state file while it is written out.
const COPY_TIME_MAX: Duration = Duration::from_secs(600);

/// The state as of a flush. It keeps space in the state file.
pub struct StateView {
    snapshot: Snapshot,
    since: Instant,
    pinned: Gauge,
}

impl StateView {
    /// Of a snapshot of a partition that was taken now.
    pub fn new(partition: PartitionId, snapshot: Snapshot) -> Self {
        Self { snapshot, since: Instant::now(), pinned: snapshot_pinned(partition) }
    }
}

/// Bytes per second of a copy, which leaves the disk to others for a while.
const COPY_BYTES_PER_SECOND: u64 = 64 << 20;

/// A copy of a view, as long as that may take.
struct BoundedCopy {
    file: SyncedFile,
    since: Instant,
    pinned: Gauge,
    time_max: Duration,
    began: Instant,
    written: u64,
}

impl Write for BoundedCopy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let pinned = self.since.elapsed();
        self.pinned.set(pinned.as_secs_f64());
        if pinned > self.time_max {
            let text = format!("the copy of the state takes longer than {} s", self.time_max.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        let len = self.file.write(bytes)?;
        self.written += len as u64;
        if self.file.is_synced() {
            let due = Duration::from_secs_f64(self.written as f64 / COPY_BYTES_PER_SECOND as f64);
            std::thread::sleep(due.saturating_sub(self.began.elapsed()));
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl SnapshotSource for StateView {
    fn index(&self) -> u64 {
        self.snapshot.applied_index()
    }

    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError> {
        // A copy has at most the rows of the state file.
        let bytes_max = std::fs::metadata(self.snapshot.path()).map_or(0, |file| file.len());
        let directory = target.parent().unwrap_or(Path::new("."));
        check_room(directory, bytes_max).map_err(|reason| failed(io::Error::other(reason)))?;
        let mut copy = BoundedCopy {
            file: SyncedFile::new(File::create(target).map_err(failed)?),
            since: self.since,
            pinned: self.pinned.clone(),
            time_max: COPY_TIME_MAX,
            began: Instant::now(),
            written: 0,
        };
        let written = self.snapshot.write(&mut copy).map_err(failed);
        self.pinned.set(self.since.elapsed().as_secs_f64());
        // Nothing is pinned any more.
        drop(self.snapshot);
        written?;
        copy.file.finish().map_err(failed)
    }
}

#[cfg(test)]
mod tests;
