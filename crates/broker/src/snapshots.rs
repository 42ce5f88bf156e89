//! Snapshots of a partition's state: written for other replicas, checked on arrival, and brought into a state file.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Engine;
use replication::{SnapshotCheck, SnapshotError, SnapshotSource};
use state::{Replacement, Snapshot, Store};

use crate::data_directory::state_file;
use crate::durable_file;
use crate::opening::{engine_options, store_options};
use crate::options::Options;

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
    pub fn of(options: &Options) -> Self {
        Self {
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

/// The state as of a flush.
pub(crate) struct StateView(pub Snapshot);

impl SnapshotSource for StateView {
    fn index(&self) -> u64 {
        self.0.applied_index()
    }

    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError> {
        let file = File::create(target).map_err(failed)?;
        self.0.write(&file).map_err(failed)?;
        file.sync_all().map_err(failed)
    }
}

#[cfg(test)]
mod tests;
