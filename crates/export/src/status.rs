//! How exporting is, for those who watch it or wait for it.

use std::time::Duration;

use crate::phase::Phase;
use crate::reader::ExporterStatus;

/// How exporting is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whether it is paused.
    pub phase: Phase,
    /// Each exporter.
    pub exporters: Vec<ExporterStatus>,
    /// Position up to which every exporter has acknowledged.
    pub acknowledged_position: u64,
    /// About how many bytes of records are in memory.
    pub memory_bytes: usize,
    /// Bytes of the spill.
    pub spill_bytes: u64,
}

/// Exporters lag so much that records pile up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overload {
    /// Whether everything is to be refused, or new work only.
    pub everything: bool,
    /// Which limit is reached and which exporter lags most, for people.
    pub reason: String,
}

/// How far exporting is for somebody who is about to look for what is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hastened {
    /// Position of the last record.
    pub position: u64,
    /// Age of the oldest record that the exporter has not acknowledged.
    pub lag: Duration,
    /// Whether the exporter is to do nothing: it is switched off or paused.
    pub is_off: bool,
    /// Whether it fails.
    pub is_failing: bool,
    /// Whether another replica exports to the target, which is that of all.
    pub is_elsewhere: bool,
}
