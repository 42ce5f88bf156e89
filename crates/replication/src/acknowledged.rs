//! The memory of what other nodes have acknowledged, by which one that went back in time is told from one that was
//! restarted.
//!
//! A node that has granted a vote or told that it has an entry may forget neither. With an old copy of its files it
//! would, and nothing in these files says so; only those to whom it made the promise know.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::types::Vote;

/// How far a node is: its vote, and the last entry that it has under it. Later ones are greater: votes only go up, and
/// under one vote a node loses no entry that it has acknowledged. Under a later vote, its log may be shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acknowledged {
    /// The term of the vote.
    pub term: u64,
    /// The node that has the vote.
    pub node: u64,
    /// Index of the entry.
    pub index: u64,
}

impl Acknowledged {
    pub(crate) fn new(vote: &Vote, index: u64) -> Self {
        let leader = vote.leader_id();
        Self { term: leader.term, node: leader.node_id, index }
    }
}

/// The latest acknowledgements of other nodes, by their numbers, as this node has received them. They outlive its
/// leadership, and are stored with its entries.
#[derive(Clone, Default)]
pub(crate) struct Acknowledgements(Arc<Mutex<BTreeMap<u64, Latest>>>);

#[derive(Clone, Copy, Default)]
struct Latest {
    acknowledged: Acknowledged,
    is_stored: bool,
}

impl Acknowledgements {
    /// A node has told this one: under this vote, it has everything up to an entry.
    pub(crate) fn note(&self, node: u64, acknowledged: Acknowledged) {
        let mut known = self.0.lock();
        let latest = known.entry(node).or_default();
        if acknowledged > latest.acknowledged {
            *latest = Latest { acknowledged, is_stored: false };
        }
    }

    /// Acknowledgements that are to be stored now.
    pub(crate) fn take_new(&self) -> Vec<(u64, Acknowledged)> {
        let mut known = self.0.lock();
        let new = known.iter_mut().filter(|(_, latest)| !latest.is_stored);
        new.map(|(node, latest)| {
            latest.is_stored = true;
            (*node, latest.acknowledged)
        })
        .collect()
    }

    pub(crate) fn all(&self) -> BTreeMap<u64, Acknowledged> {
        self.0.lock().iter().map(|(node, latest)| (*node, latest.acknowledged)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_acknowledgement_of_a_node_is_kept() {
        let known = Acknowledgements::default();
        let of = |term, index| Acknowledged::new(&Vote::new(term, 1), index);
        for acknowledged in [of(2, 10), of(2, 12), of(2, 11), of(3, 0), of(2, 13), of(3, 7), of(1, 99)] {
            known.note(5, acknowledged);
        }
        assert_eq!(known.take_new(), [(5, of(3, 7))]);
        known.note(5, of(3, 6));
        known.note(6, of(1, 1));
        assert_eq!(known.take_new(), [(6, of(1, 1))]);
        assert_eq!(known.all(), BTreeMap::from([(5, of(3, 7)), (6, of(1, 1))]));
        assert!(of(3, 0) > of(2, u64::MAX), "a later vote may go with a shorter log");
    }
}
