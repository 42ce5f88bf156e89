//! The errors of this crate.

#![expect(missing_docs, reason = "names say what is held")]

use std::io;

/// Errors of the state. This crate never panics because of a disk or of the bytes on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A file operation outside the database failed.
    #[error("cannot {action} {path}: {source}")]
    File { action: &'static str, path: String, source: io::Error },
    /// Another process, another [`Store`](crate::Store) of this one, or other tables on the same store are at it.
    #[error("state database {path} is already open")]
    AlreadyOpen { path: String },
    /// The file is something else than a state database.
    #[error("{path} is not a state database: {reason}")]
    Foreign {
        path: String,
        /// Why it was not recognised.
        reason: String,
    },
    /// The database has another format than this version reads.
    #[error("state database {path} has format {found}, this version reads format {expected}")]
    Format {
        path: String,
        /// The format in the file.
        found: u64,
        /// The format of this version.
        expected: u64,
    },
    /// The database contradicts itself.
    #[error("state database {path} is damaged: {reason}")]
    Damaged { path: String, reason: String },
    /// The database has a table that this version does not know.
    #[error("state database {path} holds table {number}, which this version does not know")]
    UnknownTable {
        path: String,
        /// The number of the table.
        number: u32,
    },
    /// The database could not be read or written.
    #[error("cannot {action} state database {path}: {source}")]
    Database { path: String, action: &'static str, source: Box<redb::Error> },
    /// A row could not be read or written.
    #[error("cannot {action} table {table} at key 0x{key}: {source}")]
    Row {
        table: &'static str,
        /// The encoded key in hexadecimal; empty when the whole table is meant.
        key: String,
        action: &'static str,
        source: Box<redb::Error>,
    },
    /// The bytes of a row are not what its table holds.
    #[error("corrupt row in table {table} at key 0x{key}: {reason}")]
    Corrupt {
        table: &'static str,
        /// The encoded key in hexadecimal.
        key: String,
        reason: String,
    },
    /// Bytes could not be decoded; tables turn this into [`StateError::Corrupt`].
    #[error("cannot decode: {0}")]
    Decode(String),
    /// A row is whole, but this release can do nothing with its content. The rest of the state is not concerned.
    #[error("{0}")]
    Unusable(String),
    /// A flush is still under way.
    #[error("the previous flush has not ended")]
    FlushPending,
    /// The outcome is not the one of the flush under way.
    #[error("no flush up to log index {0} is under way")]
    NoSuchFlush(u64),
    /// Not allowed between `begin` and `commit`.
    #[error("not allowed while a command is being applied")]
    InsideCommand,
    /// The log index lies before the one on disk.
    #[error("log index {given} lies before the flushed index {flushed}")]
    IndexWentBack {
        given: u64,
        /// The index on disk.
        flushed: u64,
    },
    /// A snapshot could not be written out.
    #[error("cannot write the snapshot: {0}")]
    SnapshotWrite(#[source] io::Error),
    /// A snapshot could not be read in.
    #[error("cannot read the snapshot: {0}")]
    SnapshotRead(#[source] io::Error),
    /// The snapshot is damaged, cut short or something else.
    #[error("not a valid snapshot: {0}")]
    SnapshotInvalid(String),
    /// A snapshot is restored into an empty place only.
    #[error("{path} is not empty: a snapshot is restored into an empty place only")]
    NotEmpty { path: String },
}

impl StateError {
    /// Whether the file contradicts itself: to open it again is no use.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Foreign { .. } | Self::Damaged { .. } | Self::Corrupt { .. } => true,
            Self::Database { source, .. } | Self::Row { source, .. } => {
                matches!(source.as_ref(), redb::Error::Corrupted(_))
            }
            _ => false,
        }
    }

    /// Whether the disk is full, which ends by itself once somebody makes room.
    pub fn is_disk_full(&self) -> bool {
        let io = match self {
            Self::File { source, .. } | Self::SnapshotWrite(source) => source,
            Self::Database { source, .. } | Self::Row { source, .. } => match source.as_ref() {
                redb::Error::Io(source) => source,
                _ => return false,
            },
            _ => return false,
        };
        matches!(io.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

/// Whether this error latched the database handle, so that only opening it anew helps.
pub(crate) fn is_latched(error: &redb::Error) -> bool {
    matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo | redb::Error::DatabaseClosed)
}

/// A key as it appears in messages.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    /// A longer key is cut in messages.
    const HEX_BYTES_MAX: usize = 64;
    let mut text = String::with_capacity(2 * bytes.len().min(HEX_BYTES_MAX) + 3);
    for byte in &bytes[..bytes.len().min(HEX_BYTES_MAX)] {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > HEX_BYTES_MAX {
        text.push_str("...");
    }
    text
}
