//! The mark of a data directory that begins with the state of a backup.
//!
//! The log behind that state begins after its index: a replica that lacks the state, since its directory is empty, is
//! sent a snapshot, instead of entries that it would apply to nothing. So all brokers must begin with the same state.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::durable_file;

/// The name of the file. It is gone when the log says the same.
pub(crate) const FILE: &str = "restored.json";

/// The backup that a replica begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Number of the backup.
    pub backup_id: u64,
    /// When it was taken, Unix milliseconds: numbers may be given again.
    pub created_ms: i64,
    /// The log index as of which the state is.
    pub index: u64,
}

impl Restored {
    /// Reads the mark of a data directory, if it has one.
    pub fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        durable_file::read_json(&path(data_dir))
    }

    /// Marks a data directory.
    pub fn write(&self, data_dir: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        durable_file::write(&path(data_dir), &text)
    }

    /// Removes the mark: the log has begun.
    pub fn remove(data_dir: &Path) -> io::Result<()> {
        match std::fs::remove_file(path(data_dir)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| durable_file::sync(data_dir)),
        }
    }
}

/// Names what a broker begins with.
pub fn describe(restored: Option<&Restored>) -> impl fmt::Display {
    match restored {
        None => "no backup".to_owned(),
        Some(restored) => format!("backup {} as of log index {}", restored.backup_id, restored.index),
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}
