//! Records on their way, as they came and as an exporter gets them.

use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::Record;

use crate::weight::weight;

/// The records of one applied batch. Never empty.
#[derive(Debug)]
pub(crate) struct Batch {
    pub records: Vec<Record>,
    /// Number of the first record since the stream was opened.
    pub ordinal: u64,
    /// When they came, Unix milliseconds.
    pub appended_ms: u64,
    /// About how many bytes they take in memory.
    pub weight: usize,
}

impl Batch {
    pub fn new(records: Vec<Record>) -> Self {
        debug_assert!(records.is_sorted_by(|a, b| a.position < b.position), "positions grow");
        let weight = records.iter().map(weight).sum();
        Self { records, ordinal: 0, appended_ms: now_ms(), weight }
    }

    pub fn last(&self) -> u64 {
        self.records.last().map_or(0, |record| record.position)
    }

    /// Index of the first record after a position.
    pub fn index_after(&self, position: u64) -> usize {
        self.records.partition_point(|record| record.position <= position)
    }
}

/// Records for one call of an exporter. Never empty.
#[derive(Debug)]
pub(crate) struct Chunk {
    source: Source,
    /// Number of the first record since the stream was opened.
    pub ordinal: u64,
    /// When they came, Unix milliseconds.
    pub appended_ms: u64,
    /// About how many bytes they take in memory.
    pub weight: usize,
}

#[derive(Debug)]
enum Source {
    Memory(Arc<Batch>, Range<usize>),
    Spill(Vec<Record>),
}

impl Chunk {
    /// The records of a batch after a position, not more than `max`.
    pub fn of_batch(batch: &Arc<Batch>, position: u64, max: usize) -> Self {
        let from = batch.index_after(position);
        let to = batch.records.len().min(from + max.max(1));
        Self {
            ordinal: batch.ordinal + from as u64,
            appended_ms: batch.appended_ms,
            weight: batch.weight * (to - from) / batch.records.len(),
            source: Source::Memory(Arc::clone(batch), from..to),
        }
    }

    pub fn of_spill(records: Vec<Record>, ordinal: u64, appended_ms: u64, weight: usize) -> Self {
        Self { source: Source::Spill(records), ordinal, appended_ms, weight }
    }

    pub fn records(&self) -> &[Record] {
        match &self.source {
            Source::Memory(batch, range) => &batch.records[range.clone()],
            Source::Spill(records) => records,
        }
    }

    pub fn last(&self) -> u64 {
        self.records().last().map_or(0, |record| record.position)
    }

    /// Number of the record after the last one.
    pub fn end_ordinal(&self) -> u64 {
        self.ordinal + self.records().len() as u64
    }
}

/// The time now, Unix milliseconds.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
