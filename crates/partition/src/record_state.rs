//! The way of records to exporters, and how far they are. The machine writes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use export::Hub;
use protocol::Record;

use crate::local_positions::LocalPositions;

/// The exporters of records, here and on other brokers.
#[derive(Default)]
pub struct RecordTarget {
    /// Exporters of this broker; `None` if there are none.
    pub exports: Option<Arc<Hub>>,
    /// Positions of exporters, if this broker has copies of their targets.
    pub local_positions: Option<Arc<LocalPositions>>,
    /// Whether exporters take records, here or on other brokers.
    pub is_recorded: bool,
}

/// Progress of records.
pub(crate) struct RecordState {
    pub target: RecordTarget,
    /// Position of the last record that exporters take; 0 if there was none yet.
    last: AtomicU64,
    /// Position up to which the records were handed to exporters.
    handed_on: AtomicU64,
}

impl RecordState {
    /// Of a state whose last record has this position.
    pub fn new(target: RecordTarget, position: u64) -> Self {
        Self { target, last: AtomicU64::new(0), handed_on: AtomicU64::new(position) }
    }

    /// The exporters of this broker; `None` if there are none.
    pub fn exports(&self) -> Option<&Arc<Hub>> {
        self.target.exports.as_ref()
    }

    /// Exporters with the positions of their targets, if this broker has copies of these.
    pub fn copies(&self) -> Option<(&Arc<Hub>, &Arc<LocalPositions>)> {
        self.target.exports.as_ref().zip(self.target.local_positions.as_ref())
    }

    /// Hands the records of an entry on; the state is at `position` with them. `last` is the position of the last one
    /// that exporters take, if there is one.
    pub fn append(&self, records: Vec<Record>, last: Option<u64>, position: u64) {
        if let Some(last) = last.filter(|_| self.target.is_recorded) {
            self.last.store(last, Ordering::Release);
        }
        if let Some(exports) = &self.target.exports {
            exports.append(records);
        }
        self.skip_to(position);
    }

    /// The state has become another one, at this position.
    pub fn skip_to(&self, position: u64) {
        self.handed_on.store(position, Ordering::Release);
    }

    /// Position of the last record that exporters take; 0 if there was none yet.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// Position up to which the records were handed to exporters.
    pub fn handed_on(&self) -> u64 {
        self.handed_on.load(Ordering::Acquire)
    }
}
