//! The hand-over of the partition to another broker: before this one stops, or on request.
//!
//! Entries wait while it lasts and find the new leader afterwards, so that no request fails.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use broker_api::SubmitError;
use partition::Partition;
use protocol::{PartitionId, Rejection};
use replication::{Members, Role};
use tokio::time::timeout;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use crate::successor::Successor;
use cluster::{ReplicaNumber, placement};

/// Time for which entries may wait for the next leader; after that, this broker leads on. Longer, this broker leads
/// on.
const PATIENCE: Duration = Duration::from_secs(1);

impl Node {
    /// Hands the partitions to a broker, or each to the one that has most of its log, and resolves with their
    /// leaders. An error says why a leader is the same as before; those of earlier partitions may have changed.
    pub async fn hand_over(&self, to: Option<u32>) -> Result<BTreeMap<PartitionId, u32>, SubmitError> {
        let own = self.number();
        let has = |to: u32| match &self.cluster {
            Some(cluster) => cluster.links.brokers().contains_key(&to),
            None => to == own,
        };
        if let Some(to) = to.filter(|to| !has(*to)) {
            let reason = format!("broker: expected the number of a broker of the cluster, but found {to}");
            return Err(Rejection::invalid_argument(reason).into());
        }
        self.hand_over_each(|_| to).await
    }

    /// Hands each partition to the broker that is to lead it by its place, and resolves with their leaders.
    pub async fn rebalance(&self) -> Result<BTreeMap<PartitionId, u32>, SubmitError> {
        self.hand_over_each(|partition| Some(self.preferred_leader(partition))).await
    }

    /// Hands the partitions over, one after the other.
    async fn hand_over_each(
        &self,
        to: impl Fn(PartitionId) -> Option<u32>,
    ) -> Result<BTreeMap<PartitionId, u32>, SubmitError> {
        let mut leaders = BTreeMap::new();
        for partition in self.all() {
            let number = partition.number();
            leaders.insert(number, self.hand_over_one(partition, to(number)).await?);
        }
        Ok(leaders)
    }

    /// Hands a partition over. If this broker does not lead it, it asks the one that does.
    async fn hand_over_one(&self, partition: &Partition, to: Option<u32>) -> Result<u32, SubmitError> {
        let Some(cluster) = &self.cluster else { return Ok(self.number()) };
        let mut role = partition.group().role();
        // Right after an election, this broker may not know the new leader yet.
        let known = timeout(PATIENCE, role.wait_for(Role::has_leader)).await;
        let role = known.ok().and_then(Result::ok).map_or(Role::Unavailable, |role| *role);
        let leader = match role {
            Role::Leader { .. } => self.hand_over_here(cluster, partition, to.into()).await,
            Role::Follower { leader: Some(leader), .. } => {
                cluster.links.hand_over(leader, partition.number(), to).await
            }
            Role::Follower { leader: None, .. } | Role::Unavailable => Err("it has no leader".to_owned()),
        };
        leader.map_err(|reason| {
            let number = partition.number();
            SubmitError::Unavailable(format!("Expected to hand over partition {number}, but {reason}"))
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

    /// The replicas of the first partition, by their numbers: that of the broker, and 2^32 more for each replacement.
    pub fn replicas(&self) -> Members {
        self.first().group().members()
    }

    /// The broker that is to lead a partition by its place.
    pub(crate) fn preferred_leader(&self, partition: PartitionId) -> u32 {
        let Some(cluster) = &self.cluster else { return self.number() };
        let brokers: BTreeSet<u32> = cluster.links.brokers().keys().copied().collect();
        placement(&brokers, partition, brokers.len())[0].broker
    }

    /// Hands over a partition, which this broker leads. Returns the number of the broker that leads next.
    pub(crate) async fn hand_over_here(
        &self,
        cluster: &ClusterState,
        partition: &Partition,
        to: Successor,
    ) -> Result<u32, String> {
        if to == Successor::Broker(self.number()) {
            return Ok(self.number());
        }
        let mut followers: Vec<u64> =
            partition.group().followers().into_iter().map(|(node, _)| node).collect();
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
        let leader = hand_over_to_any(partition, cluster, &followers, without_room).await?;
        let leader = ReplicaNumber::of(leader).broker;
        tracing::info!(partition = partition.number(), leader, "another broker leads now");
        Ok(leader)
    }
}

/// Hands the partition to the first follower that takes it. Each has its share of the time: one that hangs must not
/// keep the others from being asked.
async fn hand_over_to_any(
    partition: &Partition,
    cluster: &ClusterState,
    followers: &[u64],
    without_room: bool,
) -> Result<u64, String> {
    first_that_takes(followers, |follower| hand_over(partition, cluster, follower, without_room)).await
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
    partition: &Partition,
    cluster: &ClusterState,
    follower: u64,
    without_room: bool,
) -> Result<u64, String> {
    let pause = partition.group().pause_for(follower).await.map_err(|error| error.to_string())?;
    cluster.links.stand_for_election(follower, partition.number(), without_room).await?;
    let mut role = partition.group().role();
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
