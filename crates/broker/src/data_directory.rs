//! Places in a data directory.

use std::path::{Path, PathBuf};

/// The state of the partition in a data directory.
pub(crate) fn state_file(data_dir: &Path) -> PathBuf {
    data_dir.join("state").join("partition-1.redb")
}

pub(crate) fn log_directory(data_dir: &Path) -> PathBuf {
    data_dir.join("log")
}
