//! Changes of a cluster as a whole.

use minicbor::{Decode, Encode};

/// A change of the cluster: it begins with one command and is complete with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct ClusterChange {
    /// Counts from 1.
    #[n(0)]
    pub id: u64,
    /// Unix milliseconds of the log.
    #[n(1)]
    pub started_ms: i64,
    /// Unix milliseconds of the log; `None` while it goes on.
    #[n(2)]
    pub completed_ms: Option<i64>,
}

impl ClusterChange {
    /// The number of the last change that is complete, if there is one. Changes follow each other.
    pub const fn last_completed(&self) -> Option<u64> {
        match (self.completed_ms, self.id) {
            (Some(_), id) => Some(id),
            (None, 0 | 1) => None,
            (None, id) => Some(id - 1),
        }
    }
}
