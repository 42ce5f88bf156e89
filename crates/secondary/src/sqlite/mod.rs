//! SQLite, embedded: one file, write-ahead log, one writer, a few readers.

mod answers;
mod cleaner;
mod copy;
pub(crate) mod dialect;
mod error;
mod loader;
mod packed_search;
mod packing;
mod packs;
mod progress;
mod reader;
mod rows;
mod schema;
mod statements;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use cleaner::SqliteCleaner;
pub use copy::{CopyError, SqliteCopy, check_file};
pub use loader::SqliteLoader;
pub use reader::SqliteReader;
pub use writer::SqliteWriter;

use error::failed;
use packs::{PackCache, Packs};
use search::StoreError;

/// Pages of the write-ahead log that go to their place at once. The last page of each table and index changes with
/// every transaction; it goes there once for many of them.
const CHECKPOINT_PAGES: u32 = 1024;

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
    /// Held while a writer makes what is missing: those of several partitions open the file at the same time.
    pub opening: Arc<Mutex<()>>,
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
            opening: Arc::default(),
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
