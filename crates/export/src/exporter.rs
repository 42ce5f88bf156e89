//! The interface of exporters.

use std::path::{Path, PathBuf};

use protocol::Record;

/// Takes records to another system. Everything is called on one thread that belongs to this exporter alone, so it may
/// block; while it does, its backlog grows, and nothing else happens.
pub trait Exporter: Send {
    /// Name under which its position is kept. Never changes.
    fn id(&self) -> &str;

    /// Makes ready; called first, and again after an error or a panic of any method, when nothing that was exported
    /// but not flushed counts. `acknowledged` is the position up to which the partition knows it to be done.
    ///
    /// Returns the position after which to go on: `acknowledged`, or a later one that the exporter knows by itself to
    /// have stored durably.
    fn open(&mut self, acknowledged: u64) -> Result<u64, ExportError>;

    /// Takes records, in the order of their positions. After a failure, records come again.
    fn export(&mut self, records: &[Record]) -> Result<(), ExportError>;

    /// A record that comes after all that were taken is parked: it does not come again in order.
    fn pass_over(&mut self, _position: u64) {}

    /// Takes a record that was refused before, out of order, and makes it durable. Everything that was taken in order
    /// is flushed.
    fn replay(&mut self, record: &Record) -> Result<(), ExportError>;

    /// Hands on what it took, and returns the position up to which everything is durable: these records never
    /// come again. May be less than the last position taken; then it is called again.
    fn flush(&mut self, flush: Flush) -> Result<u64, ExportError>;
}

/// The purpose of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Work that is cheaper in bulk may be left for a later one.
    Usual,
    /// Records that wait take too much memory: nearly all of them become durable now.
    Crowded,
    /// Everything becomes visible to searches now, durable or not.
    Shown,
    /// Everything becomes durable now: somebody waits for it.
    Whole,
}

impl Flush {
    /// The flush for what is the case: everything is awaited, somebody looks, memory is short.
    pub(crate) const fn of(is_awaited: bool, is_hastened: bool, is_crowded: bool) -> Self {
        match (is_hastened, is_crowded) {
            _ if is_awaited => Self::Whole,
            (true, true) => Self::Whole,
            (true, false) => Self::Shown,
            (false, true) => Self::Crowded,
            (false, false) => Self::Usual,
        }
    }

    /// Whether records may be left for a later flush.
    pub const fn may_leave(self) -> bool {
        matches!(self, Self::Usual | Self::Crowded)
    }

    /// Whether what is written becomes durable at once.
    pub const fn is_durable(self) -> bool {
        matches!(self, Self::Crowded | Self::Whole)
    }
}

/// Why an exporter could not do its work now. It is tried again, forever; only a record that is refused again and again
/// is parked in the end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file or directory.
    #[error("'{path}': {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// One record cannot be exported, while the other system works: it does not fit the format, or is refused.
    #[error("record at position {position}: {reason}")]
    Record {
        /// Position of the record.
        position: u64,
        /// Why.
        reason: String,
    },
    /// It took too much at once to tell which record is refused: it wants all that is not flushed again, at once,
    /// and will look closer.
    #[error("among several records, one is refused: {0}")]
    Closer(String),
    /// The other system cannot be reached, or does not work.
    #[error("{0}")]
    Target(String),
    /// Records that were spilled cannot be read back.
    #[error(transparent)]
    Spill(#[from] crate::SpillError),
}

impl ExportError {
    /// Adds the path to an error of the file system.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
