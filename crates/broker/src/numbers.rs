//! Numbers of requests and subscribers.

use std::sync::atomic::{AtomicU64, Ordering};

use planted::Bug;
/// Bits of the count within a life: a million a second for twelve days.
const COUNT_BITS: u32 = 40;
/// Bits of the life; a number of so many lives before is in no state any more.
const LIFE_BITS: u32 = 14;
/// Brokers of a cluster at most.
pub(crate) const BROKERS_MAX: u32 = 1 << (u64::BITS - COUNT_BITS - LIFE_BITS);

/// Numbers that stand in the log and in the state until they are answered. They name the broker that waits and its
/// life, so that no other one takes an answer for its own.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Broker and life.
    owner: u64,
    count: AtomicU64,
}

impl Numbers {
    pub fn new(broker: u32, life: u64) -> Self {
        assert!(broker < BROKERS_MAX, "broker {broker} of at most {BROKERS_MAX}");
        let (broker, life) = if planted::has(Bug::MixedAnswers) { (0, 1) } else { (broker, life) };
        let life = life % (1 << LIFE_BITS);
        Self { owner: u64::from(broker) << LIFE_BITS | life, count: AtomicU64::new(1) }
    }

    /// A number that was never given before.
    pub fn next(&self) -> u64 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        assert!(count < 1 << COUNT_BITS, "the numbers of a life have run out");
        self.owner << COUNT_BITS | count
    }

    /// Whether this broker has given a number in this life.
    pub fn has_given(&self, number: u64) -> bool {
        number >> COUNT_BITS == self.owner
    }
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
    fn no_two_lives_and_no_two_brokers_have_a_number_in_common() {
        let lives = [(0, 1), (0, 2), (1, 1), (1, 2), (BROKERS_MAX - 1, (1 << LIFE_BITS) - 1)];
        let all: Vec<Numbers> = lives.iter().map(|&(broker, life)| Numbers::new(broker, life)).collect();
        let mut given = BTreeSet::new();
        for numbers in &all {
            for _ in 0..100 {
                let number = numbers.next();
                assert!(given.insert(number), "{number} was given twice");
                let owners = all.iter().filter(|other| other.has_given(number)).count();
                assert_eq!((owners, numbers.has_given(number)), (1, true));
            }
        }
    }
}
