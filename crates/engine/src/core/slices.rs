//! Bounds of reads of a range of a table: a reader gets slices, or the rows that a model bounds.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use state::{StateError, Table, TableKey, TableValue};

/// Rows of the first slice: many readers need no more.
const FIRST_SLICE: usize = 16;
/// Rows of a slice at the most.
const SLICE_MAX: usize = 1024;
/// Rows that a model gives one scope or definition at the most. Each stands for a flow node or a sequence flow, and no
/// file has room for so many.
const OF_MODEL_MAX: usize = 1 << 20;

/// Rows of a slice.
type Rows<K, V> = Vec<(K, Arc<V>)>;

/// A range that is read a slice at a time. A slice has the rows that are there when it is read.
pub(crate) struct Slices<K> {
    start: Bound<K>,
    end: Bound<K>,
    size: usize,
    is_over: bool,
}

impl<K: TableKey> Slices<K> {
    /// Slices of a range.
    pub fn of(range: impl RangeBounds<K>) -> Self {
        let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
        Self { start, end, size: FIRST_SLICE, is_over: false }
    }

    /// Keys of the next slice; `None` behind the last one. Values are not read.
    pub fn keys<V: TableValue>(&mut self, table: &Table<K, V>) -> Result<Option<Vec<K>>, StateError> {
        if self.is_over {
            return Ok(None);
        }
        let keys = table.keys((self.start.clone(), self.end.clone()), self.size)?;
        self.advance(keys.len(), keys.last());
        Ok(Some(keys))
    }

    /// Rows of the next slice; `None` behind the last one.
    pub fn rows<V: TableValue>(&mut self, table: &Table<K, V>) -> Result<Option<Rows<K, V>>, StateError> {
        if self.is_over {
            return Ok(None);
        }
        let rows = table.scan((self.start.clone(), self.end.clone()), self.size)?;
        self.advance(rows.len(), rows.last().map(|(key, _)| key));
        Ok(Some(rows))
    }

    fn advance(&mut self, found: usize, last: Option<&K>) {
        assert!(found <= self.size, "a table gives no more rows than it is asked for");
        match last {
            Some(last) if found == self.size => self.start = Bound::Excluded(last.clone()),
            _ => self.is_over = true,
        }
        self.size = (self.size * 4).min(SLICE_MAX);
    }
}

/// The text that follows a text in the order of keys: the end of the range of keys that have the text.
pub(crate) fn next_text(text: &str) -> Arc<str> {
    Arc::from(format!("{text}\0"))
}

/// Keys of a range that the model of a process bounds.
pub(crate) fn keys_of_model<K: TableKey, V: TableValue>(
    table: &Table<K, V>,
    range: impl RangeBounds<K>,
) -> Result<Vec<K>, StateError> {
    let keys = table.keys(range, OF_MODEL_MAX)?;
    assert!(keys.len() < OF_MODEL_MAX, "a model has fewer parts");
    Ok(keys)
}

/// Rows of a range that the model of a process bounds.
pub(crate) fn rows_of_model<K: TableKey, V: TableValue>(
    table: &Table<K, V>,
    range: impl RangeBounds<K>,
) -> Result<Rows<K, V>, StateError> {
    let rows = table.scan(range, OF_MODEL_MAX)?;
    assert!(rows.len() < OF_MODEL_MAX, "a model has fewer parts");
    Ok(rows)
}
