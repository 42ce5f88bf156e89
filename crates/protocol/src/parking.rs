//! Records that the targets of exporters refuse.

use minicbor::{Decode, Encode};

use crate::Name;

/// See [`crate::Command::ParkRecord`].
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ParkRecord {
    /// ID of the exporter.
    #[n(0)]
    pub exporter: Name,
    /// Position of the record.
    #[n(1)]
    pub position: u64,
    /// The record in CBOR.
    #[cbor(n(2), with = "minicbor::bytes")]
    pub record: Vec<u8>,
    /// Reason of the refusal.
    #[n(3)]
    pub reason: Name,
    /// Time of the refusal, Unix milliseconds.
    #[n(4)]
    pub parked_ms: u64,
}
