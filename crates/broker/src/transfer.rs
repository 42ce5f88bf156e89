//! The hand-over of the partition to another broker: before this one stops, or on request.
//!
//! Entries wait while it lasts and find the new leader afterwards, so that no request fails.

use std::time::Duration;

use broker_api::SubmitError;
use protocol::Rejection;
use replication::{Members, Role};
use tokio::time::timeout;

use crate::node::Node;
use crate::replica_number::ReplicaNumber;
use crate::route::Router;

/// How long entries may wait for another leader. Longer, this broker leads on.
const PATIENCE: Duration = Duration::from_secs(1);

impl Node {
    /// Hands the partition to a broker, or to the one that has most of the log, and resolves when it leads. If this
    /// broker does not lead, it asks the one that does. An error says why the leader is the same as before.
    pub async fn hand_over(&self, to: Option<u32>) -> Result<u32, SubmitError> {
        let own = self.options().node_id;
        let has = |to: u32| match &self.router {
            Some(router) => router.links.brokers().contains_key(&to),
            None => to == own,
        };
        if let Some(to) = to.filter(|to| !has(*to)) {
            let reason = format!("broker: expected the number of a broker of the cluster, but found {to}");
            return Err(Rejection::invalid_argument(reason).into());
        }
        let Some(router) = &self.router else { return Ok(own) };
        let mut role = router.group.role();
        // Right after an election, this broker may not know the new leader yet.
        let known = timeout(PATIENCE, role.wait_for(Role::has_leader)).await;
        let role = known.ok().and_then(Result::ok).map_or(Role::Unavailable, |role| *role);
        let leader = match role {
            Role::Leader { .. } => self.hand_over_here(router, to).await,
            Role::Follower { leader: Some(leader), .. } => router.links.hand_over(leader, to).await,
            Role::Follower { leader: None, .. } | Role::Unavailable => Err("it has no leader".to_owned()),
        };
        leader.map_err(|reason| {
            SubmitError::Unavailable(format!("Expected to hand over partition 1, but {reason}"))
        })
    }

    /// Numbers of the brokers that belong to the cluster, whether they run or not.
    pub fn members(&self) -> Vec<u32> {
        match &self.router {
            Some(router) => router.links.brokers().keys().copied().collect(),
            None => vec![self.options().node_id],
        }
    }

    /// The replicas of the partition, by their numbers: that of the broker, and 2^32 more for each replacement.
    pub fn replicas(&self) -> Members {
        self.group().members()
    }

    /// The same if this broker leads.
    pub(crate) async fn hand_over_here(&self, router: &Router, to: Option<u32>) -> Result<u32, String> {
        let own = self.options().node_id;
        if to == Some(own) {
            return Ok(own);
        }
        let mut followers: Vec<u64> = router.group.followers().into_iter().map(|(node, _)| node).collect();
        followers.retain(|node| to.is_none_or(|to| to == ReplicaNumber::of(*node).broker));
        router.group.lease_over().await;
        let brokers = || followers.iter().map(|node| ReplicaNumber::of(*node).broker).collect::<Vec<_>>();
        let leader = timeout(PATIENCE, hand_over_to_any(router, &followers)).await.unwrap_or_else(|_| {
            Err(format!("none of the brokers {:?} took over within {} ms", brokers(), PATIENCE.as_millis()))
        })?;
        let leader = ReplicaNumber::of(leader).broker;
        tracing::info!(partition = 1, leader, "another broker leads now");
        Ok(leader)
    }
}

/// Hands the partition to the first follower that takes it.
async fn hand_over_to_any(router: &Router, followers: &[u64]) -> Result<u64, String> {
    let mut refused = "no such broker follows this one".to_owned();
    for follower in followers {
        match hand_over(router, *follower).await {
            Ok(leader) => return Ok(leader),
            Err(reason) => refused = reason,
        }
    }
    Err(refused)
}

/// Hands the partition to a follower. Entries wait until this future ends.
async fn hand_over(router: &Router, follower: u64) -> Result<u64, String> {
    let pause = router.group.pause_for(follower).await.map_err(|error| error.to_string())?;
    router.links.stand_for_election(follower).await?;
    let mut role = router.group.role();
    let another = role
        .wait_for(|role| matches!(role, Role::Follower { leader: Some(_), .. }))
        .await
        .map_err(|_| "this broker is stopping".to_owned())?;
    let Role::Follower { leader: Some(leader), .. } = *another else { unreachable!("it was waited for") };
    drop(another);
    drop(pause);
    Ok(leader)
}
