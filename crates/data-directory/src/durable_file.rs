//! Small files that are there as a whole or not at all, also after a power failure.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::de::DeserializeOwned;

/// Writes a file, in the place of one of the same name.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or_else(|| io::Error::other("a file must be in a directory"))?;
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    may_end_here();
    let (first, rest) = content.split_at(content.len() / 2);
    file.write_all(first)?;
    may_end_here();
    file.write_all(rest)?;
    may_end_here();
    file.sync_all()?;
    drop(file);
    may_end_here();
    std::fs::rename(&temporary, path)?;
    may_end_here();
    sync(directory)?;
    may_end_here();
    Ok(())
}

/// Reads a file of JSON; `None` if it is not there. An error names the file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let named = |error: &dyn std::fmt::Display| io::Error::other(format!("'{}': {error}", path.display()));
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| named(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(&error)),
    }
}

/// Makes the names in a directory last.
pub fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// In a build for tests, the program ends here as if it were killed, if the number of this step is in the variable.
pub fn may_end_here() {
    static STEPS: AtomicU32 = AtomicU32::new(0);
    if !cfg!(debug_assertions) {
        return;
    }
    let step = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    if std::env::var("END_BATON_AT_WRITE").is_ok_and(|wanted| wanted == step.to_string()) {
        std::process::abort();
    }
}
