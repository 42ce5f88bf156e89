//! The position up to which records did not come here, since a snapshot took the place of the state. It is kept over
//! restarts.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::directory;

/// The file that keeps it. Absent means none.
#[derive(Debug)]
pub(crate) struct MissingFile(PathBuf);

impl MissingFile {
    pub fn new(directory: &Path) -> Self {
        Self(directory.join("missing"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn read(&self) -> io::Result<u64> {
        match std::fs::read_to_string(&self.0) {
            Ok(text) => text.trim().parse().map_err(|error| io::Error::new(ErrorKind::InvalidData, error)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    pub fn write(&self, position: u64) -> io::Result<()> {
        directory::write(&self.0, format!("{position}\n").as_bytes())
    }
}
