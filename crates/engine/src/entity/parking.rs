//! Rows of records that the targets of exporters refused.

use std::ops::RangeInclusive;
use std::sync::Arc;

use minicbor::{Decode, Encode};
use protocol::Name;
use state::minicbor_value;

/// A record that is kept for a later attempt.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ParkedRecord {
    /// The record in CBOR.
    #[cbor(n(0), with = "minicbor::bytes")]
    pub record: Vec<u8>,
    /// Reason of the refusal.
    #[n(1)]
    pub reason: Name,
    /// Time of the refusal, Unix milliseconds.
    #[n(2)]
    pub parked_ms: u64,
}
minicbor_value!(ParkedRecord, weight = |row| row.bytes() as usize);

/// Records that are kept at the most, of all exporters. It belongs to a version of the engine.
pub const PARKED_MAX: usize = 1000;

/// Bytes of a row beside those of its record and reason, about.
const ROW_BYTES: u64 = 64;

impl ParkedRecord {
    /// The places of all parked records of an exporter.
    pub fn places(exporter: &str) -> RangeInclusive<(Arc<str>, u64)> {
        let exporter: Arc<str> = Arc::from(exporter);
        (Arc::clone(&exporter), 0)..=(exporter, u64::MAX)
    }

    /// Bytes that count towards the limit.
    pub fn bytes(&self) -> u64 {
        ROW_BYTES + self.record.len() as u64 + self.reason.len() as u64
    }
}
