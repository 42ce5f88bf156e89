//! The proposals of a group that are under way, and whether they come alone.
//!
//! Overlapping the sync of one entry with the application of another takes three threads; an entry that comes alone
//! is served by one, which saves the wake-ups in between. This file knows which of the two it is, and nothing of
//! entries.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

/// So many proposals in a row must come alone before they are served by the raft thread. Under load, too, one is now
/// and then alone for a moment, and its followers would then wait for it.
const ALONE_IN_A_ROW: usize = 8;

/// Proposals under way: taken, and not yet answered.
pub(crate) struct Proposals {
    permits: Semaphore,
    max: usize,
    /// How many of the latest proposals found no other under way.
    alone: AtomicUsize,
}

impl Proposals {
    /// At most `max` at once.
    pub(crate) fn new(max: usize) -> Self {
        Self { permits: Semaphore::new(max), max, alone: AtomicUsize::new(0) }
    }

    /// Waits until one more may be under way; an error means that no more are taken.
    pub(crate) async fn begin(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        let permit = self.permits.acquire().await?;
        if self.under_way() > 1 {
            self.alone.store(0, Ordering::Relaxed);
        } else {
            self.alone.fetch_add(1, Ordering::Relaxed);
        }
        Ok(permit)
    }

    /// Waits until none is under way. None begins until the permit is dropped.
    pub(crate) async fn pause(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        let all = u32::try_from(self.max).expect("proposals are fewer than 2^32");
        self.permits.acquire_many(all).await
    }

    pub(crate) fn close(&self) {
        self.permits.close();
    }

    /// Whether proposals come one at a time, so that nothing is gained by working on two at once.
    pub(crate) fn are_single(&self) -> bool {
        self.under_way() <= 1 && self.alone.load(Ordering::Relaxed) >= ALONE_IN_A_ROW
    }

    fn under_way(&self) -> usize {
        self.max.saturating_sub(self.permits.available_permits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn company_is_remembered_for_a_while() {
        let proposals = Proposals::new(4);
        for _ in 1..ALONE_IN_A_ROW {
            drop(proposals.begin().await.unwrap());
            assert!(!proposals.are_single());
        }
        let first = proposals.begin().await.unwrap();
        assert!(proposals.are_single());
        let second = proposals.begin().await.unwrap();
        drop(first);
        assert!(!proposals.are_single(), "the second came in company");
        drop(second);
        for _ in 0..ALONE_IN_A_ROW {
            assert!(!proposals.are_single());
            drop(proposals.begin().await.unwrap());
        }
        assert!(proposals.are_single());
    }
}
