//! One budget of bytes for what all connections receive and send. Requests over it are refused; answers are not,
//! since what they tell has happened, but clients that do not take theirs must be faster then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Default limit of bytes on their way to and from clients.
pub(crate) const DEFAULT_BYTES: usize = 256 * 1024 * 1024;
/// Messages up to this size may use all of the budget, larger ones only the share that is not kept for small ones.
const SMALL_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Budget {
    bytes_max: usize,
    used: AtomicUsize,
}

/// Bytes of the budget, given back by dropping it.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    bytes: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, used: AtomicUsize::new(0) })
    }

    /// A message to be received, of which nothing has arrived.
    pub(crate) fn receive(self: &Arc<Self>) -> Held {
        Held { budget: Arc::clone(self), bytes: AtomicUsize::new(0) }
    }

    pub(crate) fn send(self: &Arc<Self>, bytes: usize) -> Held {
        self.used.fetch_add(bytes, Ordering::AcqRel);
        Held { budget: Arc::clone(self), bytes: AtomicUsize::new(bytes) }
    }

    /// Bytes on their way.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    /// Whether large messages find no room.
    pub(crate) fn is_tight(&self) -> bool {
        self.used() >= self.for_large()
    }

    fn for_large(&self) -> usize {
        self.bytes_max / 4 * 3
    }
}

impl Held {
    /// Adds a piece that has arrived, if there is room.
    #[must_use]
    pub(crate) fn add(&self, piece: usize) -> bool {
        let Budget { bytes_max, used } = &*self.budget;
        let is_small = self.bytes.load(Ordering::Acquire) + piece <= SMALL_BYTES;
        let limit = if is_small { *bytes_max } else { self.budget.for_large() };
        let room = used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(piece).filter(|&sum| sum <= limit)
        });
        if room.is_ok() {
            self.bytes.fetch_add(piece, Ordering::AcqRel);
        }
        room.is_ok()
    }

    /// Gives back what was added, or a part of it.
    pub(crate) fn give_back(&self, piece: usize) {
        let before = self.bytes.fetch_sub(piece, Ordering::AcqRel);
        debug_assert!(before >= piece, "more was given back than added");
        self.budget.used.fetch_sub(piece, Ordering::AcqRel);
    }
}

impl Held {
    /// Gives back all that was added.
    pub(crate) fn clear(&self) {
        let bytes = self.bytes.swap(0, Ordering::AcqRel);
        if bytes > 0 {
            self.budget.used.fetch_sub(bytes, Ordering::AcqRel);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        let before = self.budget.used.fetch_sub(bytes, Ordering::AcqRel);
        debug_assert!(before >= bytes, "more was given back than taken");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_leave_room_for_small_ones_and_all_is_given_back() {
        let budget = Budget::new(4 * SMALL_BYTES);
        let large = budget.receive();
        assert!(large.add(2 * SMALL_BYTES) && !budget.is_tight());
        assert!(large.add(SMALL_BYTES) && budget.is_tight());
        assert!(!large.add(1), "the rest is for small ones");
        let small = budget.receive();
        assert!(small.add(SMALL_BYTES - 1) && !small.add(2) && small.add(1));
        assert!(!budget.receive().add(1), "nothing is left");
        let sent = budget.send(7);
        assert_eq!(budget.used(), 4 * SMALL_BYTES + 7);
        small.give_back(7);
        assert_eq!(budget.used(), 4 * SMALL_BYTES);
        drop((large, small, sent));
        assert_eq!(budget.used(), 0);
    }
}
