//! The interfaces of a store to its writers and cleaners.

use export::Flush;
use search::model::{ColumnId, Entity};
use search::{PAGE_BYTES_MAX, StoreError, Value};

use crate::change::{Batch, RowId};

/// Writes rows, on one thread for each partition. May block.
pub trait Writer: Send {
    /// Makes ready: schema, connection. Called first, and again after an error. Returns the position that is
    /// stored, for good.
    fn open(&mut self) -> Result<u64, StoreError>;

    /// Writes changes and the position they go up to, as one: both or neither where the store can, repeatable where it
    /// cannot. Searches find them when this returns; they are durable, unless [`Writer::sync`] says that they are not.
    fn write(&mut self, batch: &Batch, position: u64) -> Result<(), StoreError>;

    /// Makes durable what was written, where that is a step of its own. Returns whether everything is.
    fn sync(&mut self, _flush: Flush) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// Whether a row is there. Asked seldom.
    fn has(&mut self, entity: &'static Entity, id: &RowId) -> Result<bool, StoreError>;
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

    /// Gives some of the room of rows that are gone back to others. Returns whether there is more to give.
    fn reclaim(&mut self) -> Result<bool, StoreError>;
}

/// Counts the bytes of a page that is read row by row.
pub(crate) struct PageBytes(usize);

impl PageBytes {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Counts a row, if the page may have it.
    pub(crate) fn add(&mut self, row: &[Value]) -> Result<(), StoreError> {
        let bytes =
            size_of_val(row) + row.iter().filter_map(Value::text).map(|text| text.len()).sum::<usize>();
        // A single row is bounded by the limits of what it tells of.
        if self.0 > 0 && self.0 + bytes > PAGE_BYTES_MAX {
            return Err(StoreError::PageTooLarge(PAGE_BYTES_MAX));
        }
        self.0 += bytes;
        Ok(())
    }
}
