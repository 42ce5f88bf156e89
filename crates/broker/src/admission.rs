//! A broker whose data are lost comes back as another replica: the leader gives it a number that was never given, adds
//! it without a vote, and exchanges it for the former one when it has the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use cluster::ReplicaNumber;
use replication::{Group, Members};

use crate::members::replicas;
use crate::node::Node;

/// Log entries that a new replica may lack when it gets its vote.
const LAG_MAX: u64 = 1_000;

/// Gives a member without data the number of a new replica, which is a member without a vote from then on. Each request
/// gets another number, so that none is given twice.
pub(crate) async fn admit(node: &Node, broker: u32) -> Result<Bytes, String> {
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    if !node.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let links = &cluster.links;
    let address = links.brokers().get(&broker).ok_or("the broker is not of this cluster")?;
    let _turn = cluster.changing_members.lock().await;
    let members = node.first().group().members();
    // The list alone makes no member: it may differ from what the partition knows.
    let known = replicas(&members).filter(|replica| replica.broker == broker).max();
    let replica = known.ok_or("the broker is no member of this cluster, and members cannot be added")?.next();
    assert!(replicas(&members).all(|other| other != replica), "{replica:?} was given before");
    let failed = |error: replication::MembershipError| error.to_string();
    node.first().group().add_learner(replica.number(), address).await.map_err(failed)?;
    tracing::warn!(
        partition = node.first().number(),
        broker,
        replica = replica.number(),
        "a broker without data gets a new replica"
    );
    Ok(Bytes::copy_from_slice(&replica.number().to_be_bytes()))
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
pub(crate) async fn exchange(node: Arc<Node>) {
    let Some(cluster) = &node.cluster else { return };
    // A change under way is followed by the next look.
    let Ok(_turn) = cluster.changing_members.try_lock() else { return };
    let group: &Group = node.first().group();
    let members = group.members();
    let changed = match change(&members, |node| group.lag(node)) {
        MemberChange::Nothing => return,
        MemberChange::Remove(learners) => group.remove_learners(learners).await,
        MemberChange::Voters(voters) => {
            let changed = group.set_voters(voters.clone()).await;
            if changed.is_ok() {
                tracing::info!(partition = node.first().number(), ?voters, "a new replica has its vote");
            }
            changed
        }
    };
    if let Err(error) = changed {
        tracing::info!(partition = node.first().number(), %error, "the members could not be changed; it is tried again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::tests::{LOST, NEW, NEWER, members};

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
