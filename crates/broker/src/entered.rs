//! Entries of this broker on their way into the log, until they are applied here.
//!
//! An entry goes to the leader, whoever that is, and comes back as a committed one. Its number, which names broker and
//! life, says which requests wait for it. So each broker answers its own clients from its own state, and nothing but
//! commands crosses the network.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::machine::Proposed;
use crate::numbers::Numbers;

/// An entry, and where the log index goes when it is applied.
type Waiting = (Arc<Proposed>, oneshot::Sender<u64>);

pub(crate) struct Entered {
    numbers: Numbers,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

impl Entered {
    pub fn new(numbers: Numbers) -> Self {
        Self { numbers, waiting: Mutex::default() }
    }

    /// A number for an entry.
    pub fn next(&self) -> u64 {
        self.numbers.next()
    }

    /// An entry is on its way. The receiver gets the log index when it was applied here.
    pub fn add(&self, number: u64, proposed: Arc<Proposed>) -> oneshot::Receiver<u64> {
        let (applied, receiver) = oneshot::channel();
        let before = self.waiting.lock().insert(number, (proposed, applied));
        assert!(before.is_none(), "entry {number} is on its way twice");
        receiver
    }

    /// Nobody waits for the entry any more.
    pub fn forget(&self, number: u64) {
        self.waiting.lock().remove(&number);
    }

    /// The entry with this number is about to be applied.
    pub fn take(&self, number: u64) -> Option<Waiting> {
        // Numbers of others and of earlier lives are the common case on a follower.
        if !self.numbers.has_given(number) {
            return None;
        }
        self.waiting.lock().remove(&number)
    }
}
