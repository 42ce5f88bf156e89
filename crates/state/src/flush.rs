//! Writing a frozen overlay to disk in the background, as one transaction.

use std::{ops::Bound, sync::Arc};

use planted::Bug;
use redb::{CursorError, ReadableTable, WriteTransaction};

use crate::{
    StateError, Store, TableKey, TableValue,
    cache::AnyValue,
    error::hex,
    overlay::Layer,
    seal::seal,
    store::{View, definition, guarded, needs_reopening, table_name, write_applied},
};

/// A value of a frozen overlay, without its type.
pub trait FrozenValue {
    /// Appends the bytes to be stored.
    fn encode(&self, out: &mut Vec<u8>);

    /// The value for the cache of clean values, and its weight in bytes.
    fn clean(&self) -> (AnyValue, usize);
}

impl<V: TableValue> FrozenValue for Arc<V> {
    fn encode(&self, out: &mut Vec<u8>) {
        V::encode(self, out);
    }

    fn clean(&self) -> (AnyValue, usize) {
        (Arc::<V>::clone(self), self.weight())
    }
}

/// Takes the entries of a layer in the order of their keys: a value, or none for a tombstone.
pub type EntrySink<'a> = dyn FnMut(&[u8], Option<&dyn FrozenValue>) -> Result<(), StateError> + 'a;

/// The frozen overlay of one table, without its types.
pub trait FrozenTable: Send + Sync {
    /// The name of the table.
    fn name(&self) -> &'static str;

    /// The number of the table.
    fn number(&self) -> u32;

    /// Whether there is nothing to write.
    fn is_empty(&self) -> bool;

    /// Hands all entries to a sink, until it fails.
    fn visit(&self, sink: &mut EntrySink<'_>) -> Result<(), StateError>;
}

/// The frozen overlay of one table.
#[derive(Debug)]
pub(crate) struct FrozenLayer<K, V> {
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    pub(crate) layer: Arc<Layer<K, V>>,
}

impl<K: TableKey, V: TableValue> FrozenTable for FrozenLayer<K, V> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn is_empty(&self) -> bool {
        self.layer.is_empty()
    }

    fn visit(&self, sink: &mut EntrySink<'_>) -> Result<(), StateError> {
        let mut key_bytes = Vec::new();
        for (key, value) in self.layer.entries() {
            key_bytes.clear();
            key.encode(&mut key_bytes);
            sink(&key_bytes, value.map(|value| value as &dyn FrozenValue))?;
        }
        Ok(())
    }
}
fn row_error(table: &dyn FrozenTable, key: &[u8], source: redb::Error) -> StateError {
    StateError::Row { table: table.name(), key: hex(key), action: "write", source: Box::new(source) }
}

/// Writes a layer into a transaction.
fn write(frozen: &dyn FrozenTable, transaction: &WriteTransaction) -> Result<(), StateError> {
    if frozen.is_empty() {
        return Ok(());
    }
    let name = table_name(frozen.number());
    let failed = |source: redb::TableError| row_error(frozen, &[], source.into());
    let mut table = transaction.open_table(definition(&name)).map_err(failed)?;
    write_rows(frozen, &mut table)
}

/// Keys below the end of the table find their place one by one; those beyond it are appended in bulk.
fn write_rows(
    frozen: &dyn FrozenTable,
    table: &mut redb::Table<'_, &'static [u8], &'static [u8]>,
) -> Result<(), StateError> {
    let whole = |source: redb::StorageError| row_error(frozen, &[], source.into());
    let last = table.last().map_err(whole)?.map(|(key, _)| key.value().to_vec());
    let is_beyond = |key: &[u8]| last.as_ref().is_none_or(|last| key > last.as_slice());
    let mut value_bytes = Vec::new();
    let (mut below, mut beyond) = (Some(table), None);
    frozen.visit(&mut |key, value| {
        value_bytes.clear();
        if let Some(value) = value {
            value.encode(&mut value_bytes);
            seal(key, &mut value_bytes);
        }
        if beyond.is_none() && is_beyond(key) {
            let table = below.take().expect("it is taken once");
            beyond = Some(table.upper_bound_mut(Bound::<&[u8]>::Unbounded).map_err(whole)?);
        }
        let failed = |source: redb::Error| row_error(frozen, key, source);
        match (&mut beyond, &mut below, value) {
            (Some(cursor), _, Some(_)) => {
                cursor.insert_before(key, value_bytes.as_slice()).map_err(|error| match error {
                    CursorError::Storage(source) => failed(source.into()),
                    error => failed(redb::Error::Corrupted(error.to_string())),
                })
            }
            // A tombstone beyond the end hides nothing.
            (Some(_), _, None) => Ok(()),
            (None, Some(table), Some(_)) => {
                table.insert(key, value_bytes.as_slice()).map(drop).map_err(|source| failed(source.into()))
            }
            (None, Some(table), None) => table.remove(key).map(drop).map_err(|source| failed(source.into())),
            (None, None, _) => unreachable!("without a cursor, the table is there"),
        }
    })?;
    beyond.map_or(Ok(()), |cursor| cursor.close().map_err(whole))
}

/// Brings the clean values in line with the rows that were written.
fn refresh(frozen: &dyn FrozenTable, store: &Store) {
    let (cache, number) = (store.cache(), frozen.number());
    let refreshed = frozen.visit(&mut |key, value| {
        match value.map(FrozenValue::clean) {
            Some((value, weight)) => cache.insert(number, key, value, weight),
            None => cache.remove(number, key),
        }
        Ok(())
    });
    refreshed.expect("the cache takes everything");
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
            refresh(table.as_ref(), &self.store);
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
                write(table.as_ref(), &transaction).map_err(RowOrStorage::Row)?;
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
