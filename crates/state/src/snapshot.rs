//! The rows on disk as a stream of bytes, and back.
//!
//! The stream is a sequence of chunks: length (4 bytes), checksum (8 bytes), payload. The checksum covers the payload
//! and the number of the chunk; a chunk of length 0 ends the stream. All numbers are little-endian. The payloads
//! together are:
//!
//! ```text
//! magic (8), format (8), applied log index (8), number of tables (4)
//! per table:  number (4), rows (8)
//! per row:    key length (4), value length (4), key, value
//! ```

use std::{
    io::{self, Read, Write},
    ops::Bound,
    path::Path,
    sync::Arc,
};

use planted::Bug;
use redb::{
    ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageBackend, WriteTransaction,
};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::{
    Options, StateError, Store,
    store::{
        FORMAT, Opening, Unfinished, build, definition, guarded, needs_reopening, read_applied_in,
        table_name, table_numbers_in, write_applied,
    },
};

const MAGIC: &[u8; 8] = b"BTNSTATE";
/// Chunks are closed once they hold this much.
const CHUNK_BYTES: usize = 256 << 10;
/// No chunk is longer; a longer one is a damaged length.
const CHUNK_BYTES_MAX: usize = CHUNK_BYTES;
/// No row is longer; a longer one is a damaged length.
const ROW_BYTES_MAX: usize = 1 << 30;
/// Memory set aside for a row before its bytes have arrived.
const ROW_BYTES_TRUSTED: usize = 1 << 20;
const OUT_OF_ORDER: &str = "its rows are out of order";
const _: () = assert!(CHUNK_BYTES <= CHUNK_BYTES_MAX && CHUNK_BYTES_MAX <= u32::MAX as usize);
const _: () = assert!(ROW_BYTES_TRUSTED <= ROW_BYTES_MAX);

/// The rows on disk as of one flush. Flushes go on meanwhile, but the space they free is kept until this is dropped.
pub struct Snapshot {
    transaction: ReadTransaction,
    applied_index: u64,
    path: String,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Snapshot").field("applied_index", &self.applied_index).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The log index up to which the snapshot holds everything.
    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }

    /// Path of the database file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Writes the snapshot out.
    pub fn write(&self, out: impl Write) -> Result<(), StateError> {
        guarded(|| self.write_all(out)).map_err(|failure| match failure {
            Failure::Stream(error) => StateError::SnapshotWrite(error),
            Failure::Database(source) => {
                StateError::Database { path: self.path.clone(), action: "read", source: Box::new(source) }
            }
            Failure::State(error) => error,
        })
    }

    /// A hash of all rows as they are on disk, equal for equal rows. Reads everything.
    pub fn hash(&self) -> Result<u64, StateError> {
        let failed = |source: redb::Error| StateError::Database {
            path: self.path.clone(),
            action: "read",
            source: Box::new(source),
        };
        guarded(|| self.hash_all()).map_err(failed)
    }

    fn hash_all(&self) -> Result<u64, redb::Error> {
        let mut hasher = Xxh3::new();
        for number in table_numbers_in(&self.transaction)? {
            let table = self.transaction.open_table(definition(&table_name(number)))?;
            // A table without rows is as good as none.
            if table.is_empty()? {
                continue;
            }
            hasher.update(&number.to_le_bytes());
            hasher.update(&table.len()?.to_le_bytes());
            for row in table.iter()? {
                let (key, value) = row?;
                for part in [key.value(), value.value()] {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part);
                }
            }
        }
        Ok(hasher.digest())
    }

    fn write_all(&self, out: impl Write) -> Result<(), Failure> {
        let mut out = ChunkWriter { out, chunk: Vec::with_capacity(CHUNK_BYTES), chunks: 0 };
        let numbers = table_numbers_in(&self.transaction)?;
        out.put(MAGIC)?;
        out.put(&FORMAT.to_le_bytes())?;
        out.put(&self.applied_index.to_le_bytes())?;
        out.put(&(numbers.len() as u32).to_le_bytes())?;
        for number in numbers {
            let table =
                self.transaction.open_table(definition(&table_name(number))).map_err(redb::Error::from)?;
            out.put(&number.to_le_bytes())?;
            let lacks = planted::has(Bug::SnapshotLacksRows) && table.len()? > 3;
            out.put(&(table.len()? - u64::from(lacks)).to_le_bytes())?;
            for row in table.iter()?.skip(usize::from(lacks)) {
                let (key, value) = row?;
                let (key, value) = (key.value(), value.value());
                if key.len() + value.len() > ROW_BYTES_MAX {
                    return Err(
                        StateError::SnapshotInvalid(format!("a row of table {number} is too long")).into()
                    );
                }
                out.put(&(key.len() as u32).to_le_bytes())?;
                out.put(&(value.len() as u32).to_le_bytes())?;
                out.put(key)?;
                out.put(value)?;
            }
        }
        out.finish()
    }
}

impl Store {
    /// A snapshot of the last flush. After a failure of the disk the database is opened anew for it.
    pub fn snapshot(&self) -> Result<Snapshot, StateError> {
        let begin = |opening: &Opening| {
            guarded(|| -> Result<_, redb::Error> {
                let transaction = opening.database.begin_read()?;
                let applied_index = read_applied_in(&transaction)?;
                Ok((transaction, applied_index))
            })
        };
        let opening = self.opening();
        let begun = match begin(&opening) {
            Err(error) if needs_reopening(&error) => {
                self.reopen(opening.generation)?;
                begin(&self.opening())
            }
            result => result,
        };
        let (transaction, applied_index) = begun.map_err(|source| self.error("read", source))?;
        Ok(Snapshot { transaction, applied_index, path: self.path().to_owned() })
    }

    /// Writes a snapshot of the last flush out and returns its log index.
    pub fn write_snapshot(&self, out: impl Write) -> Result<u64, StateError> {
        let snapshot = self.snapshot()?;
        snapshot.write(out)?;
        Ok(snapshot.applied_index())
    }

    /// Creates the database file `path` from a snapshot and returns the snapshot's log index. The file appears only
    /// when it is complete. There must be none yet, or an empty one.
    pub fn restore_snapshot(path: &Path, snapshot: impl Read, options: Options) -> Result<u64, StateError> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.len() > 0 => {
                Err(StateError::NotEmpty { path: path.display().to_string() })
            }
            _ => Self::replace_by_snapshot(path, snapshot, options),
        }
    }

    /// Puts a snapshot in the place of the database file `path`, in one step, and returns the snapshot's log index.
    /// A store that still has the old file open goes on with the old content and must be opened anew.
    pub fn replace_by_snapshot(
        path: &Path,
        snapshot: impl Read,
        options: Options,
    ) -> Result<u64, StateError> {
        build(path, |storage| Self::restore_into(storage, snapshot, options))
    }

    /// Puts a snapshot in the place of the database file `path`, without the log behind it: a new log begins after the
    /// returned index. It is that of the snapshot, or 1 for one that is as of no entry, since a state of index 0 looks
    /// like none.
    pub fn restore_without_log(
        path: &Path,
        snapshot: impl Read,
        options: Options,
    ) -> Result<u64, StateError> {
        build(path, |storage| {
            let index = Self::restore_into(Arc::clone(&storage), snapshot, options.clone())?;
            let store = Self::with_backend(storage, options)?;
            let first = index.max(1);
            guarded(|| set_applied(&store, first))
                .map_err(|failure| failure.of_stream("(storage)", "write"))?;
            Ok(first)
        })
    }

    /// Fills an empty storage from a snapshot and returns the snapshot's log index. After an error the storage is of
    /// no use.
    pub fn restore_into(
        storage: Arc<dyn StorageBackend>,
        snapshot: impl Read,
        options: Options,
    ) -> Result<u64, StateError> {
        let len = storage.len().map_err(|source| StateError::File {
            action: "measure",
            path: "(storage)".to_owned(),
            source,
        })?;
        if len > 0 {
            return Err(StateError::NotEmpty { path: "(storage)".to_owned() });
        }
        let store = Self::with_backend(storage, options)?;
        guarded(|| read_all(&store, snapshot)).map_err(|failure| failure.of_stream("(storage)", "write"))
    }

    /// Reads a snapshot to its end, compares it with its checksums and returns its log index. Nothing is written. An
    /// error is either that it could not be read or that it is damaged.
    pub fn check_snapshot(snapshot: impl Read) -> Result<u64, StateError> {
        guarded(|| check_all(snapshot)).map_err(|failure| failure.of_stream("(snapshot)", "read"))
    }

    /// Builds a database from a snapshot beside the database file `path`, which stays as it is until
    /// [`Replacement::put`]. Built anew, it takes the place of one that was not put.
    pub fn prepare_replacement(
        path: &Path,
        snapshot: impl Read,
        options: Options,
    ) -> Result<Replacement, StateError> {
        let unfinished = Unfinished::create(path)?;
        let applied_index = Self::restore_into(unfinished.storage(), snapshot, options.clone())?;
        let store = unfinished.open(options)?;
        Ok(Replacement { unfinished, store, applied_index })
    }
}

/// A database that was built from a snapshot beside the one that it can replace. Dropped without having been put
/// there, its file is removed.
#[derive(Debug)]
pub struct Replacement {
    unfinished: Unfinished,
    store: Store,
    applied_index: u64,
}

impl Replacement {
    /// The log index up to which the snapshot holds everything.
    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }

    /// The new database. It stays the same one when it is put in its place.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Gives the new database the place of the old one, in one step. After an error the old one is there still. The
    /// step lasts over a power failure once the directory has been synced. A store that has the old file open goes on
    /// with the old content, which ends with it.
    pub fn put(self) -> Result<(), StateError> {
        self.unfinished.rename()
    }
}

fn set_applied(store: &Store, index: u64) -> Result<(), Failure> {
    let transaction = store.opening().begin_write()?;
    write_applied(&transaction, index)?;
    transaction.commit().map_err(redb::Error::from)?;
    Ok(())
}

fn read_all(store: &Store, input: impl Read) -> Result<u64, Failure> {
    let mut input = ChunkReader::new(input);
    let head = read_head(&mut input)?;
    let transaction = store.opening().begin_write()?;
    read_tables(&head, &mut input, |number, rows, input| write_table(&transaction, number, rows, input))?;
    write_applied(&transaction, head.applied_index)?;
    transaction.commit().map_err(redb::Error::from)?;
    Ok(head.applied_index)
}

fn check_all(input: impl Read) -> Result<u64, Failure> {
    let mut input = ChunkReader::new(input);
    let head = read_head(&mut input)?;
    read_tables(&head, &mut input, |_, rows, input| {
        let mut previous: Option<Vec<u8>> = None;
        read_rows(rows, input, |key, _| {
            if previous.as_ref().is_some_and(|previous| key <= previous.as_slice()) {
                return Err(invalid(OUT_OF_ORDER));
            }
            let previous = previous.get_or_insert_default();
            previous.clear();
            previous.extend_from_slice(key);
            Ok(())
        })
    })?;
    Ok(head.applied_index)
}

struct SnapshotHead {
    applied_index: u64,
    tables: u32,
}

fn read_head(input: &mut ChunkReader<impl Read>) -> Result<SnapshotHead, Failure> {
    if input.array::<8>()? != *MAGIC {
        return Err(invalid("it does not begin like one"));
    }
    let format = u64::from_le_bytes(input.array()?);
    if format != FORMAT {
        return Err(invalid(format!("it has format {format}, this version reads format {FORMAT}")));
    }
    let applied_index = u64::from_le_bytes(input.array()?);
    Ok(SnapshotHead { applied_index, tables: u32::from_le_bytes(input.array()?) })
}

/// Reads to the end, with the number of each table and of its rows for whoever takes the rows.
fn read_tables<R: Read>(
    head: &SnapshotHead,
    input: &mut ChunkReader<R>,
    mut table: impl FnMut(u32, u64, &mut ChunkReader<R>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut previous = None;
    for _ in 0..head.tables {
        let number = u32::from_le_bytes(input.array()?);
        if previous.is_some_and(|previous| number <= previous) {
            return Err(invalid("its tables are out of order"));
        }
        previous = Some(number);
        let rows = u64::from_le_bytes(input.array()?);
        table(number, rows, input)?;
    }
    input.finish()
}

fn read_rows(
    rows: u64,
    input: &mut ChunkReader<impl Read>,
    mut row: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let key_len = u32::from_le_bytes(input.array()?) as usize;
        let value_len = u32::from_le_bytes(input.array()?) as usize;
        if key_len.saturating_add(value_len) > ROW_BYTES_MAX {
            return Err(invalid("a row is too long"));
        }
        input.take(key_len, &mut key)?;
        input.take(value_len, &mut value)?;
        row(&key, &value)?;
    }
    Ok(())
}

fn write_table(
    transaction: &WriteTransaction,
    number: u32,
    rows: u64,
    input: &mut ChunkReader<impl Read>,
) -> Result<(), Failure> {
    let name = table_name(number);
    let mut table = transaction.open_table(definition(&name)).map_err(redb::Error::from)?;
    let mut cursor = table.upper_bound_mut(Bound::<&[u8]>::Unbounded)?;
    read_rows(rows, input, |key, value| {
        cursor.insert_before(key, value).map_err(|error| match error {
            redb::CursorError::UnorderedKey => invalid(OUT_OF_ORDER),
            error => Failure::Database(error.into()),
        })
    })?;
    Ok(cursor.close()?)
}

enum Failure {
    Stream(io::Error),
    Database(redb::Error),
    State(StateError),
}

impl Failure {
    /// The error of a snapshot's reader; `action` is what was done to the database at `path`.
    fn of_stream(self, path: &str, action: &'static str) -> StateError {
        match self {
            Self::Stream(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                StateError::SnapshotInvalid("it is cut short".to_owned())
            }
            Self::Stream(error) => StateError::SnapshotRead(error),
            Self::Database(source) => {
                StateError::Database { path: path.to_owned(), action, source: Box::new(source) }
            }
            Self::State(error) => error,
        }
    }
}

fn invalid(reason: impl Into<String>) -> Failure {
    Failure::State(StateError::SnapshotInvalid(reason.into()))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

impl From<redb::Error> for Failure {
    fn from(error: redb::Error) -> Self {
        Self::Database(error)
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Self {
        Self::Database(error.into())
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

struct ChunkWriter<W> {
    out: W,
    chunk: Vec<u8>,
    chunks: u64,
}

impl<W: Write> ChunkWriter<W> {
    fn put(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
            if self.chunk.len() == CHUNK_BYTES {
                self.end_chunk()?;
            }
        }
        Ok(())
    }

    fn end_chunk(&mut self) -> Result<(), Failure> {
        debug_assert!(self.chunk.len() <= CHUNK_BYTES_MAX, "the reader refuses {} bytes", self.chunk.len());
        let checksum = xxh3_64_with_seed(&self.chunk, self.chunks);
        self.out.write_all(&(self.chunk.len() as u32).to_le_bytes())?;
        self.out.write_all(&checksum.to_le_bytes())?;
        self.out.write_all(&self.chunk)?;
        self.chunk.clear();
        self.chunks += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        if !self.chunk.is_empty() {
            self.end_chunk()?;
        }
        self.end_chunk()?;
        Ok(self.out.flush()?)
    }
}

struct ChunkReader<R> {
    input: R,
    chunk: Vec<u8>,
    position: usize,
    chunks: u64,
}

impl<R: Read> ChunkReader<R> {
    fn new(input: R) -> Self {
        Self { input, chunk: Vec::new(), position: 0, chunks: 0 }
    }

    /// Reads the next chunk; `false` for the one that ends the stream.
    fn next_chunk(&mut self) -> Result<bool, Failure> {
        let (mut len, mut checksum) = ([0; 4], [0; 8]);
        self.input.read_exact(&mut len)?;
        self.input.read_exact(&mut checksum)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > CHUNK_BYTES_MAX {
            return Err(invalid("a chunk is too long"));
        }
        self.chunk.resize(len, 0);
        self.input.read_exact(&mut self.chunk)?;
        if xxh3_64_with_seed(&self.chunk, self.chunks) != u64::from_le_bytes(checksum) {
            return Err(invalid(format!("chunk {} does not match its checksum", self.chunks)));
        }
        self.chunks += 1;
        self.position = 0;
        Ok(len > 0)
    }

    fn take(&mut self, mut len: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.clear();
        out.reserve(len.min(ROW_BYTES_TRUSTED));
        while len > 0 {
            if self.position == self.chunk.len() && !self.next_chunk()? {
                return Err(invalid("it ends before its last row"));
            }
            let now = len.min(self.chunk.len() - self.position);
            out.extend_from_slice(&self.chunk[self.position..self.position + now]);
            self.position += now;
            len -= now;
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let mut bytes = Vec::new();
        self.take(N, &mut bytes)?;
        bytes.try_into().map_err(|_| invalid("a number is cut short"))
    }

    /// Makes sure that nothing follows but the end.
    fn finish(&mut self) -> Result<(), Failure> {
        if self.position < self.chunk.len() || self.next_chunk()? {
            return Err(invalid("bytes follow its last row"));
        }
        Ok(())
    }
}
