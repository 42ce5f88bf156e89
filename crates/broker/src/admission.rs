//! A broker whose data are lost comes back as another replica: the leader gives it a number that was never given, adds
//! it without a vote, and exchanges it for the former one when it has the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use replication::{Group, Members};
use tokio::time::{Instant, sleep};
use transport::{Lane, Peer};

use crate::bootstrap::{ASK_INTERVAL, ASK_TIMEOUT, SAY_INTERVAL, begin_anew, is_given_up};
use crate::cluster::Replica;
use crate::identity::Identity;
use crate::node::Node;
use crate::opening::StartError;
use crate::options::Options;
use crate::peer_request::RequestKind;
use crate::peers;
use crate::replica_number::ReplicaNumber;
use crate::route::Router;

/// Entries that a new replica may lack when it gets its vote.
const LAG_MAX: u64 = 1_000;

/// Has a broker whose data were given up become another replica, once the leader has a number for it.
pub(crate) async fn readmit(options: &Options, replica: &Replica) -> Result<(), StartError> {
    if !is_given_up(&options.data_dir)? {
        return Ok(());
    }
    let identity = Identity::next(&options.data_dir, &options.cluster_id, options.node_id)?;
    let peers = replica.peers(&identity, &options.peers);
    let mut said: Option<Instant> = None;
    loop {
        match ask(&peers).await {
            Ok(number) => return Ok(begin_anew(&options.data_dir, number)?),
            Err(reasons) if said.is_none_or(|said| said.elapsed() >= SAY_INTERVAL) => {
                said = Some(Instant::now());
                tracing::warn!(
                    reasons,
                    "the data of this replica are not used any more, and the leader gives it no new number yet"
                );
            }
            Err(_) => {}
        }
        sleep(ASK_INTERVAL).await;
    }
}

/// Asks the others for a new number, the leader among them. An error has the reasons of all.
pub(crate) async fn ask(others: &BTreeMap<u64, Peer>) -> Result<ReplicaNumber, String> {
    let others = others.iter().map(|(other, peer)| (*other, peer)).collect();
    let read = |mut answer: Bytes| answer.try_get_u64().map_err(|_| "an answer of another form".to_owned());
    let request = RequestKind::Admit.alone();
    let (_, number) = peers::ask_in_turn(others, Lane::Requests, request, ASK_TIMEOUT, read).await?;
    Ok(ReplicaNumber::of(number))
}

/// Gives a broker without data the number of a new replica, which is a member without a vote from then on. Each request
/// gets another number, so that none is given twice.
pub(crate) async fn admit(node: &Node, broker: u32) -> Result<Bytes, String> {
    let router = node.router.as_ref().ok_or("this broker is alone")?;
    if !node.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let links = &router.links;
    let address = links.brokers().get(&broker).ok_or("the broker is not of this cluster")?;
    let _turn = links.changing_members.lock().await;
    let members = router.group.members();
    let known = replicas(&members).filter(|replica| replica.broker == broker).max();
    let replica = known.unwrap_or_else(|| ReplicaNumber::first(broker)).next();
    assert!(replicas(&members).all(|other| other != replica), "{replica:?} was given before");
    let failed = |error: replication::MembershipError| error.to_string();
    router.group.add_learner(replica.number(), address).await.map_err(failed)?;
    tracing::warn!(
        partition = 1,
        broker,
        replica = replica.number(),
        "a broker without data gets a new replica"
    );
    Ok(Bytes::copy_from_slice(&replica.number().to_be_bytes()))
}

fn replicas(members: &Members) -> impl Iterator<Item = ReplicaNumber> {
    members.voters.iter().chain(&members.learners).map(|number| ReplicaNumber::of(*number))
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
pub(crate) async fn exchange(router: Arc<Router>) {
    // A change under way is followed by the next look.
    let Ok(_turn) = router.links.changing_members.try_lock() else { return };
    let group: &Group = &router.group;
    let members = group.members();
    let changed = match change(&members, |node| group.lag(node)) {
        MemberChange::Nothing => return,
        MemberChange::Remove(learners) => group.remove_learners(learners).await,
        MemberChange::Voters(voters) => {
            let changed = group.set_voters(voters.clone()).await;
            if changed.is_ok() {
                tracing::info!(partition = 1, ?voters, "a new replica has its vote");
            }
            changed
        }
    };
    if let Err(error) = changed {
        tracing::info!(partition = 1, %error, "the members could not be changed; it is tried again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: u64 = 2;
    const NEW: u64 = 1 << 32 | 2;
    const NEWER: u64 = 2 << 32 | 2;

    fn members<const V: usize, const L: usize>(voters: [u64; V], learners: [u64; L]) -> Members {
        Members { voters: voters.into(), learners: learners.into() }
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
