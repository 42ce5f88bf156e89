//! A broker whose data are lost comes back as another replica: the leader gives it a number that was never given, adds
//! it without a vote, and exchanges it for the former one when it has the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use cluster::ReplicaNumber;
use partition::Partition;
use replication::{Group, Members};

use crate::cluster_state::ClusterState;
use crate::members::replicas;
use crate::node::Node;

/// Log entries that a new replica may lack when it gets its vote.
const LAG_MAX: u64 = 1_000;

/// Gives a member without data the number of a new replica, which is a member without a vote from then on. Each request
/// to the first partition gets another number, so that none is given twice; the others are asked with that number.
pub(crate) async fn admit(
    node: &Node,
    partition: &Partition,
    broker: u32,
    wanted: Bytes,
) -> Result<Bytes, String> {
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    if !partition.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let links = &cluster.links;
    let address = links.brokers().get(&broker).ok_or("the broker is not of this cluster")?;
    let _turn = cluster.part(partition.number()).changing_members.lock().await;
    let members = partition.group().members();
    // The list alone makes no member: it may differ from what the partition knows.
    let known = replicas(&members).filter(|replica| replica.broker == broker).max();
    let known = known.ok_or("the broker is no member of this cluster, and members cannot be added")?;
    let replica = next_number(known, wanted)?;
    assert!(replicas(&members).all(|other| other != replica), "{replica:?} was given before");
    let failed = |error: replication::MembershipError| error.to_string();
    partition.group().add_learner(replica.number(), address).await.map_err(failed)?;
    tracing::warn!(
        partition = partition.number(),
        broker,
        replica = replica.number(),
        "a broker without data gets a new replica"
    );
    Ok(Bytes::copy_from_slice(&replica.number().to_be_bytes()))
}

/// The number of a broker's next replica in a partition: the one that the first partition has given, if any.
fn next_number(known: ReplicaNumber, mut wanted: Bytes) -> Result<ReplicaNumber, String> {
    if wanted.is_empty() {
        return Ok(known.next());
    }
    let wanted = ReplicaNumber::of(wanted.try_get_u64().map_err(|error| error.to_string())?);
    if wanted.broker != known.broker || wanted <= known {
        return Err(format!("expected a number after {}, but found {}", known.number(), wanted.number()));
    }
    Ok(wanted)
}

/// The change that brings a group closer to one replica with a vote for each broker.
#[derive(Debug, PartialEq, Eq)]
enum MemberChange {
    Nothing,
    /// Replicas without a vote that others took the place of.
    Remove(BTreeSet<u64>),
    Voters(BTreeSet<u64>),
}

/// The next change; `lag` tells how many entries a member lacks.
fn change(members: &Members, lag: impl Fn(u64) -> Option<u64>) -> MemberChange {
    let is_latest = |replica: ReplicaNumber| {
        replicas(members).all(|other| other.broker != replica.broker || other <= replica)
    };
    let of = |number: &u64| ReplicaNumber::of(*number);
    let outdated: BTreeSet<u64> =
        members.learners.iter().copied().filter(|number| !is_latest(of(number))).collect();
    if !outdated.is_empty() {
        return MemberChange::Remove(outdated);
    }
    let ready = members.learners.iter().find(|number| lag(**number).is_some_and(|lag| lag <= LAG_MAX));
    match ready {
        None => MemberChange::Nothing,
        Some(ready) => {
            let stay = members.voters.iter().filter(|voter| of(voter).broker != of(ready).broker);
            MemberChange::Voters(stay.chain([ready]).copied().collect())
        }
    }
}

/// Makes the next change, if this broker leads and one is due.
pub(crate) async fn exchange(cluster: Arc<ClusterState>, partition: Arc<Partition>) {
    // A change under way is followed by the next look.
    let Ok(_turn) = cluster.part(partition.number()).changing_members.try_lock() else { return };
    let group: &Group = partition.group();
    let members = group.members();
    let changed = match change(&members, |node| group.lag(node)) {
        MemberChange::Nothing => return,
        MemberChange::Remove(learners) => group.remove_learners(learners).await,
        MemberChange::Voters(voters) => {
            let changed = group.set_voters(voters.clone()).await;
            if changed.is_ok() {
                tracing::info!(partition = partition.number(), ?voters, "a new replica has its vote");
            }
            changed
        }
    };
    if let Err(error) = changed {
        tracing::info!(partition = partition.number(), %error, "the members could not be changed; it is tried again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::tests::{LOST, NEW, NEWER, members};

    #[test]
    fn all_partitions_give_a_broker_the_number_of_the_first() {
        let next = |known: u64, wanted: Option<u64>| {
            let wanted = wanted.map_or(Bytes::new(), |wanted| Bytes::copy_from_slice(&wanted.to_be_bytes()));
            next_number(ReplicaNumber::of(known), wanted).map(ReplicaNumber::number)
        };
        assert_eq!(next(LOST, None), Ok(NEW));
        assert_eq!(next(LOST, Some(NEWER)), Ok(NEWER));
        for (known, wanted) in [(NEW, NEW), (NEWER, NEW), (LOST, 1 << 32 | 1)] {
            assert!(
                next(known, Some(wanted)).unwrap_err().starts_with("expected a number after"),
                "{wanted}"
            );
        }
        assert!(next_number(ReplicaNumber::of(LOST), Bytes::from_static(b"7")).is_err());
    }

    #[test]
    fn a_new_replica_takes_the_place_of_the_one_that_its_broker_had() {
        let lag = |of: u64| Some(of).map(|number| if number == NEW { 5 } else { LAG_MAX + 1 });
        assert_eq!(change(&members([0, 1, LOST], []), lag), MemberChange::Nothing);
        assert_eq!(change(&members([0, 1, LOST], [NEW]), lag), MemberChange::Voters([0, 1, NEW].into()));
        assert_eq!(change(&members([0, 1, LOST], [NEW, NEWER]), lag), MemberChange::Remove([NEW].into()));
        assert_eq!(change(&members([0, 1, LOST], [NEWER]), lag), MemberChange::Nothing, "it lacks too much");
        assert_eq!(change(&members([0, 1, LOST], [NEW]), |_| None), MemberChange::Nothing, "another leads");
        assert_eq!(change(&members([0, 1, NEW], [LOST]), lag), MemberChange::Remove([LOST].into()));
    }
}
