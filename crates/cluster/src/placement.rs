//! The place of each partition's replicas: which brokers have one, and which of them leads by preference.
//!
//! Partitions go round the brokers in the order of their numbers, so that each broker is the first of as many
//! partitions as any other. The others of a partition follow it. Their order is turned round with each round, so that
//! the partitions of a broker that is gone are led by several others.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use protocol::PartitionId;

/// A replica of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Number of the broker.
    pub broker: u32,
    /// The replica with the highest priority is to lead.
    pub priority: u32,
}

/// The replicas of a partition, the one that is to lead first.
pub fn placement(brokers: &BTreeSet<u32>, partition: PartitionId, replication_factor: usize) -> Vec<Placed> {
    assert!(partition > 0, "partitions are counted from 1");
    assert!((1..=brokers.len()).contains(&replication_factor), "each replica has a broker of its own");
    let (round, first) =
        (usize::from(partition - 1) / brokers.len(), usize::from(partition - 1) % brokers.len());
    let mut chosen = brokers.iter().cycle().skip(first).take(replication_factor);
    let leader = *chosen.next().expect("there is one replica at least");
    let mut others: Vec<u32> = chosen.copied().collect();
    if round % 2 == 1 {
        others.reverse();
    }
    let placed = std::iter::once(leader).chain(others).enumerate();
    let placed: Vec<Placed> =
        placed.map(|(at, broker)| Placed { broker, priority: (replication_factor - at) as u32 }).collect();
    debug_assert!(placed.is_sorted_by_key(|one| Reverse(one.priority)), "the leader comes first");
    placed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn brokers(placed: &[Placed]) -> Vec<u32> {
        placed.iter().map(|one| one.broker).collect()
    }

    #[test]
    fn partitions_go_round_the_brokers_by_number() {
        // As texts, 10 would come before 2.
        let of: BTreeSet<u32> = [10, 2, 1].into();
        assert_eq!(brokers(&placement(&of, 1, 2)), [1, 2]);
        assert_eq!(brokers(&placement(&of, 2, 2)), [2, 10]);
        assert_eq!(brokers(&placement(&of, 3, 3)), [10, 1, 2]);
        assert_eq!(brokers(&placement(&of, 6, 3)), [10, 2, 1], "turned round with the round");
        let priorities: Vec<u32> = placement(&of, 4, 3).iter().map(|one| one.priority).collect();
        assert_eq!(priorities, [3, 2, 1]);
    }

    #[test]
    fn replicas_and_leaders_are_even() {
        for count in 1..=12_u32 {
            let of: BTreeSet<u32> = (0..count).collect();
            for partitions in 1..=24 {
                for factor in 1..=5.min(count as usize) {
                    let (mut replicas, mut leaders) = (BTreeMap::new(), BTreeMap::new());
                    for partition in 1..=partitions {
                        let placed = placement(&of, partition, factor);
                        let distinct: BTreeSet<u32> = placed.iter().map(|one| one.broker).collect();
                        assert_eq!(distinct.len(), factor, "one replica for each of {count} brokers");
                        *leaders.entry(placed[0].broker).or_insert(0_usize) += 1;
                        for broker in distinct {
                            *replicas.entry(broker).or_insert(0) += 1;
                        }
                    }
                    let spread = |counts: &BTreeMap<u32, usize>| {
                        let of_all = of.iter().map(|broker| counts.get(broker).copied().unwrap_or(0));
                        of_all.clone().max().unwrap() - of_all.min().unwrap()
                    };
                    // The last round may be a part of one.
                    let rest = usize::from(partitions) % count as usize;
                    let context = format!("{count} brokers, {partitions} partitions, {factor} replicas");
                    assert!(spread(&leaders) <= 1, "{context}: {leaders:?}");
                    assert!(spread(&replicas) <= factor.min(rest), "{context}: {replicas:?}");
                }
            }
        }
    }
}
