//! Progress of the state on its way to disk. The machine writes it; others read it, and ask for flushes.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

/// Progress of flushes, and requests for one.
pub(crate) struct FlushState {
    /// Log index up to which everything is on disk.
    durable: watch::Sender<u64>,
    /// A flush that the next batch waits for.
    ordered: AtomicBool,
    /// A flush as soon as none is under way.
    asked: AtomicBool,
    pending: AtomicBool,
    blocked: AtomicBool,
    /// The reason why the last flush failed, if it did.
    failure: Mutex<Option<String>>,
}

impl FlushState {
    /// Of a state that is on disk up to a log index.
    pub fn new(durable: u64) -> Self {
        Self {
            durable: watch::Sender::new(durable),
            ordered: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            pending: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Log index up to which everything is on disk.
    pub fn durable_index(&self) -> u64 {
        // The guard of a watch must not outlive this line: a sender would wait for it.
        *self.durable.borrow()
    }

    /// Changes of [`Self::durable_index`].
    pub fn durable(&self) -> watch::Receiver<u64> {
        self.durable.subscribe()
    }

    /// Orders a flush at the next batch, which waits for it.
    pub fn order(&self) {
        self.ordered.store(true, Ordering::Release);
    }

    /// Takes the order of a flush, if there is one.
    pub fn take_order(&self) -> bool {
        self.ordered.swap(false, Ordering::AcqRel)
    }

    /// Asks for a flush as soon as none is under way.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Release);
    }

    /// Whether a flush is asked for that has not begun.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// A flush begins: it is the one that was asked for.
    pub fn begins(&self) {
        self.asked.store(false, Ordering::Release);
    }

    /// Notes whether there is something to flush or to take over from a flush, and whether flushes fail while memory
    /// holds as much as it may.
    pub fn note(&self, is_pending: bool, is_blocked: bool) {
        debug_assert!(is_pending || !is_blocked, "memory without changes is not full of them");
        self.pending.store(is_pending, Ordering::Release);
        self.blocked.store(is_blocked, Ordering::Release);
    }

    /// Whether there is something to flush, or to take over from a flush.
    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// Whether flushes fail and memory holds as much unflushed state as it may.
    pub fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Acquire)
    }

    /// The state is on disk up to a log index.
    pub fn reached(&self, index: u64) {
        *self.failure.lock() = None;
        self.durable.send_replace(index);
    }

    /// A flush has failed. Returns whether the one before had failed, too.
    pub fn failed(&self, reason: String) -> bool {
        self.failure.lock().replace(reason).is_some()
    }

    /// The reason why the last flush failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }
}
