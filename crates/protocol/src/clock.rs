//! Commands to the clock of a partition.

use minicbor::{Decode, Encode};

/// A change of the clock ([`Command::Clock`](crate::Command::Clock)).
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Clock {
    /// Time stands still at this instant.
    #[n(0)]
    Pin {
        /// Unix milliseconds.
        #[n(0)]
        timestamp_ms: i64,
    },
    /// Time goes on from so much later, or earlier; a pinned clock stays pinned there.
    #[n(2)]
    Add {
        /// How much later.
        #[n(0)]
        offset_ms: i64,
    },
    /// Time runs as on the wall again.
    #[n(1)]
    Reset,
}
