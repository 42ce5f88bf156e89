//! Room on the disk of a directory.

use std::path::Path;

/// Checks that a directory has room for so many bytes. An error says how much it has.
pub fn check_room(directory: &Path, bytes: u64) -> Result<(), String> {
    let found =
        rustix::fs::statvfs(directory).map_err(|error| format!("'{}': {error}", directory.display()))?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < bytes {
        return Err(format!("'{}' has {free} bytes free, the snapshot needs {bytes}", directory.display()));
    }
    Ok(())
}
