//! The hand-over of the partition to another broker: before this one stops, or on request.
//!
//! Entries wait while it lasts and find the new leader afterwards, so that no request fails.

use std::time::Duration;

use broker_api::SubmitError;
use protocol::Rejection;
use replication::Role;
use tokio::time::timeout;

use crate::node::Node;
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
        let role = *router.group.role().borrow();
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

    /// The same if this broker leads.
    pub(crate) async fn hand_over_here(&self, router: &Router, to: Option<u32>) -> Result<u32, String> {
        let own = self.options().node_id;
        if to == Some(own) {
            return Ok(own);
        }
        let followers = router.group.followers();
        let wanted = to.map(u64::from);
        let follower =
            followers.iter().map(|(node, _)| *node).find(|node| wanted.is_none_or(|to| to == *node));
        let follower = follower.ok_or("no such broker follows this one")?;
        router.group.lease_over().await;
        let leader = timeout(PATIENCE, hand_over(router, follower)).await.unwrap_or_else(|_| {
            Err(format!("broker {follower} did not take over within {} ms", PATIENCE.as_millis()))
        })?;
        tracing::info!(partition = 1, leader, "another broker leads now");
        u32::try_from(leader).map_err(|error| error.to_string())
    }
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
