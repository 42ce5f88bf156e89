//! State of the stream under its lock: the records in memory, and all positions.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::Batch;
use crate::phase::Phase;
use crate::reader::{ExporterStatus, Reader};
use crate::spill::Segment;
use crate::stop::Stop;

/// Bytes in memory that are spilled with one sync.
const SPILL_ROUND_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct HubState {
    pub memory: VecDeque<Arc<Batch>>,
    pub memory_bytes: usize,
    /// All records after this position that are needed are in memory.
    pub memory_floor: u64,
    /// Position of the last record that came.
    pub last: u64,
    /// Position of the last record that did not come, because the state had it when the stream was opened.
    pub floor: u64,
    pub next_ordinal: u64,
    /// Up to this position, the spill holds what is not acknowledged by all.
    pub spilled: u64,
    pub segments: VecDeque<Segment>,
    pub spill_bytes: u64,
    pub readers: Vec<Reader>,
    pub phase: Phase,
    /// Up to this position, acknowledgements are waited for.
    pub wanted: u64,
    pub stop: Option<Stop>,
    /// Threads that have not ended.
    pub threads: usize,
}

impl HubState {
    pub fn acknowledged(&self) -> u64 {
        let enabled = self.readers.iter().filter(|reader| reader.enabled);
        enabled.map(|reader| reader.acknowledged).min().unwrap_or(u64::MAX)
    }

    /// Position of the last record up to a position, or a later one that all exporters have acknowledged.
    pub fn last_upto(&self, position: u64) -> u64 {
        let acknowledged = self.acknowledged();
        if acknowledged >= position && acknowledged != u64::MAX {
            return position;
        }
        let end = self.memory.partition_point(|batch| batch.records[0].position <= position);
        let in_memory = self.memory.range(..end).next_back().map_or(0, |batch| {
            let count = batch.index_after(position);
            batch.records[count - 1].position
        });
        // Without exporters nothing is kept.
        let came = if acknowledged == u64::MAX { self.last } else { acknowledged };
        came.max(self.floor).min(position).max(in_memory)
    }

    /// Takes out of memory what everybody has acknowledged.
    pub fn trim(&mut self) -> Vec<Arc<Batch>> {
        let acknowledged = self.acknowledged();
        let count = self.memory.partition_point(|batch| batch.last() <= acknowledged);
        self.memory_bytes -= self.memory.range(..count).map(|batch| batch.weight).sum::<usize>();
        self.memory.drain(..count).collect()
    }

    /// Takes out of memory what the spill holds, until what is left has this size.
    pub fn drop_spilled(&mut self, bytes: usize) -> Vec<Arc<Batch>> {
        let mut dropped = Vec::new();
        while self.memory_bytes > bytes && self.memory.front().is_some_and(|b| b.last() <= self.spilled) {
            if let Some(batch) = self.memory.pop_front() {
                self.memory_bytes -= batch.weight;
                self.memory_floor = batch.last();
                dropped.push(batch);
            }
        }
        dropped
    }

    /// Batches up to a position that are neither acknowledged nor spilled, and the position after which they begin.
    pub fn unspilled(&self, upto: u64) -> (Vec<Arc<Batch>>, u64) {
        let from = self.spilled.max(self.acknowledged());
        let mut bytes = 0;
        let start = self.memory.partition_point(|batch| batch.last() <= from);
        let wanted = self.memory.range(start..).take_while(|batch| {
            let wanted = bytes < SPILL_ROUND_BYTES && batch.records[0].position <= upto;
            bytes += batch.weight;
            wanted
        });
        (wanted.cloned().collect(), from)
    }

    pub fn batch_after(&self, position: u64) -> Option<&Arc<Batch>> {
        self.memory.get(self.memory.partition_point(|batch| batch.last() <= position))
    }

    pub fn segment_after(&self, position: u64) -> Option<&Segment> {
        self.segments.get(self.segments.partition_point(|segment| segment.last <= position))
    }

    /// Number of the first record after a position, or of one before it in the same batch.
    pub fn ordinal_after(&self, position: u64) -> u64 {
        let spilled = (position < self.memory_floor).then(|| self.segment_after(position)).flatten();
        let ordinal = spilled.map(|segment| segment.ordinal);
        ordinal.or_else(|| Some(self.batch_after(position)?.ordinal)).unwrap_or(self.next_ordinal)
    }

    /// Whether no other exporter is further behind: memory holds records for this one.
    pub fn is_last(&self, reader: usize) -> bool {
        self.readers[reader].acknowledged == self.acknowledged()
    }

    /// Whether a flush of an exporter that has taken all that is wanted is waited for.
    pub fn waits_for_flush(&self, reader: usize) -> bool {
        let reader = &self.readers[reader];
        reader.is_at_work() && reader.flushed < self.wanted && reader.position >= self.wanted
    }

    pub fn oldest_ms(&self, reader: &Reader) -> Option<u64> {
        let waiting = || {
            let segment = (reader.position < self.memory_floor)
                .then(|| self.segment_after(reader.position).map(|segment| segment.oldest_ms));
            segment.flatten().or_else(|| self.batch_after(reader.position).map(|batch| batch.appended_ms))
        };
        reader.oldest_taken_ms().or_else(waiting)
    }

    fn is_done(&self, reader: &Reader) -> bool {
        !reader.enabled || reader.acknowledged >= self.last
    }

    /// Age of the oldest record that an exporter has not acknowledged.
    pub fn backlog_of(&self, reader: &Reader, now_ms: u64) -> Duration {
        if self.is_done(reader) {
            return Duration::ZERO;
        }
        let age_ms = self.oldest_ms(reader).map_or(0, |oldest_ms| now_ms.saturating_sub(oldest_ms));
        Duration::from_millis(age_ms)
    }

    pub fn status_of(&self, reader: &Reader, now_ms: u64) -> ExporterStatus {
        ExporterStatus {
            id: reader.id.clone(),
            exported_position: reader.position,
            acknowledged_position: reader.acknowledged,
            backlog_records: if self.is_done(reader) {
                0
            } else {
                self.next_ordinal.saturating_sub(reader.acknowledged_ordinal)
            },
            backlog: self.backlog_of(reader, now_ms),
            failure: reader.failure.clone(),
            enabled: reader.enabled,
            is_shared: reader.is_shared,
        }
    }
}
