//! The database file: opening, reopening after an error, and what all tables share.

use std::{
    any::Any,
    fs::{File, OpenOptions},
    io,
    ops::{Bound, Deref},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, MutexGuard, RwLock};
use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageBackend, TableDefinition, TableError, TableHandle, WriteTransaction,
    backends::{FileBackend, InMemoryBackend},
};

use crate::{StateError, backend::Gate, cache::CleanCache, error::is_latched};

/// The format of the tables inside the database; raised when older versions could not read it.
pub(crate) const FORMAT: u64 = 1;
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const META_FORMAT: &str = "format";
const META_APPLIED: &str = "applied_index";
/// Counts the flushes, so that the outcome of one that failed at its very end can be told.
const META_FLUSHES: &str = "flushes";
/// The first bytes of every redb file.
const REDB_MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";
/// The path of a database under construction ends with this.
const UNFINISHED_SUFFIX: &str = ".unfinished";

/// A table as redb sees it: bytes to bytes.
pub(crate) type RawTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// Sizes, in bytes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Pages that redb keeps in memory, clean and dirty together.
    pub page_cache_bytes: usize,
    /// Decoded values that are as on disk. 0 for none.
    pub clean_cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { page_cache_bytes: 16 << 20, clean_cache_bytes: 16 << 20 }
    }
}

/// A database file. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Store(Arc<StoreState>);

#[derive(Debug)]
struct StoreState {
    path: String,
    options: Options,
    storage: Arc<dyn StorageBackend>,
    opening: RwLock<Opening>,
    /// Held by a flush from its first to its last write, and while the database is opened anew.
    writer: Mutex<()>,
    /// Whether tables are open on it.
    claimed: AtomicBool,
    cache: CleanCache,
}

/// The right to have tables open on a store: two sets of them would not see what the other one writes.
#[derive(Debug)]
pub(crate) struct Claim(Store);

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.0.claimed.store(false, Ordering::Release);
    }
}

/// One opening of the database.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    pub(crate) database: Arc<OpenDatabase>,
    pub(crate) generation: u64,
    gate: Gate,
}

/// A database whose closing does not panic. redb writes when it closes, and may give up on damaged pages.
#[derive(Debug)]
pub(crate) struct OpenDatabase(Option<Database>);

impl Deref for OpenDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("only dropping takes the database out")
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        let database = self.0.take();
        // A failure has no reader any more; the next opening finds the damage. The next opening finds the damage.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(database)));
    }
}

impl Opening {
    /// Begins the only write transaction. Its commit is durable and leaves nothing to repair after a crash: pages are
    /// synced before the header points to them, and the allocator's state goes with them.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction, redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_quick_repair(true);
        Ok(transaction)
    }
}

/// One table as of one commit.
pub struct View {
    pub(crate) generation: u64,
    /// How many flushes the commit includes.
    pub(crate) flushes: u64,
    pub(crate) rows: u64,
    /// The first and the last encoded key.
    pub(crate) ends: Option<(Vec<u8>, Vec<u8>)>,
    /// `None` when it holds no rows.
    pub(crate) table: Option<RawTable>,
}

impl std::fmt::Debug for View {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("View").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The name in redb of the table with that number.
pub(crate) fn table_name(number: u32) -> String {
    format!("t{number}")
}

/// The table of that name in redb.
pub(crate) fn definition(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

/// Runs database code. On damaged pages that code may panic; that becomes an error here.
pub(crate) fn guarded<T, E: From<redb::StorageError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let reason = panic_text(panic.as_ref());
        Err(redb::StorageError::Corrupted(format!("reading gave up: {reason}")).into())
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

impl Store {
    /// Opens the database file at `path`, or creates it. Parent folders must exist.
    pub fn open(path: &Path, options: Options) -> Result<Self, StateError> {
        let there = match std::fs::metadata(path) {
            Ok(metadata) => metadata.len() > 0,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => {
                return Err(StateError::File { action: "open", path: path.display().to_string(), source });
            }
        };
        if !there {
            build(path, |storage| Self::with_backend(storage, options.clone()).map(drop))?;
        }
        let storage = open_file(path, OpenOptions::new().read(true).write(true))?;
        Self::assemble(storage, path.display().to_string(), options)
    }

    /// A database that lives in memory and ends with its last handle.
    pub fn in_memory(options: Options) -> Result<Self, StateError> {
        Self::with_backend(Arc::new(InMemoryBackend::new()), options)
    }

    /// A database on any storage, for simulated disks. The caller keeps others from opening it meanwhile.
    pub fn with_backend(storage: Arc<dyn StorageBackend>, options: Options) -> Result<Self, StateError> {
        Self::assemble(storage, "(storage)".to_owned(), options)
    }

    fn assemble(
        storage: Arc<dyn StorageBackend>,
        path: String,
        options: Options,
    ) -> Result<Self, StateError> {
        let fresh = inspect(storage.as_ref(), &path)?;
        let opening = open_database(&storage, &options, 0).map_err(|source| opening_error(&path, source))?;
        let cache = CleanCache::new(options.clean_cache_bytes);
        let (writer, opening) = (Mutex::new(()), RwLock::new(opening));
        let claimed = AtomicBool::new(false);
        let store = Self(Arc::new(StoreState { path, options, storage, opening, writer, claimed, cache }));
        if fresh {
            store.initialise()?;
        }
        store.check_format()?;
        Ok(store)
    }

    fn initialise(&self) -> Result<(), StateError> {
        let result = guarded(|| -> Result<(), redb::Error> {
            let transaction = self.opening().begin_write()?;
            transaction.open_table(META)?.insert(META_FORMAT, FORMAT)?;
            write_applied(&transaction, 0)?;
            Ok(transaction.commit()?)
        });
        result.map_err(|source| self.error("initialise", source))
    }

    fn check_format(&self) -> Result<(), StateError> {
        let found = guarded(|| -> Result<_, redb::Error> {
            read_meta(&self.opening().database.begin_read()?, META_FORMAT)
        })
        .map_err(|source| opening_error(&self.0.path, source))?;
        match found {
            Some(FORMAT) => Ok(()),
            Some(found) => Err(StateError::Format { path: self.0.path.clone(), found, expected: FORMAT }),
            None => {
                let reason = "a redb database of another program".to_owned();
                Err(StateError::Foreign { path: self.0.path.clone(), reason })
            }
        }
    }

    pub(crate) fn cache(&self) -> &CleanCache {
        &self.0.cache
    }

    /// Makes the caller the only one to have tables open here, until it lets go.
    pub(crate) fn claim(&self) -> Result<Claim, StateError> {
        if self.0.claimed.swap(true, Ordering::AcqRel) {
            return Err(StateError::AlreadyOpen { path: self.0.path.clone() });
        }
        Ok(Claim(self.clone()))
    }

    pub(crate) fn path(&self) -> &str {
        &self.0.path
    }

    /// Bytes of decoded values held as clean copies of the disk, by estimate.
    pub fn clean_cache_bytes(&self) -> u64 {
        self.0.cache.bytes()
    }

    /// Bytes of the database on disk.
    pub fn disk_bytes(&self) -> Result<u64, StateError> {
        self.0.storage.len().map_err(|source| self.error("measure", source.into()))
    }

    /// Reads every page and compares it with its checksum. Takes time in proportion to the database, and fails while
    /// any table is open on it.
    pub fn verify(self) -> Result<(), StateError> {
        let path = self.0.path.clone();
        let damaged = |reason: String| StateError::Damaged { path: path.clone(), reason };
        let inner =
            Arc::try_unwrap(self.0).map_err(|_| damaged("still in use, cannot be verified".to_owned()))?;
        let opening = inner.opening.into_inner();
        let mut database = Arc::try_unwrap(opening.database)
            .map_err(|_| damaged("still in use, cannot be verified".to_owned()))?;
        let check = || match &mut database.0 {
            Some(database) => database.check_integrity().map_err(redb::Error::from),
            None => Err(redb::Error::DatabaseClosed),
        };
        match guarded(check) {
            Ok(true) => Ok(()),
            Ok(false) => Err(damaged("a page does not match its checksum".to_owned())),
            Err(source) => Err(opening_error(&path, source)),
        }
    }

    pub(crate) fn opening(&self) -> Opening {
        self.0.opening.read().clone()
    }

    /// Keeps every other writer out.
    pub(crate) fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.0.writer.lock()
    }

    pub(crate) fn error(&self, action: &'static str, source: redb::Error) -> StateError {
        StateError::Database { path: self.0.path.clone(), action, source: Box::new(source) }
    }

    /// Opens the database anew if the opening of that generation is still the current one. It comes back as of its
    /// last durable commit. Waits for a flush under way, which ends soon because its opening is dead.
    pub(crate) fn reopen(&self, generation: u64) -> Result<(), StateError> {
        let writer = self.lock_writer();
        self.reopen_locked(generation, &writer)
    }

    pub(crate) fn reopen_locked(
        &self,
        generation: u64,
        _writer: &MutexGuard<'_, ()>,
    ) -> Result<(), StateError> {
        let mut opening = self.0.opening.write();
        if opening.generation != generation {
            return Ok(());
        }
        opening.gate.shut();
        *opening = open_database(&self.0.storage, &self.0.options, generation + 1)
            .map_err(|source| opening_error(&self.0.path, source))?;
        Ok(())
    }

    /// The log index up to which the database holds everything.
    pub(crate) fn read_applied(&self) -> Result<u64, StateError> {
        guarded(|| -> Result<_, redb::Error> { read_applied_in(&self.opening().database.begin_read()?) })
            .map_err(|source| self.error("read", source))
    }

    /// The numbers of the tables on disk.
    pub(crate) fn table_numbers(&self) -> Result<Vec<u32>, StateError> {
        guarded(|| -> Result<_, redb::Error> { table_numbers_in(&self.opening().database.begin_read()?) })
            .map_err(|source| self.error("read", source))
    }

    /// The tables of those numbers, all as of the same commit.
    pub(crate) fn views(&self, numbers: impl Iterator<Item = u32>) -> Result<Vec<View>, StateError> {
        Self::views_of(&self.opening(), numbers).map_err(|source| self.error("read", source))
    }

    /// The tables of those numbers, all as of the same commit; reopens the database once if its opening has failed.
    pub(crate) fn views_or_reopen(
        &self,
        numbers: impl Iterator<Item = u32> + Clone,
    ) -> Result<Vec<View>, StateError> {
        let opening = self.opening();
        match Self::views_of(&opening, numbers.clone()) {
            Err(error) if needs_reopening(&error) => {
                self.reopen(opening.generation)?;
                self.views(numbers)
            }
            result => result.map_err(|source| self.error("read", source)),
        }
    }

    fn views_of(opening: &Opening, numbers: impl Iterator<Item = u32>) -> Result<Vec<View>, redb::Error> {
        guarded(|| -> Result<_, redb::Error> {
            let transaction = opening.database.begin_read()?;
            let flushes = read_meta(&transaction, META_FLUSHES)?.unwrap_or(0);
            numbers.map(|number| view(&transaction, number, opening.generation, flushes)).collect()
        })
    }
}

fn view(
    transaction: &ReadTransaction,
    number: u32,
    generation: u64,
    flushes: u64,
) -> Result<View, redb::Error> {
    let empty = View { generation, flushes, rows: 0, ends: None, table: None };
    let table = match transaction.open_table(definition(&table_name(number))) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(empty),
        Err(error) => return Err(error.into()),
    };
    let Some(first) = table.first()?.map(|(key, _)| key.value().to_vec()) else { return Ok(empty) };
    let Some(last) = table.last()?.map(|(key, _)| key.value().to_vec()) else { return Ok(empty) };
    Ok(View { generation, flushes, rows: table.len()?, ends: Some((first, last)), table: Some(table) })
}

pub(crate) fn read_applied_in(transaction: &ReadTransaction) -> Result<u64, redb::Error> {
    read_meta(transaction, META_APPLIED)?
        .ok_or_else(|| redb::Error::Corrupted("the applied log index is missing".to_owned()))
}

fn read_meta(transaction: &ReadTransaction, name: &str) -> Result<Option<u64>, redb::Error> {
    match transaction.open_table(META) {
        Ok(table) => Ok(table.get(name)?.map(|value| value.value())),
        Err(
            TableError::TableDoesNotExist(_)
            | TableError::TableTypeMismatch { .. }
            | TableError::TableIsMultimap(_),
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn write_applied(transaction: &WriteTransaction, index: u64) -> Result<(), redb::Error> {
    let mut meta = transaction.open_table(META)?;
    meta.insert(META_APPLIED, index)?;
    let flushes = meta.get(META_FLUSHES)?.map_or(0, |flushes| flushes.value());
    meta.insert(META_FLUSHES, flushes + 1)?;
    Ok(())
}

pub(crate) fn table_numbers_in(transaction: &ReadTransaction) -> Result<Vec<u32>, redb::Error> {
    let names = transaction.list_tables()?;
    let mut numbers: Vec<u32> = names
        .filter_map(|table| table.name().strip_prefix('t').and_then(|number| number.parse().ok()))
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn open_database(
    storage: &Arc<dyn StorageBackend>,
    options: &Options,
    generation: u64,
) -> Result<Opening, redb::Error> {
    let gate = Gate::new(Arc::clone(storage));
    let database = guarded(|| -> Result<_, redb::Error> {
        let mut builder = Database::builder();
        builder.set_cache_size(options.page_cache_bytes);
        Ok(builder.create_with_backend(gate.clone())?)
    })?;
    Ok(Opening { database: Arc::new(OpenDatabase(Some(database))), generation, gate })
}

/// Whether the storage is empty. Anything else must begin like a redb file.
fn inspect(storage: &dyn StorageBackend, path: &str) -> Result<bool, StateError> {
    let file_error = |source| StateError::File { action: "read", path: path.to_owned(), source };
    let len = storage.len().map_err(file_error)?;
    if len == 0 {
        return Ok(true);
    }
    let mut magic = vec![0; REDB_MAGIC.len().min(usize::try_from(len).unwrap_or(usize::MAX))];
    storage.read(0, &mut magic).map_err(file_error)?;
    if magic == REDB_MAGIC {
        Ok(false)
    } else {
        Err(StateError::Foreign { path: path.to_owned(), reason: "it does not begin like one".to_owned() })
    }
}

fn opening_error(path: &str, source: redb::Error) -> StateError {
    match source {
        redb::Error::Corrupted(reason) => StateError::Damaged { path: path.to_owned(), reason },
        redb::Error::Io(error)
            if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
        {
            StateError::Damaged { path: path.to_owned(), reason: error.to_string() }
        }
        redb::Error::UpgradeRequired(version) => {
            let reason = format!("redb file format {version} cannot be read");
            StateError::Foreign { path: path.to_owned(), reason }
        }
        source => StateError::Database { path: path.to_owned(), action: "open", source: Box::new(source) },
    }
}

fn open_file(path: &Path, options: &OpenOptions) -> Result<Arc<dyn StorageBackend>, StateError> {
    let text = || path.display().to_string();
    let file =
        options.open(path).map_err(|source| StateError::File { action: "open", path: text(), source })?;
    let storage = FileBackend::new(file).map_err(|source| opening_error(&text(), source.into()))?;
    let locked = storage
        .try_lock_range(Bound::Unbounded, Bound::Unbounded)
        .map_err(|source| StateError::File { action: "lock", path: text(), source: source.into() })?;
    if locked { Ok(Arc::new(storage)) } else { Err(StateError::AlreadyOpen { path: text() }) }
}

/// Builds a database beside `path` and moves it there when it is complete, so that a crash on the way leaves nothing
/// that looks like one.
pub(crate) fn build<T>(
    path: &Path,
    fill: impl FnOnce(Arc<dyn StorageBackend>) -> Result<T, StateError>,
) -> Result<T, StateError> {
    let unfinished = Unfinished::create(path)?;
    let result = fill(unfinished.storage())?;
    unfinished.rename()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| creating(path, source))?;
    Ok(result)
}

fn creating(path: &Path, source: io::Error) -> StateError {
    StateError::File { action: "create", path: path.display().to_string(), source }
}

/// A file beside a database that is to become that database. It is removed if it does not.
#[derive(Debug)]
pub(crate) struct Unfinished {
    storage: Arc<dyn StorageBackend>,
    /// Where it is, until it has been moved.
    at: Option<PathBuf>,
    path: PathBuf,
}

impl Unfinished {
    /// An empty file, in the place of what an earlier attempt has left over.
    pub(crate) fn create(path: &Path) -> Result<Self, StateError> {
        let mut at = path.as_os_str().to_owned();
        at.push(UNFINISHED_SUFFIX);
        let at = PathBuf::from(at);
        let storage = open_file(&at, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        storage.set_len(0).map_err(|source| creating(path, source))?;
        Ok(Self { storage, at: Some(at), path: path.to_owned() })
    }

    pub(crate) fn storage(&self) -> Arc<dyn StorageBackend> {
        Arc::clone(&self.storage)
    }

    /// The database in it, which will be that of the path.
    pub(crate) fn open(&self, options: Options) -> Result<Store, StateError> {
        Store::assemble(self.storage(), self.path.display().to_string(), options)
    }

    /// Moves the file to its place, with all that was written to it.
    pub(crate) fn rename(mut self) -> Result<(), StateError> {
        self.storage.sync_data().map_err(|source| creating(&self.path, source))?;
        if let Some(at) = &self.at {
            std::fs::rename(at, &self.path).map_err(|source| creating(&self.path, source))?;
        }
        self.at = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(at) = &self.at {
            // Left over, it is overwritten by the next attempt.
            let _ = std::fs::remove_file(at);
        }
    }
}

/// Whether opening the database anew may help.
pub(crate) fn needs_reopening(error: &redb::Error) -> bool {
    is_latched(error) || matches!(error, redb::Error::LockPoisoned(_))
}
