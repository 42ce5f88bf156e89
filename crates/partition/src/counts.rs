//! Counts for operators, kept by the partition's thread and published each second.

use std::time::Duration;

use engine::{Counters, Engine};
use parking_lot::Mutex;
use protocol::{PartitionId, Record};

use crate::metric_definitions::Metrics;
use crate::tally::{Applied, Tally};

/// Counts of a partition since the broker has started, and of its state.
pub(crate) struct Counts {
    pub metrics: Metrics,
    kept: Mutex<EngineCounts>,
    tally: Mutex<Tally>,
}

/// Counts of the engine, as of a look at it.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineCounts {
    pub counters: Counters,
    /// Rows of the tables of the state.
    pub rows: Vec<(&'static str, u64)>,
}

impl Counts {
    pub fn new(partition: PartitionId) -> Self {
        Self { metrics: Metrics::new(partition), kept: Mutex::default(), tally: Mutex::default() }
    }

    /// Counts the commands and records of an entry, and how long they took.
    pub fn tell(&self, leads: bool, (applied, took): (Applied, Duration), records: &[Record]) {
        if leads {
            self.tally.lock().processed(applied, records);
        } else {
            self.tally.lock().replayed(applied);
            self.metrics.replayed(took);
        }
    }

    /// Takes over the counts of the engine.
    pub fn look(&self, engine: &Engine) {
        let kept = EngineCounts { counters: engine.counters().clone(), rows: engine.tables().row_counts() };
        *self.kept.lock() = kept;
    }

    /// Counts of the engine, as of the last look at it.
    pub fn kept(&self) -> EngineCounts {
        self.kept.lock().clone()
    }

    /// Counts of the partition's thread.
    pub fn tally(&self) -> Tally {
        self.tally.lock().clone()
    }
}
