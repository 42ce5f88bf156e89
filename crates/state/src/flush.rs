//! Writing a frozen overlay to disk in the background, as one transaction.

use std::{ops::Bound, sync::Arc};

use planted::Bug;
use redb::{CursorError, ReadableTable, WriteTransaction};

use crate::{
    StateError, Store, TableKey, TableValue,
    error::hex,
    overlay::Layer,
    seal::seal,
    store::{View, definition, guarded, needs_reopening, table_name, write_applied},
};

/// The frozen overlay of one table, without its types.
pub trait FrozenTable: Send + Sync {
    /// The number of the table.
    fn number(&self) -> u32;

    /// Writes the layer into the transaction.
    fn write(&self, transaction: &WriteTransaction) -> Result<(), StateError>;

    /// Brings the clean values in line with what was written.
    fn refresh(&self, store: &Store);
}

/// The frozen overlay of one table.
#[derive(Debug)]
pub(crate) struct FrozenLayer<K, V> {
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    pub(crate) layer: Arc<Layer<K, V>>,
}

impl<K: TableKey, V: TableValue> FrozenLayer<K, V> {
    fn row_error(&self, key: &[u8], source: redb::Error) -> StateError {
        StateError::Row { table: self.name, key: hex(key), action: "write", source: Box::new(source) }
    }

    /// Keys below the end of the table find their place one by one; those beyond it are appended in bulk.
    fn write_rows(
        &self,
        table: &mut redb::Table<'_, &'static [u8], &'static [u8]>,
    ) -> Result<(), StateError> {
        let whole = |source: redb::StorageError| self.row_error(&[], source.into());
        let last = table.last().map_err(whole)?.map(|(key, _)| key.value().to_vec());
        let (mut key_bytes, mut value_bytes) = (Vec::new(), Vec::new());
        let mut entries = self.layer.entries();
        let mut beyond = None;
        for (key, value) in entries.by_ref() {
            key_bytes.clear();
            key.encode(&mut key_bytes);
            if last.as_ref().is_none_or(|last| key_bytes > *last) {
                beyond = Some((key, value));
                break;
            }
            let written = if let Some(value) = value {
                value_bytes.clear();
                value.encode(&mut value_bytes);
                seal(&key_bytes, &mut value_bytes);
                table.insert(key_bytes.as_slice(), value_bytes.as_slice()).map(drop)
            } else {
                table.remove(key_bytes.as_slice()).map(drop)
            };
            written.map_err(|source| self.row_error(&key_bytes, source.into()))?;
        }
        let Some(first_beyond) = beyond else { return Ok(()) };
        let mut cursor = table.upper_bound_mut(Bound::<&[u8]>::Unbounded).map_err(whole)?;
        for (key, value) in std::iter::once(first_beyond).chain(entries) {
            // A tombstone beyond the end hides nothing.
            let Some(value) = value else { continue };
            key_bytes.clear();
            key.encode(&mut key_bytes);
            value_bytes.clear();
            value.encode(&mut value_bytes);
            seal(&key_bytes, &mut value_bytes);
            cursor.insert_before(key_bytes.as_slice(), value_bytes.as_slice()).map_err(|error| {
                let source = match error {
                    CursorError::Storage(source) => source.into(),
                    error => redb::Error::Corrupted(error.to_string()),
                };
                self.row_error(&key_bytes, source)
            })?;
        }
        cursor.close().map_err(whole)
    }
}

impl<K: TableKey, V: TableValue> FrozenTable for FrozenLayer<K, V> {
    fn number(&self) -> u32 {
        self.number
    }

    fn write(&self, transaction: &WriteTransaction) -> Result<(), StateError> {
        if self.layer.is_empty() {
            return Ok(());
        }
        let name = table_name(self.number);
        let mut table =
            transaction.open_table(definition(&name)).map_err(|source| self.row_error(&[], source.into()))?;
        self.write_rows(&mut table)
    }

    fn refresh(&self, store: &Store) {
        let cache = store.cache();
        let mut key_bytes = Vec::new();
        for (key, value) in self.layer.entries() {
            key_bytes.clear();
            key.encode(&mut key_bytes);
            match value {
                Some(value) => cache.insert(self.number, &key_bytes, Arc::clone(value)),
                None => cache.remove(self.number, &key_bytes),
            }
        }
    }
}

/// A frozen overlay on its way to disk. Run it on any thread and give the outcome to `flushed`.
///
/// If it fails or is dropped nothing is lost: the tables keep the frozen overlay and `retry_flush` gives a new one.
#[must_use = "nothing is written until it is run"]
pub struct Flush {
    pub(crate) store: Store,
    pub(crate) tables: Vec<Box<dyn FrozenTable>>,
    pub(crate) applied_index: u64,
}

impl std::fmt::Debug for Flush {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flush").field("applied_index", &self.applied_index).finish_non_exhaustive()
    }
}

/// A flush that has reached the disk, for the tables to go over to.
#[must_use = "the tables stay frozen until they are told"]
#[derive(Debug)]
pub struct Flushed {
    pub(crate) applied_index: u64,
    pub(crate) views: Vec<View>,
}

impl Flushed {
    /// The log index up to which everything is on disk.
    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }
}

impl Flush {
    /// The log index up to which everything will be on disk.
    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }

    /// Writes everything durably, or nothing. Blocks for the disk.
    pub fn run(self) -> Result<Flushed, StateError> {
        let writer = self.store.lock_writer();
        let mut generation = self.store.opening().generation;
        let mut result = self.write();
        if matches!(&result, Err(WriteError { latched: true, written: false, .. })) {
            // An earlier failure, of a read perhaps, has closed the database.
            self.store.reopen_locked(generation, &writer)?;
            generation = self.store.opening().generation;
            result = self.write();
        }
        if let Err(WriteError { error, latched, .. }) = result {
            if latched {
                // So that rows can be read again at once. If it fails now, the next reader tries again.
                let _ = self.store.reopen_locked(generation, &writer);
            }
            return Err(error);
        }
        for table in &self.tables {
            table.refresh(&self.store);
        }
        let views = self.store.views(self.tables.iter().map(|table| table.number()))?;
        Ok(Flushed { applied_index: self.applied_index, views })
    }

    fn write(&self) -> Result<(), WriteError> {
        let opening = self.store.opening();
        let fail = |written: bool| {
            move |source: redb::Error| WriteError {
                latched: needs_reopening(&source),
                error: self.store.error("flush", source),
                written,
            }
        };
        let mut transaction = guarded(|| opening.begin_write()).map_err(fail(false))?;
        guarded(move || {
            for table in &self.tables {
                table.write(&transaction).map_err(RowOrStorage::Row)?;
            }
            if planted::has(Bug::EarlyFlush) {
                transaction.set_durability(redb::Durability::None).expect("nothing of it is to be durable");
            }
            let more = u64::from(planted::has(Bug::AppliedOneMore));
            write_applied(&transaction, self.applied_index + more).map_err(RowOrStorage::Storage)?;
            transaction.commit().map_err(|error| RowOrStorage::Storage(error.into()))
        })
        .map_err(|error| match error {
            RowOrStorage::Storage(source) => fail(true)(source),
            RowOrStorage::Row(error) => {
                let latched = matches!(&error, StateError::Row { source, .. } if needs_reopening(source));
                WriteError { error, latched, written: true }
            }
        })
    }
}

struct WriteError {
    error: StateError,
    /// Only opening the database anew helps.
    latched: bool,
    /// Whether anything had been written when it happened.
    written: bool,
}

enum RowOrStorage {
    Row(StateError),
    Storage(redb::Error),
}

impl From<redb::StorageError> for RowOrStorage {
    fn from(error: redb::StorageError) -> Self {
        Self::Storage(error.into())
    }
}
