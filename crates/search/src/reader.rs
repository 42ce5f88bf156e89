//! The interface of a store to its readers.

#![expect(missing_docs, reason = "names say what is held")]

use std::time::Duration;

use futures::future::BoxFuture;
use protocol::PartitionId;

use crate::query::{Found, Row, Search, Statistics};

pub trait Reader: Send + Sync + 'static {
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

/// Bytes of memory that the rows of one page may take, if there are several: 10,000 rows of usual size several
/// times over.
pub const PAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or answers that it cannot work now. Trying again may help.
    #[error("{0}")]
    Unavailable(String),
    /// No broker answers that has a copy of it which is far enough. The reasons of each are for operators.
    #[error("no other broker has a copy of secondary storage that answers and is far enough: {0}")]
    NoCopy(String),
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
    Refused { entity: &'static str, row: String, reason: String },
    /// The stored data belong to a later release or another program.
    #[error("{0}")]
    Schema(String),
}

impl StoreError {
    /// A query was stopped.
    pub fn too_slow() -> Self {
        let reason = "Expected secondary storage to end the search in time, but the search reads too many rows, or it makes no progress";
        Self::TooSlow(reason.to_owned())
    }

    /// A query could not begin within its time.
    pub fn too_busy(timeout: Duration) -> Self {
        let seconds = timeout.as_secs();
        Self::TooSlow(format!(
            "Expected secondary storage to begin the search within {seconds} s, but other searches are running"
        ))
    }
}
