//! Snapshots of a partition's state: written for other replicas, checked on arrival, and brought into a state file.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Engine;
use replication::{SnapshotCheck, SnapshotError, SnapshotSource};
use state::{Replacement, Snapshot, Store};

use crate::data_directory::state_file;
use crate::durable_file;
use crate::metric_definitions::snapshot_pinned;
use crate::opening::{engine_options, store_options};
use crate::options::Options;
use crate::snapshot_transfer::check_room;
use crate::synced_file::SyncedFile;

/// The place of a partition's state, and how it is opened.
#[derive(Clone)]
pub(crate) struct StatePlace {
    pub data_dir: PathBuf,
    pub file: PathBuf,
    pub store: state::Options,
    pub engine: engine::Options,
}

pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SnapshotError {
    SnapshotError::Failed(Box::new(error))
}

impl StatePlace {
    pub fn of(options: &Options) -> Self {
        Self {
            data_dir: options.data_dir.clone(),
            file: state_file(&options.data_dir),
            store: store_options(options),
            engine: engine_options(options),
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

    /// Makes it last that the state file is another one.
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
pub(crate) struct StateView {
    snapshot: Snapshot,
    since: Instant,
}

impl StateView {
    pub fn new(snapshot: Snapshot) -> Self {
        Self { snapshot, since: Instant::now() }
    }
}

/// Speed of a copy, which leaves the disk to others for a while.
const COPY_BYTES_PER_SECOND: u64 = 64 << 20;

/// A copy of a view, as long as that may take.
struct BoundedCopy {
    file: SyncedFile,
    since: Instant,
    time_max: Duration,
    began: Instant,
    written: u64,
}

impl Write for BoundedCopy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let pinned = self.since.elapsed();
        snapshot_pinned(pinned);
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
            time_max: COPY_TIME_MAX,
            began: Instant::now(),
            written: 0,
        };
        let written = self.snapshot.write(&mut copy).map_err(failed);
        snapshot_pinned(self.since.elapsed());
        // Nothing is pinned any more.
        drop(self.snapshot);
        written?;
        copy.file.finish().map_err(failed)
    }
}

#[cfg(test)]
mod tests;
