//! Records on disk, for exporters that lag: segment files of frames, oldest first.
//!
//! `write` appends and syncs, `read` reads back, `open` finds out what a stop or a crash has left. A segment is
//! named by the position of its first record and removed when every exporter has acknowledged its last.

mod frame;
mod open;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use open::open;
pub(crate) use read::SpillReader;
pub(crate) use write::SpillWriter;

/// The ending of segment files.
const EXTENSION: &str = "spill";

/// Why records cannot be spilled, or read back.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// A file or directory.
    #[error("spill of records '{path}': {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not as it was written. The records in it are lost; the file must be removed by hand for exporting to
    /// go on without them, at the next start.
    #[error("spill of records '{path}' is damaged at byte {offset}")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
}

impl SpillError {
    /// Adds the path to an error of the file system.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// The durable part of one segment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub path: Arc<Path>,
    /// Position of the first record, and its name.
    pub first: u64,
    /// Position of the last record.
    pub last: u64,
    /// Length as far as it is valid.
    pub bytes: u64,
    pub records: u64,
    /// Number of the first record since the stream was opened.
    pub ordinal: u64,
    /// When the first record came, Unix milliseconds.
    pub oldest_ms: u64,
}

fn segment_path(directory: &Path, first: u64) -> PathBuf {
    directory.join(format!("{first:020}.{EXTENSION}"))
}
