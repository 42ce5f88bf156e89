//! How far one exporter is.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::batch::Chunk;
use crate::exporter::Flush;
use crate::missing::Missing;

/// Chunks that are remembered one by one until they are flushed; beyond, they are merged.
const MARKS: usize = 1024;

/// How one exporter is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExporterStatus {
    /// Its ID.
    pub id: String,
    /// Position of the last record it took.
    pub exported_position: u64,
    /// Position up to which it has acknowledged.
    pub acknowledged_position: u64,
    /// Records that it has not acknowledged.
    pub backlog_records: u64,
    /// Age of the oldest record that it has not acknowledged.
    pub backlog: Duration,
    /// Reason why the exporter is stalled, while it fails.
    pub failure: Option<String>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether its target is that of all replicas, so that only the one that leads exports to it.
    pub is_shared: bool,
}

/// Result of replaying parked records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Records that the target has now.
    pub replayed: u64,
    /// Records that stay parked.
    pub refused: u64,
    /// Why the first of them does.
    pub reason: Option<String>,
}

/// The end of a chunk that was exported.
#[derive(Debug, Clone, Copy)]
struct Mark {
    last: u64,
    end_ordinal: u64,
    appended_ms: u64,
}

/// How far one exporter is, as the stream keeps it.
#[derive(Debug)]
pub(crate) struct Reader {
    pub id: String,
    /// Position of the last record it took.
    pub position: u64,
    /// Position up to which it has made records durable.
    pub flushed: u64,
    /// Position up to which it has handed records on, durable or not.
    pub handed_on: u64,
    /// Position up to which somebody wants records handed on.
    pub looked_for: u64,
    /// Position up to which records are not kept for it; behind `flushed` during a soft pause.
    pub acknowledged: u64,
    /// Records before this number are acknowledged.
    pub acknowledged_ordinal: u64,
    /// Whether it waits for records and wants to be woken.
    pub idle: bool,
    /// Reason why the exporter is stalled.
    pub failure: Option<String>,
    /// Whether it takes records at all.
    pub enabled: bool,
    /// Whether it was switched on and has to begin anew.
    pub restart: bool,
    /// Whether its target is that of all replicas.
    pub is_shared: bool,
    /// Whether another replica exports: this one keeps what that has not acknowledged.
    pub is_passive: bool,
    /// Records that may be missing here, and that other replicas have.
    pub missing: Missing,
    /// Requests that wait for the replay of parked records.
    pub replay: Option<SyncSender<Replayed>>,
    marks: VecDeque<Mark>,
}

impl Reader {
    pub fn new(id: String, acknowledged: u64, acknowledged_ordinal: u64, enabled: bool) -> Self {
        Self {
            id,
            position: acknowledged,
            flushed: acknowledged,
            handed_on: acknowledged,
            looked_for: 0,
            acknowledged,
            acknowledged_ordinal,
            idle: false,
            failure: None,
            enabled,
            restart: false,
            is_shared: false,
            is_passive: false,
            missing: Missing::default(),
            replay: None,
            marks: VecDeque::new(),
        }
    }

    /// It goes on after a position.
    pub fn reopened(&mut self, position: u64) {
        self.position = position;
        self.flushed = position;
        self.handed_on = position;
        self.marks.retain(|mark| mark.last <= position);
    }

    /// It is switched on and begins after a position, whatever it did before.
    pub fn switched_on(&mut self, position: u64, ordinal: u64) {
        self.enabled = true;
        self.skipped(position, ordinal);
    }

    /// It begins again after a position: the records before it do not come.
    pub fn skipped(&mut self, position: u64, ordinal: u64) {
        self.restart = true;
        self.acknowledged = self.acknowledged.max(position);
        self.acknowledged_ordinal = ordinal;
        self.marks.clear();
        self.reopened(self.acknowledged);
    }

    /// With a target that is that of all replicas; another one exports at first.
    pub fn shared(self, missing: Missing) -> Self {
        Self { is_shared: true, is_passive: true, missing, ..self }
    }

    /// Whether it takes records now.
    pub fn is_at_work(&self) -> bool {
        self.enabled && !self.is_passive
    }

    /// This replica leads or leads no more: the exporter begins after what is acknowledged, or ends.
    pub fn lead(&mut self, leads: bool) {
        assert!(self.is_shared, "{} has a target of its own", self.id);
        self.is_passive = !leads;
        self.restart = true;
        self.failure = None;
        self.marks.clear();
        self.reopened(self.acknowledged);
    }

    /// Another replica has exported up to a position.
    pub fn acknowledged_elsewhere(&mut self, position: u64, ordinal: u64) {
        self.acknowledge(position);
        self.acknowledged_ordinal = self.acknowledged_ordinal.max(ordinal);
        self.reopened(self.acknowledged);
    }

    /// Whether somebody waits for what it has not handed on.
    pub fn is_looked_for(&self) -> bool {
        self.handed_on < self.looked_for
    }

    /// Records that were taken are handed on, but for those that a flush may leave.
    pub fn hand_on(&mut self, flush: Flush) {
        let handed_on = if flush.may_leave() { self.flushed } else { self.position };
        self.handed_on = self.handed_on.max(handed_on);
    }

    pub fn took(&mut self, chunk: &Chunk) {
        self.position = chunk.last();
        if self.marks.is_empty() {
            self.acknowledged_ordinal = self.acknowledged_ordinal.max(chunk.ordinal);
        }
        let mark =
            Mark { last: chunk.last(), end_ordinal: chunk.end_ordinal(), appended_ms: chunk.appended_ms };
        let full = self.marks.len() >= MARKS;
        match self.marks.back_mut() {
            Some(back) if full => {
                (back.last, back.end_ordinal) = (mark.last, mark.end_ordinal);
            }
            _ => self.marks.push_back(mark),
        }
    }

    /// It needs nothing up to a position any more.
    pub fn acknowledge(&mut self, position: u64) {
        self.acknowledged = self.acknowledged.max(position);
        while let Some(mark) = self.marks.front().filter(|mark| mark.last <= position) {
            self.acknowledged_ordinal = mark.end_ordinal;
            self.marks.pop_front();
        }
    }

    /// When the oldest record came that it took and did not acknowledge.
    pub fn oldest_taken_ms(&self) -> Option<u64> {
        self.marks.front().map(|mark| mark.appended_ms)
    }
}
