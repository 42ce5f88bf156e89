//! Whether a store has all that happened, for those who ask it, watch it, or are about to stop it.

use std::collections::BTreeMap;
use std::fmt;

use parking_lot::Mutex;
use protocol::{PartitionId, Record};

/// Records that a store never got: those after a position, up to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// It has everything up to here, or has told of an earlier gap.
    pub after: u64,
    /// It has everything after here.
    pub upto: u64,
    /// Whether somebody has said that the history goes on without them.
    pub is_accepted: bool,
}

/// How a store is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StoreState {
    /// The state has not been determined yet.
    #[default]
    Unknown,
    /// It has everything but its gaps.
    Whole,
    /// It lacks records that are in the store of another broker, which is fetched.
    UnderWay(Lacking),
    /// It lacks records that no broker has.
    Lost(Lacking),
}

/// Records that a store lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacking {
    /// It has everything up to here.
    pub stored: u64,
    /// It needs everything up to here.
    pub needed: u64,
    /// Why it could not be fetched so far; may be empty.
    pub reason: String,
}

/// State of a store and its gaps, as its exporter tells them.
#[derive(Debug, Default)]
pub struct Wholeness(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    /// The state and the gaps of the records of each partition.
    partitions: BTreeMap<PartitionId, (StoreState, Vec<Gap>)>,
    /// Set when an operator has the history go on without the missing records.
    begins: Option<Filling>,
}

/// The state at a position, as records that make its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filling {
    /// Everything that happened up to here has led to it.
    pub position: u64,
    /// As if it all happened at that moment.
    pub records: Vec<Record>,
}

impl StoreState {
    /// Less is worse.
    const fn rank(&self) -> u8 {
        match self {
            Self::UnderWay(_) => 0,
            Self::Lost(_) => 1,
            Self::Unknown => 2,
            Self::Whole => 3,
        }
    }
}

impl Wholeness {
    /// It lacks records of a partition.
    pub fn lacks(&self, partition: PartitionId, state: StoreState) {
        self.0.lock().partitions.entry(partition).or_default().0 = state;
    }

    /// It has all of a partition but these.
    pub fn has_all_but(&self, partition: PartitionId, gaps: Vec<Gap>) {
        self.0.lock().partitions.insert(partition, (StoreState::Whole, gaps));
    }

    /// How it is, by the partition with which it is worst.
    pub fn state(&self) -> StoreState {
        let told = self.0.lock();
        let states = told.partitions.values().map(|(state, _)| state);
        states.min_by_key(|state| state.rank()).cloned().unwrap_or_default()
    }

    /// The records that it lacks, in words, if it needs them.
    pub fn lacking(&self) -> Option<String> {
        match &self.state() {
            StoreState::Unknown | StoreState::Whole => None,
            StoreState::UnderWay(lacking) => {
                Some(format!("{lacking}; a copy is fetched from another broker"))
            }
            StoreState::Lost(lacking) => Some(format!("{lacking}; no other broker has them")),
        }
    }

    /// Whether it is known to lack records.
    pub fn is_lacking(&self) -> bool {
        matches!(self.state(), StoreState::UnderWay(_) | StoreState::Lost(_))
    }

    /// Its gaps, those that are accepted too.
    pub fn gaps(&self) -> Vec<Gap> {
        self.0.lock().partitions.values().flat_map(|(_, gaps)| gaps).copied().collect()
    }

    /// Whether it lacks anything that nobody has accepted.
    pub fn is_incomplete(&self) -> bool {
        self.is_lacking() || self.gaps().iter().any(|gap| !gap.is_accepted)
    }

    /// Has the history go on without what is missing, with what there is, once its exporter is opened again.
    pub fn begin(&self, filling: Filling) {
        self.0.lock().begins = Some(filling);
    }

    /// Whether it does.
    pub fn begins(&self) -> bool {
        self.0.lock().begins.is_some()
    }

    /// The state that is to be put in now.
    pub fn filling(&self) -> Option<Filling> {
        self.0.lock().begins.clone()
    }

    /// It has begun.
    pub fn has_begun(&self) {
        self.0.lock().begins = None;
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stored, needed, reason } = self;
        write!(f, "it lacks records after position {stored} up to {needed}")?;
        if reason.is_empty() { Ok(()) } else { write!(f, " ({reason})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lacks_something_begins_anew() {
        let wholeness = Wholeness::default();
        assert!(!wholeness.is_incomplete() && !wholeness.begins());
        let lacking = Lacking { stored: 5, needed: 9, reason: "gone".to_owned() };
        wholeness.has_all_but(2, Vec::new());
        wholeness.lacks(1, StoreState::Lost(lacking));
        assert!(wholeness.lacking().is_some_and(|text| text.contains("after position 5 up to 9 (gone)")));
        assert!(wholeness.is_incomplete() && !wholeness.begins());
        wholeness.begin(Filling::default());
        assert!(wholeness.begins());
        wholeness.has_begun();
        wholeness.has_all_but(1, vec![Gap { after: 5, upto: 9, is_accepted: true }]);
        assert!(!wholeness.is_incomplete() && !wholeness.begins() && wholeness.lacking().is_none());
        assert_eq!(wholeness.state(), StoreState::Whole);
        wholeness.has_all_but(1, vec![Gap { after: 5, upto: 9, is_accepted: false }]);
        wholeness.has_all_but(2, Vec::new());
        assert!(wholeness.is_incomplete());
    }
}
