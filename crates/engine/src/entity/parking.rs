//! Rows of records that the targets of exporters refused.

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

/// Bytes of a row beside those of its record and reason, about.
const ROW_BYTES: u64 = 64;

impl ParkedRecord {
    /// Bytes that count towards the limit.
    pub fn bytes(&self) -> u64 {
        ROW_BYTES + self.record.len() as u64 + self.reason.len() as u64
    }
}

/// How many parked records are kept, of all exporters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct ParkedTotals {
    #[n(0)]
    pub records: u64,
    /// Bytes of their rows, about.
    #[n(1)]
    pub bytes: u64,
}
