//! What a store is.

use std::time::Duration;

use export::Flush;
use futures::future::BoxFuture;
use protocol::PartitionId;

use crate::change::{Batch, RowId};
use crate::model::{ColumnId, Entity};
use crate::query::{Found, Row, Search, Statistics};
use crate::value::Value;

/// Writes rows, on one thread for each partition. May block.
pub trait Writer: Send {
    /// Makes ready: schema, connection. Called first, and again after an error. Returns the position that is stored, for good.
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

/// Reads rows.
pub trait Reader: Send + Sync + 'static {
    /// Finds rows.
    fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>>;

    /// Computes numbers. The values of the groups come first in each row, then the aggregates.
    fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>>;

    /// Whether what has ended is counted in rows of its own, the element counts, because counting it anew takes long.
    fn has_counts(&self) -> bool {
        true
    }

    /// The position that is stored for a partition.
    fn position(&self, partition: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// Removes rows that nobody needs any more, beside the writers, on one thread. May block, and is called with few rows at
/// a time, so that it never keeps writers waiting for long.
pub trait Cleaner: Send {
    /// Makes ready; the schema is there already. Called first, and again after an error.
    fn open(&mut self) -> Result<(), StoreError>;

    /// Removes rows of an entity that have one of these values in a column, so many at the most. Returns how many; fewer than
    /// the limit means that no more are there. Searches may still show them for a moment.
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

impl StoreError {
    /// A query was stopped.
    pub(crate) fn too_slow() -> Self {
        let reason = "Expected secondary storage to end the search in time, but there is too much to look at, or it does not get on";
        Self::TooSlow(reason.to_owned())
    }

    /// A query could not begin within its time.
    pub(crate) fn too_busy(timeout: Duration) -> Self {
        let seconds = timeout.as_secs();
        Self::TooSlow(format!(
            "Expected secondary storage to begin the search within {seconds} s, but others are running"
        ))
    }
}

/// Bytes of memory that the rows of one page may take, if there are several: 10,000 rows of usual size several times over.
pub const PAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

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

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or answers that it cannot work now. Trying again may help.
    #[error("{0}")]
    Unavailable(String),
    /// It took longer than a query may.
    #[error("{0}")]
    TooSlow(String),
    /// The query itself is more than it takes, by its shape or size, however often it is asked. The store is well.
    #[error("{0}")]
    Query(String),
    /// A page would take more bytes than this; with fewer rows, it may not. The store is well.
    #[error(
        "Expected a page of at most {0} bytes, which is the limit, but it is larger; ask for fewer items with page.limit"
    )]
    PageTooLarge(usize),
    /// One change cannot be written, however often it is tried.
    #[error("row {row} of {entity}: {reason}")]
    Refused {
        /// Its entity.
        entity: &'static str,
        /// Its identity.
        row: String,
        /// Why.
        reason: String,
    },
    /// What is stored is of a later release, or not ours.
    #[error("{0}")]
    Schema(String),
}
