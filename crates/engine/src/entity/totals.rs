//! Rows of a kind, counted.

use minicbor::{Decode, Encode};
use state::minicbor_value;

/// Number of rows of a kind, where it is bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct RowTotals {
    #[n(0)]
    pub rows: u64,
    /// Bytes of the rows, about.
    #[n(1)]
    pub bytes: u64,
}
minicbor_value!(RowTotals);

impl RowTotals {
    /// Adds a row.
    #[must_use]
    pub fn with(self, bytes: u64) -> Self {
        Self { rows: self.rows + 1, bytes: self.bytes + bytes }
    }

    /// Removes a row. `None` if it was the last one.
    #[must_use]
    pub fn without(self, bytes: u64) -> Option<Self> {
        let left = Self { rows: self.rows - 1, bytes: self.bytes - bytes };
        assert!(left.rows > 0 || left.bytes == 0, "no rows have no bytes");
        (left.rows > 0).then_some(left)
    }
}
