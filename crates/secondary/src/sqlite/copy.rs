//! A copy of the file, page for page, of one moment, beside those who write.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use protocol::PartitionId;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Error, OpenFlags, Transaction, TransactionBehavior};
use search::StoreError;

use super::SqliteOptions;
use super::error::failed;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// A copy of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteCopy {
    /// Its size.
    pub bytes: u64,
    /// Of each partition, the position up to which the copy has everything.
    pub positions: Vec<(PartitionId, u64)>,
}

/// The reason why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The file that is copied.
    #[error("the history cannot be read: {0}")]
    Source(#[from] StoreError),
    /// The copy.
    #[error("'{path}' cannot be written: {source}")]
    Target {
        /// The file that is being made.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl SqliteOptions {
    /// Copies the file as of one moment, while others write to it; they go on, and the write-ahead log grows until
    /// the copy ends. The target must not exist; it is there, whole and synced, or not at all. The copy of a file that
    /// nobody has open is the same, byte for byte.
    pub fn copy(&self, target: &Path) -> Result<SqliteCopy, CopyError> {
        let of = |path: &Path| {
            let path = path.to_owned();
            move |source| CopyError::Target { path, source }
        };
        // So that no writer's file is made where there is none.
        fs::metadata(&self.path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        if target.try_exists().map_err(of(target))? {
            return Err(of(target)(io::ErrorKind::AlreadyExists.into()));
        }
        let connection = self.connect_to_read()?;
        let part = with_suffix(target, ".part");
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).open(&part).map_err(of(&part))?;
        let copied = write(&connection, file).map_err(|error| match error {
            PagesError::Source(error) => CopyError::Source(failed(error)),
            PagesError::Target(error) => of(&part)(error),
        });
        let named = copied.and_then(|copy| {
            // Unlike a rename, this replaces no file that was made meanwhile.
            fs::hard_link(&part, target).map_err(of(target))?;
            Ok(copy)
        });
        fs::remove_file(&part).map_err(of(&part))?;
        sync_directory(target).map_err(of(target))?;
        named
    }
}

/// Checks a file that nobody else has open: all of its pages and indexes, and that it is one of this store.
pub fn check_file(path: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let check: String =
        connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if check != "ok" {
        return Err(StoreError::Schema(check));
    }
    connection.query_row("SELECT count(*) FROM progress", [], |_| Ok(())).map_err(failed)
}

impl SqliteOptions {
    /// Has the content of a copy take the place of that of the file, in one transaction: those who read it see the one
    /// or the other.
    pub(super) fn replace(&self, copy: &Path) -> Result<(), StoreError> {
        let source = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
        let check: String =
            source.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if check != "ok" {
            return Err(StoreError::Schema(format!("'{}' is damaged: {check}", copy.display())));
        }
        // Packs of the two have the same numbers.
        let mut content = self.content.write();
        let mut target = self.connect()?;
        let backup = Backup::new(&source, &mut target).map_err(failed)?;
        let step = backup.step(-1).map_err(failed)?;
        if step != StepResult::Done {
            return Err(StoreError::Unavailable("the store is in use".to_owned()));
        }
        *content += 1;
        Ok(())
    }
}

enum PagesError {
    Source(Error),
    Target(io::Error),
}

impl From<Error> for PagesError {
    fn from(error: Error) -> Self {
        Self::Source(error)
    }
}

impl From<io::Error> for PagesError {
    fn from(error: io::Error) -> Self {
        Self::Target(error)
    }
}

/// Writes all pages of the moment at which it begins.
fn write(connection: &Connection, file: File) -> Result<SqliteCopy, PagesError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    let mut statement = transaction.prepare("SELECT partition, position FROM progress ORDER BY partition")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
    let positions = rows.collect::<Result<_, _>>()?;
    let mut target = BufWriter::with_capacity(BUFFER_BYTES, file);
    let mut statement = transaction.prepare("SELECT pgno, data FROM sqlite_dbpage('main') ORDER BY pgno")?;
    let mut pages = statement.query([])?;
    let (mut bytes, mut number) = (0, 0_u64);
    while let Some(page) = pages.next()? {
        number += 1;
        assert_eq!(page.get::<_, i64>(0)?.cast_unsigned(), number, "pages follow one another");
        let data = page.get_ref(1)?.as_blob().map_err(Error::from)?;
        target.write_all(data)?;
        bytes += data.len() as u64;
    }
    target.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(SqliteCopy { bytes, positions })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn sync_directory(file: &Path) -> io::Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
