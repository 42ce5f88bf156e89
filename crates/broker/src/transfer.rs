//! The hand-over of the partition to another broker: before this one stops, or on request.
//!
//! Entries wait while it lasts and find the new leader afterwards, so that no request fails.

use std::collections::BTreeSet;
use std::time::Duration;

use broker_api::SubmitError;
use protocol::Rejection;
use replication::{Members, Role};
use tokio::time::timeout;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use crate::successor::Successor;
use cluster::ReplicaNumber;

/// Time for which entries may wait for the next leader; after that, this broker leads on. Longer, this broker leads on.
const PATIENCE: Duration = Duration::from_secs(1);

impl Node {
    /// Hands the partition to a broker, or to the one that has most of the log, and resolves when it leads. If this
    /// broker does not lead, it asks the one that does. An error says why the leader is the same as before.
    pub async fn hand_over(&self, to: Option<u32>) -> Result<u32, SubmitError> {
        let own = self.options().partition.node_id;
        let has = |to: u32| match &self.cluster {
            Some(cluster) => cluster.links.brokers().contains_key(&to),
            None => to == own,
        };
        if let Some(to) = to.filter(|to| !has(*to)) {
            let reason = format!("broker: expected the number of a broker of the cluster, but found {to}");
            return Err(Rejection::invalid_argument(reason).into());
        }
        let Some(cluster) = &self.cluster else { return Ok(own) };
        let mut role = self.first().group().role();
        // Right after an election, this broker may not know the new leader yet.
        let known = timeout(PATIENCE, role.wait_for(Role::has_leader)).await;
        let role = known.ok().and_then(Result::ok).map_or(Role::Unavailable, |role| *role);
        let leader = match role {
            Role::Leader { .. } => self.hand_over_here(cluster, to.into()).await,
            Role::Follower { leader: Some(leader), .. } => cluster.links.hand_over(leader, to).await,
            Role::Follower { leader: None, .. } | Role::Unavailable => Err("it has no leader".to_owned()),
        };
        leader.map_err(|reason| {
            SubmitError::Unavailable(format!(
                "Expected to hand over partition {}, but {reason}",
                self.first().number()
            ))
        })
    }

    /// Numbers of the brokers that belong to the cluster, whether they run or not.
    pub fn members(&self) -> Vec<u32> {
        match &self.cluster {
            Some(cluster) => cluster.links.brokers().keys().copied().collect(),
            None => vec![self.options().partition.node_id],
        }
    }

    /// Numbers of the brokers that vote, as the log says.
    pub fn voters(&self) -> BTreeSet<u32> {
        self.replicas().voters.into_iter().map(|number| ReplicaNumber::of(number).broker).collect()
    }

    /// The replicas of the partition, by their numbers: that of the broker, and 2^32 more for each replacement.
    pub fn replicas(&self) -> Members {
        self.first().group().members()
    }

    /// Hands over the partition, which this broker leads. Returns the number of the broker that leads next.
    pub(crate) async fn hand_over_here(&self, cluster: &ClusterState, to: Successor) -> Result<u32, String> {
        let own = self.options().partition.node_id;
        if to == Successor::Broker(own) {
            return Ok(own);
        }
        let mut followers: Vec<u64> =
            self.first().group().followers().into_iter().map(|(node, _)| node).collect();
        let broker_of = |node: u64| ReplicaNumber::of(node).broker;
        let no_room = |broker| cluster.links.rooms.no_room(broker);
        if let Successor::Broker(to) = to {
            if let Some(reason) = no_room(to) {
                return Err(reason);
            }
            followers.retain(|node| to == broker_of(*node));
        }
        // One without room would hand over again, unless there is no other.
        let all_full = followers.iter().all(|node| no_room(broker_of(*node)).is_some());
        let without_room = to == Successor::AnyInNeed && all_full;
        followers.retain(|node| without_room || no_room(broker_of(*node)).is_none());
        let leader = hand_over_to_any(self, cluster, &followers, without_room).await?;
        let leader = ReplicaNumber::of(leader).broker;
        tracing::info!(partition = self.first().number(), leader, "another broker leads now");
        Ok(leader)
    }
}

/// Hands the partition to the first follower that takes it. Each has its share of the time: one that hangs must not
/// keep the others from being asked.
async fn hand_over_to_any(
    node: &Node,
    cluster: &ClusterState,
    followers: &[u64],
    without_room: bool,
) -> Result<u64, String> {
    first_that_takes(followers, |follower| hand_over(node, cluster, follower, without_room)).await
}

async fn first_that_takes<F>(followers: &[u64], hand_over: impl Fn(u64) -> F) -> Result<u64, String>
where
    F: Future<Output = Result<u64, String>>,
{
    let share = PATIENCE / followers.len().max(1) as u32;
    let mut refused = Vec::new();
    for follower in followers {
        let broker = ReplicaNumber::of(*follower).broker;
        match timeout(share, hand_over(*follower)).await {
            Ok(Ok(leader)) => return Ok(leader),
            Ok(Err(reason)) => refused.push(format!("broker {broker}: {reason}")),
            Err(_) => {
                refused.push(format!("broker {broker} did not take over within {} ms", share.as_millis()));
            }
        }
    }
    if refused.is_empty() {
        return Err("no such broker follows this one".to_owned());
    }
    Err(refused.join("; "))
}

/// Hands the partition to a follower. Entries wait until this future ends.
async fn hand_over(
    node: &Node,
    cluster: &ClusterState,
    follower: u64,
    without_room: bool,
) -> Result<u64, String> {
    let pause = node.first().group().pause_for(follower).await.map_err(|error| error.to_string())?;
    cluster.links.stand_for_election(follower, without_room).await?;
    let mut role = node.first().group().role();
    let another = role
        .wait_for(|role| matches!(role, Role::Follower { leader: Some(_), .. }))
        .await
        .map_err(|_| "this broker is stopping".to_owned())?;
    let Role::Follower { leader: Some(leader), .. } = *another else { unreachable!("it was waited for") };
    drop(another);
    drop(pause);
    Ok(leader)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// Followers of this test, by what becomes of a hand-over.
    const HANGS: u64 = 1;
    const REFUSES: u64 = 2;
    const TAKES: u64 = 3;

    async fn handed_over(followers: &[u64]) -> Result<u64, String> {
        let began = Instant::now();
        let outcome = first_that_takes(followers, |follower| async move {
            match follower {
                HANGS => std::future::pending().await,
                REFUSES => Err("it is stopping".to_owned()),
                _ => Ok(follower),
            }
        });
        let outcome = outcome.await;
        assert!(began.elapsed() <= PATIENCE, "entries wait for {:?}", began.elapsed());
        outcome
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_follower_is_asked_when_the_first_one_hangs_or_refuses() {
        for before in [&[HANGS][..], &[REFUSES], &[HANGS, HANGS, REFUSES]] {
            assert_eq!(handed_over(&[before, &[TAKES]].concat()).await, Ok(TAKES));
        }
        assert_eq!(
            handed_over(&[HANGS, REFUSES]).await.unwrap_err(),
            "broker 1 did not take over within 500 ms; broker 2: it is stopping"
        );
        assert_eq!(handed_over(&[]).await.unwrap_err(), "no such broker follows this one");
    }
}
