//! Directories that outlive a power failure.

use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Creates a directory and those above it, each synced into the one above.
pub(crate) fn create(directory: &Path) -> Result<(), Error> {
    if directory.is_dir() {
        return Ok(());
    }
    let above = directory.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create(above)?;
    match std::fs::create_dir(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    sync(above)
}

/// Syncs the names in a directory.
pub(crate) fn sync(directory: &Path) -> Result<(), Error> {
    File::open(directory)?.sync_all()
}
