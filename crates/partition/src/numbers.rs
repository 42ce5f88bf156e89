//! Numbers of requests and subscribers.

use std::sync::atomic::{AtomicU64, Ordering};

use planted::Bug;

/// Bits of the count: it begins at a random place and goes around, so that no other life of the broker gives its
/// numbers. Two lives of a day each, at ten thousand numbers a second, overlap with a chance of one in ten million.
const COUNT_BITS: u32 = 54;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// Numbers of a life at most: a million a second for twelve days.
const GIVEN_MAX: u64 = 1 << 40;
/// Brokers of a cluster at most.
pub(crate) const BROKERS_MAX: u32 = 1 << (u64::BITS - COUNT_BITS);

/// Numbers that stand in the log and in the state until they are answered. They name the broker that waits, and begin
/// at a random place with each life, so that no other one takes an answer for its own. A count of lives would not do:
/// it goes back with an old copy of a data directory.
#[derive(Debug)]
pub(crate) struct Numbers {
    broker: u32,
    first: u64,
    given: AtomicU64,
}

impl Numbers {
    /// Numbers of a broker in a life with a random number.
    pub fn new(broker: u32, life: u64) -> Self {
        assert!(broker < BROKERS_MAX, "broker {broker} of at most {BROKERS_MAX}");
        let (broker, life) = if planted::has(Bug::MixedAnswers) { (0, 1) } else { (broker, life) };
        Self { broker, first: life & COUNT_MASK, given: AtomicU64::new(0) }
    }

    /// A number that was never given before.
    pub fn next(&self) -> u64 {
        let given = self.given.fetch_add(1, Ordering::Relaxed);
        assert!(given < GIVEN_MAX, "the numbers of a life have run out");
        u64::from(self.broker) << COUNT_BITS | (self.first.wrapping_add(given) & COUNT_MASK)
    }

    /// Whether this broker has given a number in this life.
    pub fn has_given(&self, number: u64) -> bool {
        let place = number.wrapping_sub(self.first) & COUNT_MASK;
        number >> COUNT_BITS == u64::from(self.broker) && place < self.given.load(Ordering::Relaxed)
    }
}

/// Whether a number names a broker.
pub fn is_of(number: u64, broker: u32) -> bool {
    planted::has(Bug::MixedAnswers) || number >> COUNT_BITS == u64::from(broker)
}

#[cfg(test)]
impl Default for Numbers {
    fn default() -> Self {
        Self::new(0, 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_lives_and_brokers_have_a_number_in_common() {
        let life = || uuid::Uuid::new_v4().as_u64_pair().0;
        let mut all: Vec<Numbers> = (0..20).map(|_| Numbers::new(1, life())).collect();
        // The count goes around.
        all.extend([0, 1, BROKERS_MAX - 1].map(|broker| Numbers::new(broker, u64::MAX - 50)));
        let mut given = BTreeSet::new();
        for numbers in &all {
            for _ in 0..100 {
                let number = numbers.next();
                assert!(given.insert(number), "{number} was given twice");
                let owners = all.iter().filter(|other| other.has_given(number)).count();
                assert_eq!((owners, numbers.has_given(number)), (1, true));
                assert_eq!((0..BROKERS_MAX).filter(|broker| is_of(number, *broker)).count(), 1);
            }
            assert!(!numbers.has_given(numbers.next() + 1), "one that comes later");
        }
    }
}
