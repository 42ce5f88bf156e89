//! Small files that are there as a whole or not at all, also after a power failure.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, in the place of one of the same name.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or_else(|| io::Error::other("a file must be in a directory"))?;
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(&temporary, path)?;
    File::open(directory)?.sync_all()
}
