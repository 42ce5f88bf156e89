//! How far the store is, for those who wait for what they wrote.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use protocol::PartitionId;
use tokio::sync::watch;

use crate::changes::{Changes, Touch};
use crate::wholeness::Wholeness;

/// Positions up to which records are in the store, by partition.
#[derive(Debug)]
pub struct Progress {
    positions: watch::Sender<BTreeMap<PartitionId, u64>>,
    is_open: watch::Sender<bool>,
    /// Whether an attempt to open the store failed.
    cannot_open: AtomicBool,
    /// The last changes.
    pub changes: Changes,
    /// Whether the store has everything.
    pub wholeness: Wholeness,
    /// The progress of all copies of the store, if this is that of one of them.
    of_all: Option<Arc<Self>>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            positions: watch::Sender::new(BTreeMap::new()),
            is_open: watch::Sender::new(false),
            cannot_open: AtomicBool::new(false),
            changes: Changes::default(),
            wholeness: Wholeness::default(),
            of_all: None,
        }
    }
}

impl Progress {
    /// The progress of one of several copies: what it reaches, all together have reached.
    pub fn of_copy(of_all: Arc<Self>) -> Self {
        Self { of_all: Some(of_all), ..Self::default() }
    }

    /// The store is open: it has tables, or never will have any here.
    pub fn opened(&self) {
        self.is_open.send_if_modified(|is_open| !std::mem::replace(is_open, true));
    }

    /// Notes that an attempt to open the store failed: it is away rather than slow.
    pub fn cannot_open(&self) {
        self.cannot_open.store(true, Ordering::Relaxed);
        if let Some(of_all) = &self.of_all {
            of_all.cannot_open();
        }
    }

    /// Whether the store is being opened, as far as is known: it is not open, and no attempt has failed.
    pub fn is_opening(&self) -> bool {
        !*self.is_open.borrow() && !self.cannot_open.load(Ordering::Relaxed)
    }

    /// Waits until the store is open, or the time is over.
    pub async fn wait_open(&self, timeout: Duration) {
        let mut is_open = self.is_open.subscribe();
        // The sender lives as long as this.
        let _ = tokio::time::timeout(timeout, is_open.wait_for(|is_open| *is_open)).await;
    }

    /// The store shows everything up to a position; 0 once it is open.
    pub fn reached(&self, partition: PartitionId, position: u64) {
        self.opened();
        self.positions.send_if_modified(|positions| {
            let known = positions.get(&partition);
            let is_news = known.is_none_or(|known| position > *known);
            if is_news {
                positions.insert(partition, position);
            }
            is_news
        });
        // In this order: who sees that some copy is there finds this one there, too.
        if let Some(of_all) = &self.of_all {
            of_all.reached(partition, position);
        }
    }

    /// Notes a position that a store shows which another broker writes: the subjects of its rows are not known here.
    pub fn reached_elsewhere(&self, partition: PartitionId, position: u64) {
        self.changes.catch_up(partition, position);
        self.reached(partition, position);
    }

    /// Whether there are readers of changes.
    pub fn is_watched(&self) -> bool {
        self.changes.is_wanted() || self.of_all.as_ref().is_some_and(|of_all| of_all.is_watched())
    }

    /// From now on, an exporter of this program tells of flushes.
    pub fn feed(&self) {
        if let Some(of_all) = &self.of_all {
            of_all.feed();
        }
        self.changes.feed();
    }

    /// A flush brings the store to a position; told before [`Progress::reached`].
    pub fn flushed(&self, partition: PartitionId, position: u64, touches: Option<&HashSet<Touch>>) {
        if let Some(of_all) = &self.of_all {
            of_all.flushed(partition, position, touches);
        }
        self.changes.flushed(partition, position, touches);
    }

    /// How far it is.
    pub fn position(&self, partition: PartitionId) -> u64 {
        self.positions.borrow().get(&partition).copied().unwrap_or(0)
    }

    /// How far it is, by partition.
    pub fn positions(&self) -> BTreeMap<PartitionId, u64> {
        self.positions.borrow().clone()
    }

    /// Waits until the store shows a position, or the time is over. Returns whether it does.
    pub async fn wait(&self, partition: PartitionId, position: u64, timeout: Duration) -> bool {
        let mut receiver = self.positions.subscribe();
        let reached =
            receiver.wait_for(|positions| positions.get(&partition).is_some_and(|at| *at >= position));
        tokio::time::timeout(timeout, reached).await.is_ok_and(|reached| reached.is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_never_behind_what_it_has_told_of_all() {
        const POSITIONS: u64 = 50_000;
        let all = Arc::new(Progress::default());
        let own = Arc::new(Progress::of_copy(Arc::clone(&all)));
        let writer = {
            let own = Arc::clone(&own);
            std::thread::spawn(move || (1..=POSITIONS).for_each(|position| own.reached(1, position)))
        };
        while all.position(1) < POSITIONS {
            let shown = all.position(1);
            assert!(own.position(1) >= shown);
        }
        writer.join().unwrap();
    }

    #[tokio::test]
    async fn who_waits_is_told() {
        let progress = Progress::default();
        progress.reached(1, 5);
        assert!(progress.wait(1, 5, Duration::ZERO).await);
        assert!(!progress.wait(1, 6, Duration::from_millis(1)).await);
        assert!(!progress.wait(2, 1, Duration::from_millis(1)).await);
        progress.reached(1, 4);
        assert_eq!(progress.position(1), 5);
        let opens = async {
            tokio::task::yield_now().await;
            progress.reached(2, 0);
        };
        let (is_open, ()) = tokio::join!(progress.wait(2, 0, Duration::from_mins(1)), opens);
        assert!(is_open);
    }
}
