//! The interfaces of a store to its writers and cleaners.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use export::Flush;
use protocol::Key;
use search::model::{ColumnId, Entity};
use search::{Filter, Gap, PAGE_BYTES_MAX, StoreError, Value, row_bytes};

use crate::change::{Batch, RowId};

/// Numbers in some columns, by the key of their row.
pub type Numbers = HashMap<Key, Vec<Option<i64>>>;

/// Writes rows, on one thread for each partition. May block.
pub trait Writer: Send {
    /// Makes ready: schema, connection. Called first, and again after an error. Returns the position that is
    /// stored, for good.
    fn open(&mut self) -> Result<u64, StoreError>;

    /// Writes changes and the position they go up to, as one: both or neither where the store can, repeatable where it
    /// cannot. Searches find them when this returns; they are durable, unless [`Writer::sync`] says that they are not.
    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError>;

    /// Writes changes of which some records are left for later: those of instances that have begun and not ended.
    fn write_ended(&mut self, batch: &Batch, left: &Left) -> Result<(), StoreError> {
        debug_assert!(left.instances.is_empty(), "a store that leaves nothing is asked to");
        self.write(batch, left.position)
    }

    /// Whether records may be left for later, and if so, what was left when the store was opened last.
    fn left(&self) -> Option<Left> {
        None
    }

    /// Removes all rows, forgets gaps, and notes the position of the record that says so. Repeatable.
    fn clear(&mut self, position: u64) -> Result<(), StoreError>;

    /// Makes durable what was written, where that is a step of its own. Returns whether everything is.
    fn sync(&mut self, _flush: Flush) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Makes ready for changes to an instance that may have ended, where such rows are kept in another form.
    fn unpack(&mut self, _process_instance_key: Key) -> Result<(), StoreError> {
        Ok(())
    }

    /// Has the content of another store, of which this file is a copy, take the place of this one's. Then it is to be
    /// opened again.
    fn replace(&mut self, copy: &Path) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(format!("'{}' is of another kind of store", copy.display())))
    }

    /// The gaps that were noted in it.
    fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        Ok(Vec::new())
    }

    /// Notes gaps, durably and with what the store has, so that they are told wherever it goes. One that begins where
    /// another does takes its place.
    fn note_gaps(&mut self, _gaps: &[Gap]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Numbers in some columns of rows that were written before, by the keys of those that are there.
    fn numbers(
        &mut self,
        _entity: &'static Entity,
        _columns: &[ColumnId],
        _keys: &[Key],
    ) -> Result<Numbers, StoreError> {
        Ok(Numbers::default())
    }

    /// Whether a row is there. Asked seldom.
    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError>;
}

/// The records of instances that have begun and not ended, in a store that has everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// The store has everything up to here.
    pub position: u64,
    /// Up to here, it has everything but these instances.
    pub written: u64,
    /// Keys of process instances.
    pub instances: BTreeSet<Key>,
}

/// Removes rows that nobody needs any more, beside the writers, on one thread. May block, and is called with few
/// rows at a time, so that it never keeps writers waiting for long.
pub trait Cleaner: Send {
    /// Makes ready; the schema is there already. Called first, and again after an error.
    fn open(&mut self) -> Result<(), StoreError>;

    /// Removes rows of an entity that have one of these values in a column, so many at the most. Returns how many;
    /// fewer than the limit means that no more are there. Searches may still show them for a moment.
    fn remove(
        &mut self,
        entity: &'static Entity,
        column: ColumnId,
        values: &[Value],
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Removes, with all that belongs to them, things that pass a filter and are kept together with none that does
    /// not. Returns how many things and rows that were, some at a time; no thing: no more are there.
    fn remove_packed(
        &mut self,
        _entity: &'static Entity,
        _filter: &Filter,
    ) -> Result<(u64, u64), StoreError> {
        Ok((0, 0))
    }

    /// Brings rows that change no more into the form in which they are kept, some at a time.
    fn pack(&mut self) -> Result<Packed, StoreError> {
        Ok(Packed::default())
    }

    /// Gives some of the room of rows that are gone back to others. Returns whether there is more to give.
    fn reclaim(&mut self) -> Result<bool, StoreError>;
}

/// Rows that were brought into the form in which they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// How many. None: no more are there.
    pub rows: u64,
    /// Things that cannot be brought into it, and why. They stay as they are, and are told once.
    pub set_aside: Vec<String>,
}

/// Counts the bytes of a page that is read row by row.
pub(crate) struct PageBytes(usize);

impl PageBytes {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Counts a row, if the page may have it.
    pub(crate) fn add(&mut self, row: &[Value]) -> Result<(), StoreError> {
        let bytes = row_bytes(row);
        // A single row is bounded by the limits of what it tells of.
        if self.0 > 0 && self.0 + bytes > PAGE_BYTES_MAX {
            return Err(StoreError::PageTooLarge(PAGE_BYTES_MAX));
        }
        self.0 += bytes;
        Ok(())
    }
}
