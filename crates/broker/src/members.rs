//! The members of a partition beside the list of brokers that an operator has written.

use std::collections::{BTreeMap, BTreeSet};

use cluster::ReplicaNumber;
use replication::Members;

/// Brokers of the list that are no members of the partition, or the other way round.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "cluster.brokers names the brokers {listed:?}, but the cluster has the brokers {members:?}, as its log says: the list adds and \
     removes none. Give all brokers the list of those that the cluster has"
)]
pub struct MembersError {
    /// Numbers of brokers in the list.
    listed: BTreeSet<u32>,
    /// Numbers of brokers with a replica.
    members: BTreeSet<u32>,
}

/// Compares the list of brokers with the members that the log tells, if it tells any yet.
pub(crate) fn check_members(members: &Members, brokers: &BTreeMap<u32, String>) -> Result<(), MembersError> {
    let listed: BTreeSet<u32> = brokers.keys().copied().collect();
    let known: BTreeSet<u32> = replicas(members).map(|replica| replica.broker).collect();
    if known.is_empty() || known == listed { Ok(()) } else { Err(MembersError { listed, members: known }) }
}

/// The replicas of the members, with and without a vote.
pub(crate) fn replicas(members: &Members) -> impl Iterator<Item = ReplicaNumber> {
    members.voters.iter().chain(&members.learners).map(|number| ReplicaNumber::of(*number))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A replica, and two that take its place, one after the other.
    pub(crate) const LOST: u64 = 2;
    pub(crate) const NEW: u64 = 1 << 32 | 2;
    pub(crate) const NEWER: u64 = 2 << 32 | 2;

    pub(crate) fn members<const V: usize, const L: usize>(voters: [u64; V], learners: [u64; L]) -> Members {
        Members { voters: voters.into(), learners: learners.into() }
    }

    #[test]
    fn a_list_with_more_or_fewer_brokers_than_the_log_tells_is_refused() {
        let list = |numbers: &[u32]| numbers.iter().map(|number| (*number, format!("h:{number}"))).collect();
        let check = |members: Members, numbers: &[u32]| check_members(&members, &list(numbers));
        assert_eq!(check(members([], []), &[0, 1]), Ok(()), "nothing is known yet");
        assert_eq!(check(members([0, 1, NEW], []), &[0, 1, 2]), Ok(()));
        assert_eq!(check(members([0, 1, LOST], [NEWER]), &[0, 1, 2]), Ok(()));
        for (of, numbers) in [
            (members([0, 1, 2], []), &[0, 1, 2, 3][..]),
            (members([0, 1, 2, 3], []), &[0, 1, 2]),
            (members([0, 1, 2], []), &[0, 1, 3]),
            (members([0, 1], [NEW]), &[0, 1]),
        ] {
            let error = check(of, numbers).unwrap_err();
            assert_eq!(error.listed, numbers.iter().copied().collect());
            assert!(error.to_string().contains("cluster.brokers"), "{error}");
        }
    }
}
