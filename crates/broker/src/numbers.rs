//! Numbers of requests and subscribers.

use std::sync::atomic::{AtomicU64, Ordering};

use planted::Bug;

use crate::replica_number::ReplicaNumber;

/// Bits of the count within a life: a million a second for twelve days.
const COUNT_BITS: u32 = 40;
/// Bits of the life on a data directory; a number of so many lives before is in no state any more.
const LIFE_BITS: u32 = 12;
/// Bits of the generation of the replica: after the loss of a directory, lives are counted anew.
const GENERATION_BITS: u32 = 2;
/// Brokers of a cluster at most.
pub(crate) const BROKERS_MAX: u32 = 1 << (u64::BITS - COUNT_BITS - LIFE_BITS - GENERATION_BITS);

/// Numbers that stand in the log and in the state until they are answered. They name the broker that waits and its
/// life, so that no other one takes an answer for its own.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Broker, generation and life.
    owner: u64,
    count: AtomicU64,
}

impl Numbers {
    pub fn new(replica: ReplicaNumber, life: u64) -> Self {
        let ReplicaNumber { broker, generation } = replica;
        assert!(broker < BROKERS_MAX, "broker {broker} of at most {BROKERS_MAX}");
        let (broker, life) = if planted::has(Bug::MixedAnswers) { (0, 1) } else { (broker, life) };
        let life = life % (1 << LIFE_BITS);
        let generation = u64::from(generation) % (1 << GENERATION_BITS);
        let place = u64::from(broker) << GENERATION_BITS | generation;
        Self { owner: place << LIFE_BITS | life, count: AtomicU64::new(1) }
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
        Self::new(ReplicaNumber::first(0), 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_lives_replicas_and_brokers_have_a_number_in_common() {
        let of = |broker, generation, life| Numbers::new(ReplicaNumber { broker, generation }, life);
        let all = [
            of(0, 0, 1),
            of(0, 0, 2),
            of(0, 1, 1),
            of(1, 0, 1),
            of(1, 0, 2),
            of(1, 3, 2),
            of(BROKERS_MAX - 1, 0, (1 << LIFE_BITS) - 1),
            of(BROKERS_MAX - 1, 3, (1 << LIFE_BITS) - 1),
        ];
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
