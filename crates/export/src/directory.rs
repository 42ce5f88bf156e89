//! Directories that outlive a power failure.

use std::fs::File;
use std::io::{Error, ErrorKind, Write as _};
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

/// Writes a small file in the place of the one before: it is there as a whole or not at all.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    let scratch = path.with_extension("new");
    let mut file = File::create(&scratch)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&scratch, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Syncs the names in a directory.
pub(crate) fn sync(directory: &Path) -> Result<(), Error> {
    File::open(directory)?.sync_all()
}
