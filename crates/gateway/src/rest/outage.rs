//! Whether a store is away, so that operators hear of each outage once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Last answer of a store. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Outage(Arc<AtomicBool>);

impl Outage {
    /// Remembers whether the store failed just now. Returns whether that is news.
    pub fn note(&self, is_away: bool) -> bool {
        self.0.load(Ordering::Relaxed) != is_away && self.0.swap(is_away, Ordering::Relaxed) != is_away
    }
}
