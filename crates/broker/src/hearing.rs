//! The other brokers, as they have told about themselves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use broker_api::BrokerInfo;
use protocol::PartitionId;

/// Rounds of answers in which another broker may say that it leads before this one, which has just started, stands for
/// election: the leader connects to it within that time.
const HEARING_ROUNDS: u32 = 3;

/// Whether a broker that has just started waits for the leader, instead of standing for election. An election that the
/// others refuse makes the next one late: who has seen a longer log stands up to a second later (openraft 0.9).
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    rounds: AtomicU32,
}

impl Hearing {
    /// Counts a round of answers, and returns whether this broker may stand for election.
    pub fn may_stand(&self, is_led: bool) -> bool {
        let rounds = if is_led { self.rounds.load(Ordering::Relaxed) + 1 } else { HEARING_ROUNDS };
        self.rounds.store(rounds.min(HEARING_ROUNDS), Ordering::Relaxed);
        rounds >= HEARING_ROUNDS
    }
}

/// Another broker as it was a moment ago, for those who ask about the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub broker: BrokerInfo,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// The terms of its roles, by partition.
    pub terms: BTreeMap<PartitionId, u64>,
}

impl Seen {
    /// Whether it said that it leads a partition.
    pub fn leads(&self, partition: PartitionId) -> bool {
        self.broker.partitions.iter().any(|of| of.partition_id == partition && of.leader)
    }

    /// The term of its role in a partition.
    pub fn term(&self, partition: PartitionId) -> u64 {
        self.terms.get(&partition).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_starts_waits_for_the_leader_but_not_for_ever() {
        let may_stand = |rounds: &[bool]| -> Vec<bool> {
            let hearing = Hearing::default();
            rounds.iter().map(|is_led| hearing.may_stand(*is_led)).collect()
        };
        assert_eq!(may_stand(&[false, true, true]), [true; 3], "nobody leads: it stands, and later too");
        assert_eq!(may_stand(&[true, true, true, true, false]), [false, false, true, true, true]);
        assert_eq!(may_stand(&[true, false, true]), [false, true, true], "the leader is lost meanwhile");
    }
}
