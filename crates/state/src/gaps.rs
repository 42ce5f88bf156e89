//! Stretches of a key space in which a scan found nothing to see, so that the next scan can step over them.
//!
//! Rows deleted since the last flush are still on disk, hidden by tombstones. A queue consumed from the front would
//! make every look at its head walk over all of them again; a remembered gap makes that one jump.

use std::{cmp::Ordering, ops::Bound};

/// Gaps kept per table and layer; when there are more, they are forgotten and found anew.
const GAPS_MAX: usize = 1024;

/// A place between two encoded keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cut {
    Min,
    /// Just before the key.
    Before(Vec<u8>),
    /// Just after the key.
    After(Vec<u8>),
    Max,
}

impl Cut {
    /// Whether the key lies to the right of this cut.
    fn precedes(&self, key: &[u8]) -> bool {
        match self {
            Self::Min => true,
            Self::Before(at) => at.as_slice() <= key,
            Self::After(at) => at.as_slice() < key,
            Self::Max => false,
        }
    }

    pub(crate) fn from_start(bound: Bound<Vec<u8>>) -> Self {
        match bound {
            Bound::Included(key) => Self::Before(key),
            Bound::Excluded(key) => Self::After(key),
            Bound::Unbounded => Self::Min,
        }
    }

    pub(crate) fn from_end(bound: Bound<Vec<u8>>) -> Self {
        match bound {
            Bound::Included(key) => Self::After(key),
            Bound::Excluded(key) => Self::Before(key),
            Bound::Unbounded => Self::Max,
        }
    }

    /// As the lower end of a range.
    pub(crate) fn start(&self) -> Bound<&[u8]> {
        match self {
            Self::Before(key) => Bound::Included(key),
            Self::After(key) => Bound::Excluded(key),
            Self::Min | Self::Max => Bound::Unbounded,
        }
    }

    /// As the upper end of a range.
    pub(crate) fn end(&self) -> Bound<&[u8]> {
        match self {
            Self::Before(key) => Bound::Excluded(key),
            Self::After(key) => Bound::Included(key),
            Self::Min | Self::Max => Bound::Unbounded,
        }
    }

    /// Moves to just before or just after a key.
    pub(crate) fn move_to(&mut self, key: &[u8], is_after: bool) {
        // Most moves go from key to key: the memory stays.
        let mut bytes = match std::mem::replace(self, Self::Min) {
            Self::Before(bytes) | Self::After(bytes) => bytes,
            Self::Min | Self::Max => Vec::new(),
        };
        bytes.clear();
        bytes.extend_from_slice(key);
        *self = if is_after { Self::After(bytes) } else { Self::Before(bytes) };
    }
}

impl Ord for Cut {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Min, Self::Min) | (Self::Max, Self::Max) => Ordering::Equal,
            (Self::Min, _) | (_, Self::Max) => Ordering::Less,
            (Self::Max, _) | (_, Self::Min) => Ordering::Greater,
            (Self::Before(left), Self::Before(right)) | (Self::After(left), Self::After(right)) => {
                left.cmp(right)
            }
            (Self::Before(left), Self::After(right)) => left.cmp(right).then(Ordering::Less),
            (Self::After(left), Self::Before(right)) => left.cmp(right).then(Ordering::Greater),
        }
    }
}

impl PartialOrd for Cut {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Disjoint gaps in ascending order.
#[derive(Debug)]
pub(crate) struct Gaps(Vec<(Cut, Cut)>);

impl Gaps {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    /// The far end of the gap that a walk from this place runs into at once.
    pub(crate) fn beyond(&self, place: &Cut, backwards: bool) -> Option<&Cut> {
        if backwards {
            let (start, end) = self.0.get(self.0.partition_point(|(_, end)| end < place))?;
            (start < place && place <= end).then_some(start)
        } else {
            let index = self.0.partition_point(|(start, _)| start <= place).checked_sub(1)?;
            let end = &self.0[index].1;
            (end > place).then_some(end)
        }
    }

    fn find(&self, key: &[u8]) -> Option<usize> {
        let index = self.0.partition_point(|(start, _)| start.precedes(key)).checked_sub(1)?;
        (!self.0[index].1.precedes(key)).then_some(index)
    }

    /// Remembers that nothing is visible between two cuts. Unless `worth_it`, only as part of a gap next to it.
    pub(crate) fn add(&mut self, mut start: Cut, mut end: Cut, worth_it: bool) {
        if start >= end {
            return;
        }
        // All that touch or overlap the new gap become one with it.
        let first = self.0.partition_point(|(_, other_end)| *other_end < start);
        let last = self.0.partition_point(|(other_start, _)| *other_start <= end);
        if first < last {
            if self.0[first].0 < start {
                start = self.0[first].0.clone();
            }
            if self.0[last - 1].1 > end {
                end = self.0[last - 1].1.clone();
            }
        } else if !worth_it {
            return;
        } else if self.0.len() >= GAPS_MAX {
            self.clear();
            self.0.push((start, end));
            return;
        }
        self.0.splice(first..last, [(start, end)]);
    }

    /// Takes one key out of the gap it lies in: it may be visible from now on.
    pub(crate) fn open(&mut self, key: &[u8]) {
        let Some(index) = self.find(key) else { return };
        let (start, end) = self.0.remove(index);
        let (before, after) = (Cut::Before(key.to_vec()), Cut::After(key.to_vec()));
        if after < end {
            self.0.insert(index, (after, end));
        }
        if start < before {
            self.0.insert(index, (start, before));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn cut() -> impl Strategy<Value = Cut> {
        prop_oneof![
            8 => (0u8..40).prop_map(|key| Cut::Before(vec![key])),
            8 => (0u8..40).prop_map(|key| Cut::After(vec![key])),
            1 => Just(Cut::Min),
            1 => Just(Cut::Max),
        ]
    }

    proptest! {
        #[test]
        fn gaps_are_a_set_of_keys(steps in prop::collection::vec((cut(), cut(), any::<bool>(), 0u8..40), 0..40)) {
            let mut gaps = Gaps::new();
            let mut model = BTreeSet::new();
            for (start, end, add, key) in steps {
                if add {
                    model.extend((0u8..40).filter(|key| start.precedes(&[*key]) && !end.precedes(&[*key])));
                    gaps.add(start, end, true);
                } else {
                    model.remove(&key);
                    gaps.open(&[key]);
                }
                for key in 0u8..40 {
                    prop_assert_eq!(gaps.find(&[key]).is_some(), model.contains(&key), "key {}", key);
                    let ahead = gaps.beyond(&Cut::Before(vec![key]), false);
                    prop_assert_eq!(ahead.is_some(), model.contains(&key));
                    prop_assert!(ahead.is_none_or(|end| !end.precedes(&[key])));
                    let behind = gaps.beyond(&Cut::After(vec![key]), true);
                    prop_assert_eq!(behind.is_some(), model.contains(&key));
                    prop_assert!(behind.is_none_or(|start| start.precedes(&[key])));
                }
                prop_assert!(gaps.0.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert!(gaps.0.iter().all(|(start, end)| start < end));
            }
        }
    }

    #[test]
    fn the_number_of_gaps_is_limited() {
        let mut gaps = Gaps::new();
        for key in 0..=GAPS_MAX as u64 {
            let at = |key: u64| key.to_be_bytes().to_vec();
            gaps.add(Cut::Before(at(10 * key)), Cut::After(at(10 * key + 1)), true);
        }
        assert_eq!(gaps.0.len(), 1);
        assert!(gaps.find(&(10 * GAPS_MAX as u64).to_be_bytes()).is_some());
    }
}
