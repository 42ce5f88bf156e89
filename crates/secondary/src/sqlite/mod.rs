//! SQLite, embedded: one file, write-ahead log, one writer, a few readers.

mod answers;
mod cleaner;
mod copy;
pub(crate) mod dialect;
mod loader;
mod packed_search;
mod packing;
mod packs;
mod progress;
mod reader;
mod schema;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

pub use cleaner::SqliteCleaner;
pub use copy::{CopyError, SqliteCopy};
pub use loader::SqliteLoader;
pub use reader::SqliteReader;
pub use writer::SqliteWriter;

use packs::{PackCache, Packs};
use search::StoreError;

/// Pages of the write-ahead log that go to their place at once. The last page of each table and index changes with
/// every transaction; it goes there once for many of them.
const CHECKPOINT_PAGES: u32 = 1024;

/// How SQLite says that tables or columns are not there.
const MISSING: [&str; 2] = ["no such table", "no such column"];

/// Options of the embedded store.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The file; its directory must exist.
    pub path: PathBuf,
    /// Queries at once.
    pub readers: usize,
    /// How long a query may take.
    pub query_timeout: std::time::Duration,
    /// Memory for pages, for each connection.
    pub cache_bytes: u64,
    /// Time from one sync of what is written to the next. Rows that are not synced yet are written again after a
    /// loss of power.
    pub sync_interval: std::time::Duration,
    /// Number of the content, which changes when another takes its place. Locked while it is read or replaced.
    pub content: Arc<RwLock<u64>>,
}

impl SqliteOptions {
    /// The defaults, for a file.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            readers: 2,
            query_timeout: std::time::Duration::from_secs(10),
            cache_bytes: 16 * 1024 * 1024,
            sync_interval: std::time::Duration::from_secs(1),
            content: Arc::default(),
        }
    }

    /// The write-ahead log beside the file.
    fn log_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push("-wal");
        path.into()
    }

    /// A connection that changes rows.
    fn connect(&self) -> Result<Connection, StoreError> {
        let connection = Connection::open(&self.path).map_err(failed)?;
        let settings = [
            ("busy_timeout", "10000".to_owned()),
            // Before the next: it counts only for a file that is still empty.
            ("auto_vacuum", "INCREMENTAL".to_owned()),
            ("journal_mode", "WAL".to_owned()),
            ("synchronous", "FULL".to_owned()),
            ("wal_autocheckpoint", CHECKPOINT_PAGES.to_string()),
            ("journal_size_limit", (64 * 1024 * 1024).to_string()),
        ];
        set(&connection, &settings)?;
        self.set_up(&connection)?;
        Ok(connection)
    }

    /// A connection that changes nothing. It makes no file, and never waits for somebody who writes, as the settings of
    /// the file would.
    fn connect_to_read(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(failed)?;
        set(&connection, &[("busy_timeout", "10000".to_owned()), ("query_only", "true".to_owned())])?;
        self.set_up(&connection)?;
        Ok(connection)
    }

    fn set_up(&self, connection: &Connection) -> Result<(), StoreError> {
        let cache_size = format!("-{}", self.cache_bytes / 1024);
        set(connection, &[("cache_size", cache_size), ("temp_store", "MEMORY".to_owned())])?;
        connection.set_prepared_statement_cache_capacity(256);
        Ok(())
    }
}

/// Writes in a transaction. It has the right to from the start: one that reads first would fail if somebody else wrote
/// in between. If anything fails, the commit included, the cache may have packs that are not going to be, and others
/// get their IDs: it forgets all.
fn transact<T>(
    connection: &Connection,
    cache: &PackCache,
    work: impl FnOnce(Packs<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
    let done = transaction.map_err(failed).and_then(|transaction| {
        let done = work(Packs { connection: &transaction, cache })?;
        transaction.commit().map_err(failed)?;
        Ok(done)
    });
    if done.is_err() {
        cache.clear();
    }
    done
}

fn set(connection: &Connection, settings: &[(&str, String)]) -> Result<(), StoreError> {
    settings.iter().try_for_each(|(name, value)| connection.pragma_update(None, name, value)).map_err(failed)
}

/// The error for writers.
fn failed(error: Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => StoreError::too_slow(),
        Some(ErrorCode::NotADatabase | ErrorCode::SchemaChanged) => StoreError::Schema(error.to_string()),
        _ => StoreError::Unavailable(error.to_string()),
    }
}

/// The error for readers. Queries are made of names of the schema, so errors that SQLite does
/// not take of one is its shape or size, unless the schema is not there.
fn asked(error: Error) -> StoreError {
    let is_of_query = match error.sqlite_error_code() {
        Some(ErrorCode::Unknown) => {
            let text = error.to_string();
            !MISSING.iter().any(|missing| text.contains(missing))
        }
        Some(code) => matches!(
            code,
            ErrorCode::TooBig
                | ErrorCode::OutOfMemory
                | ErrorCode::ParameterOutOfRange
                | ErrorCode::TypeMismatch
                | ErrorCode::ApiMisuse
        ),
        // Of the library, about parameters and types of values.
        None => true,
    };
    if is_of_query { StoreError::Query(error.to_string()) } else { failed(error) }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn error(code: i32, text: &str) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()))
    }

    #[test]
    fn only_the_store_itself_is_away() {
        let of_query = [
            (ffi::SQLITE_ERROR, "Expression tree is too large (maximum depth 1000)"),
            (ffi::SQLITE_ERROR, "too many SQL variables"),
            (ffi::SQLITE_ERROR, "parser stack overflow"),
            (ffi::SQLITE_ERROR, "LIKE or GLOB pattern too complex"),
            (ffi::SQLITE_ERROR, "malformed JSON"),
            (ffi::SQLITE_TOOBIG, "string or blob too big"),
            (ffi::SQLITE_NOMEM, "out of memory"),
            (ffi::SQLITE_RANGE, "column index out of range"),
        ];
        for (code, text) in of_query {
            let told = asked(error(code, text));
            assert!(matches!(&told, StoreError::Query(reason) if reason.contains(text)), "{told:?}");
        }
        assert!(matches!(asked(Error::InvalidParameterCount(1, 2)), StoreError::Query(_)));
        let of_store = [
            (ffi::SQLITE_ERROR, "no such table: job"),
            (ffi::SQLITE_ERROR, "no such column: t0.state"),
            (ffi::SQLITE_BUSY, "database is locked"),
            (ffi::SQLITE_IOERR, "disk I/O error"),
            (ffi::SQLITE_CANTOPEN, "unable to open database file"),
            (ffi::SQLITE_CORRUPT, "database disk image is malformed"),
            (ffi::SQLITE_FULL, "database or disk is full"),
        ];
        for (code, text) in of_store {
            let told = asked(error(code, text));
            assert!(matches!(told, StoreError::Unavailable(_)), "{told:?}");
        }
        assert!(matches!(asked(error(ffi::SQLITE_NOTADB, "")), StoreError::Schema(_)));
        assert!(matches!(asked(error(ffi::SQLITE_INTERRUPT, "")), StoreError::TooSlow(_)));
    }
}
