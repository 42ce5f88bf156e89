//! The machine, in a line, and whether there is room on it.

use std::path::Path;

use crate::error::LabError;

/// Room that a run may need, bytes.
const ROOM_QUICK_BYTES: u64 = 1 << 30;
const ROOM_FULL_BYTES: u64 = 8 << 30;

/// Fails when there is too little room.
pub(crate) fn check_room(directory: &Path, is_quick: bool) -> Result<(), LabError> {
    let needed = if is_quick { ROOM_QUICK_BYTES } else { ROOM_FULL_BYTES };
    let place = directory.display();
    let usage = rustix::fs::statvfs(directory)
        .map_err(|error| LabError::environment(&format!("look at the disk of {place}"), error))?;
    let free = usage.f_bavail * usage.f_frsize;
    if free < needed {
        return Err(LabError::Environment(format!(
            "{place} has {} free, a run may need {}; --out names another place",
            bench::bytes(free as f64),
            bench::bytes(needed as f64)
        )));
    }
    Ok(())
}
