//! Entries of this broker on their way into the log, until they are applied here.
//!
//! An entry goes to the leader, whoever that is, and comes back as a committed one. Its number, which names broker and
//! life, says which requests wait for it. So each broker answers its own clients from its own state, and nothing but
//! commands crosses the network.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use protocol::Batch;
use tokio::sync::{oneshot, watch};

use crate::answers::Waiter;
use crate::numbers::Numbers;

/// A batch on the node that proposed it.
pub(crate) struct Proposed {
    pub batch: Batch,
    pub sent_at: Instant,
    /// Waiters of the first commands of the batch; taken when it is applied, or when it failed.
    pub waiters: Mutex<Vec<Waiter>>,
}

impl Proposed {
    pub fn take_waiters(&self) -> Vec<Waiter> {
        std::mem::take(&mut *self.waiters.lock())
    }
}

/// An entry, and where the log index goes when it is applied.
pub(crate) type Waiting = (Arc<Proposed>, oneshot::Sender<u64>);

pub(crate) struct Entered {
    numbers: Numbers,
    waiting: Mutex<HashMap<u64, Waiting>>,
    /// Term of the last entry that was applied.
    term: watch::Sender<u64>,
    /// Snapshots that took the place of the state.
    skips: watch::Sender<u64>,
}

impl Entered {
    pub fn new(numbers: Numbers) -> Self {
        Self { numbers, waiting: Mutex::default(), term: watch::channel(0).0, skips: watch::channel(0).0 }
    }

    /// A number for an entry.
    pub fn next(&self) -> u64 {
        self.numbers.next()
    }

    /// Notes that an entry is on its way. The receiver gets the log index when it was applied here.
    pub fn add(&self, number: u64, proposed: Arc<Proposed>) -> oneshot::Receiver<u64> {
        let (applied, receiver) = oneshot::channel();
        let before = self.waiting.lock().insert(number, (proposed, applied));
        assert!(before.is_none(), "entry {number} is on its way twice");
        receiver
    }

    /// Forgets an entry whose client no longer waits.
    pub fn forget(&self, number: u64) {
        self.waiting.lock().remove(&number);
    }

    /// The entry of this number, as long as it is on its way.
    pub fn get(&self, number: u64) -> Option<Arc<Proposed>> {
        self.waiting.lock().get(&number).map(|(proposed, _)| Arc::clone(proposed))
    }

    /// Takes the batch that is about to be applied, as an entry of a term.
    pub fn take(&self, batch: &Batch, term: u64) -> Option<Waiting> {
        let origin = batch.origin.filter(|origin| origin.term == term)?;
        // Numbers of others and of earlier lives are the common case on a follower.
        if !self.numbers.has_given(origin.number) {
            return None;
        }
        self.waiting.lock().remove(&origin.number)
    }

    /// Notes that an entry of this term, and everything before it, was applied.
    pub fn has_applied(&self, term: u64) {
        self.term.send_if_modified(|known| std::mem::replace(known, term) != term);
    }

    /// Notes that a snapshot takes the place of the state. Entries that were sent may be among those that it stands
    /// for, which nobody can tell. To be called before an entry after it is applied.
    pub fn skip(&self) {
        self.skips.send_modify(|skips| *skips += 1);
    }

    /// Changes with each snapshot that takes the place of the state.
    pub fn skips(&self) -> watch::Receiver<u64> {
        self.skips.subscribe()
    }

    /// Resolves when an entry of a later term was applied. One of this term that was not applied by then is in no log
    /// and will be in none: it would come before.
    pub async fn later_term(&self, term: u64) {
        // The sender lives as long as this.
        let _ = self.term.subscribe().wait_for(|applied| *applied > term).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_snapshot_tells_those_who_wait_before_an_entry_after_it_does() {
        let entered = Entered::new(Numbers::new(1, 1));
        let mut skips = entered.skips();
        assert!(!skips.has_changed().unwrap());
        entered.skip();
        entered.has_applied(2);
        // Both are there: whether the entry was in the snapshot decides.
        let is_open = tokio::select! {
            biased;
            _ = skips.changed() => true,
            () = entered.later_term(1) => false,
        };
        assert!(is_open);
        assert!(
            !entered.skips().has_changed().unwrap(),
            "entries after it are not among those that it stands for"
        );
    }
}
