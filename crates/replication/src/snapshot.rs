//! Snapshots of a state machine: their source, and their form inside openraft.

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
