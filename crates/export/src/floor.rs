//! The position up to which records do not come again: the state on disk has them, and neither the log nor the spill
//! does. It is noted before each flush of the state, so that a target that was emptied or put back since can be told
//! from one that has everything, whatever the order of stop, removal and start.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::directory;

/// Flushes that are remembered: the one that a crash may have cut off, and the one before it.
const FLUSHES: usize = 2;

/// The records of a flushed state, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FlushNote {
    /// Position of the state.
    state: u64,
    /// Position of its last record.
    last: u64,
    /// Up to here, records were acknowledged by all exporters; those behind it were spilled.
    acknowledged: u64,
}

/// The file that keeps it. Absent means that nothing is known, as in directories of earlier releases.
#[derive(Debug)]
pub(crate) struct FloorFile {
    path: PathBuf,
    notes: VecDeque<FlushNote>,
}

impl FloorFile {
    pub fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join("floor.json");
        let notes = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => VecDeque::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, notes })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Position of the last record that does not come again to a state; 0 if that is not known. `has_spill`: whether
    /// records are in the spill.
    pub fn of(&self, state: u64, has_spill: bool) -> u64 {
        let note = self.notes.iter().rev().find(|note| note.state == state);
        note.map_or(0, |note| if has_spill { note.acknowledged.min(note.last) } else { note.last })
    }

    /// Notes, durably, what is known of a state before it is flushed.
    pub fn note(&mut self, state: u64, last: u64, acknowledged: u64) -> io::Result<()> {
        let note = FlushNote { state, last, acknowledged: acknowledged.min(last) };
        if self.notes.back() == Some(&note) {
            return Ok(());
        }
        let mut notes = self.notes.clone();
        // The state of a flush that failed is not on disk.
        notes.retain(|known| known.state != state);
        notes.push_back(note);
        while notes.len() > FLUSHES {
            notes.pop_front();
        }
        self.write(notes)
    }

    /// Spilled records up to a position are gone, since all exporters have acknowledged them.
    pub fn removed(&mut self, position: u64) -> io::Result<()> {
        if self.notes.iter().all(|note| note.acknowledged >= position.min(note.last)) {
            return Ok(());
        }
        let mut notes = self.notes.clone();
        for note in &mut notes {
            note.acknowledged = note.acknowledged.max(position.min(note.last));
        }
        self.write(notes)
    }

    fn write(&mut self, notes: VecDeque<FlushNote>) -> io::Result<()> {
        directory::write(&self.path, &serde_json::to_vec(&notes).map_err(io::Error::other)?)?;
        self.notes = notes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_on_disk_tells_which_note_counts() {
        let directory = tempfile::tempdir().unwrap();
        let mut floor = FloorFile::open(directory.path()).unwrap();
        assert_eq!(floor.of(9, false), 0, "nothing is known");
        floor.note(10, 8, 8).unwrap();
        floor.note(20, 19, 8).unwrap();
        let mut floor = FloorFile::open(directory.path()).unwrap();
        assert_eq!((floor.of(10, false), floor.of(15, false)), (8, 0), "the second flush was cut off");
        assert_eq!((floor.of(20, true), floor.of(20, false)), (8, 19));
        floor.removed(15).unwrap();
        assert_eq!(floor.of(20, true), 15);
        floor.note(30, 29, 40).unwrap();
        let floor = FloorFile::open(directory.path()).unwrap();
        assert_eq!((floor.of(10, false), floor.of(30, true)), (0, 29));
    }
}
