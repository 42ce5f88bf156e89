//! Snapshots of a state machine: their source, and their form inside openraft.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

/// Why a snapshot could not be taken or installed.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The state machine does not know how.
    #[error("this state machine has no snapshots")]
    Unsupported,
    /// Reading or writing the snapshot failed.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
    /// The snapshot stands in the place of the state, but may not outlive a crash. The state machine is at its end.
    #[error("a snapshot was put in the place of the state, but not made sure of: {0}")]
    Unsure(Box<dyn Error + Send + Sync>),
}

/// A consistent view of the durable state, to be written out while entries go on being applied.
pub trait SnapshotSource: Send {
    /// The log index up to which the view includes every entry.
    fn index(&self) -> u64;

    /// Writes the view to a new file at `target`. Called once, on a thread that may block.
    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError>;
}

/// Finds out whether a file is a whole snapshot as of a log index, and changes nothing. It may block, and is called on
/// any thread, while entries are applied.
pub type SnapshotCheck = Arc<dyn Fn(u64, &Path) -> Result<(), SnapshotError> + Send + Sync>;

/// A snapshot inside openraft.
pub(crate) enum SnapshotData {
    /// The state machine's durable state itself: there is nothing to copy unless a follower asks.
    Durable,
    /// A view to be written out by the transport.
    Source(Mutex<Option<Box<dyn SnapshotSource>>>),
    /// A file, received or to be received.
    File(PathBuf),
}

impl fmt::Debug for SnapshotData {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Durable => out.write_str("Durable"),
            Self::Source(_) => out.write_str("Source"),
            Self::File(path) => out.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Snapshots that are sent to other replicas: the log behind each of them stays until it has arrived.
#[derive(Clone, Default)]
pub(crate) struct LogHolds(Arc<Mutex<HeldIndexes>>);

#[derive(Default)]
struct HeldIndexes {
    next: u64,
    indexes: BTreeMap<u64, u64>,
}

/// Keeps the log behind an index while it lives.
pub(crate) struct LogHold {
    holds: LogHolds,
    number: u64,
}

impl LogHolds {
    /// Keeps the log behind `index`.
    pub(crate) fn hold(&self, index: u64) -> LogHold {
        let mut held = self.0.lock();
        let number = held.next;
        held.next += 1;
        held.indexes.insert(number, index);
        LogHold { holds: self.clone(), number }
    }

    /// Index up to which the log is held by nobody.
    pub(crate) fn not_held(&self) -> u64 {
        self.0.lock().indexes.values().min().copied().unwrap_or(u64::MAX)
    }
}

impl Drop for LogHold {
    fn drop(&mut self) {
        self.holds.0.lock().indexes.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_held_from_the_earliest_snapshot_on() {
        let holds = LogHolds::default();
        assert_eq!(holds.not_held(), u64::MAX);
        let (later, earlier) = (holds.hold(20), holds.hold(10));
        assert_eq!(holds.not_held(), 10);
        drop(earlier);
        assert_eq!(holds.not_held(), 20);
        drop(later);
        assert_eq!(holds.not_held(), u64::MAX);
    }
}
