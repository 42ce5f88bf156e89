//! The hand-over of leadership from one node to another.
//!
//! The leader settles its proposals, waits until the follower has its whole log, and lets the follower stand for
//! election. It votes itself, once the lease that began with its own election has run out. With the follower's own
//! vote that is a majority of two or three voters. Voters beyond these heed the lease of the leader that they heard
//! from, so the leader is silent until it has run out.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use openraft::Raft;
use tokio::sync::SemaphorePermit;

use super::Group;
use crate::silence::lease;
use crate::types::{ProposeError, TypeConfig};

/// Voters of whom two are a majority.
const SMALL_GROUP: usize = 3;

/// A time in which proposals wait. They go on when this is dropped, and find out then who leads.
pub struct ProposalPause<'a> {
    _permits: SemaphorePermit<'a>,
    silent: Option<Raft<TypeConfig>>,
}

impl Drop for ProposalPause<'_> {
    fn drop(&mut self) {
        if let Some(raft) = &self.silent {
            raft.runtime_config().heartbeat(true);
        }
    }
}

impl Group {
    /// Followers with a vote, with the index of the last entry that each is known to have, those that have most first.
    /// Empty unless this node leads.
    pub fn followers(&self) -> Vec<(u64, u64)> {
        let Ok(raft) = self.inner.raft() else { return Vec::new() };
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let voters: BTreeSet<u64> = now.membership_config.voter_ids().collect();
        let known = now.replication.iter().flatten();
        let known = known.filter(|(node, _)| **node != now.id && voters.contains(node));
        let mut followers: Vec<_> = known.map(|(node, id)| (*node, id.map_or(0, |id| id.index))).collect();
        followers.sort_by_key(|(_, index)| std::cmp::Reverse(*index));
        followers
    }

    /// Entries that a member lacks, as far as this leader knows; `None` if it does not lead or the node is no member.
    pub fn lag(&self, node: u64) -> Option<u64> {
        let raft = self.inner.raft().ok()?;
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let matched = now.replication.as_ref()?.get(&node)?.map_or(0, |id| id.index);
        Some(now.last_log_index.unwrap_or(0).saturating_sub(matched))
    }

    /// Time since a majority of the voters, this node included, has last answered this leader. Zero unless it leads.
    pub fn quorum_silence(&self) -> Duration {
        let Ok(raft) = self.inner.raft() else { return Duration::ZERO };
        let millis = raft.metrics().borrow().millis_since_quorum_ack;
        millis.map_or(Duration::ZERO, Duration::from_millis)
    }

    /// Resolves when this node has had its role for as long as the lease of a leader lasts.
    pub async fn lease_over(&self) {
        let Ok(raft) = self.inner.raft() else { return };
        let since = *self.inner.role_since.lock();
        tokio::time::sleep_until(since + lease(&raft)).await;
    }

    /// Lets new proposals wait, settles those under way, and resolves when a follower has the whole log, so that
    /// [`Group::stand_for_election`] there succeeds. May wait for ever for a follower that is away.
    pub async fn pause_for(&self, follower: u64) -> Result<ProposalPause<'_>, ProposeError> {
        let permits = self.inner.proposals.pause().await.map_err(|_| ProposeError::ShuttingDown)?;
        let raft = self.inner.raft()?;
        let mut pause = ProposalPause { _permits: permits, silent: None };
        let mut metrics = raft.metrics();
        let voters = {
            let settled = metrics.wait_for(|now| {
                let has = now.replication.as_ref().map(|all| all.get(&follower).copied().flatten());
                now.running_state.is_err() || has.is_none_or(|id| id.map(|id| id.index) >= now.last_log_index)
            });
            let now = settled.await.map_err(|_| ProposeError::ShuttingDown)?;
            if now.replication.is_none() {
                return Err(ProposeError::NotLeader { leader: now.current_leader });
            }
            now.membership_config.voter_ids().count()
        };
        if voters > SMALL_GROUP {
            pause.silent = Some(raft.clone());
            raft.runtime_config().heartbeat(false);
            tokio::time::sleep(lease(&raft)).await;
        }
        Ok(pause)
    }

    /// Whether this node stands for election when it has not heard from a leader. [`Group::stand_for_election`] does so
    /// in any case.
    pub fn stands_for_election(&self, stands: bool) {
        self.inner.stands_for_election.store(stands, Ordering::Release);
        if let Ok(raft) = self.inner.raft() {
            self.inner.tell_elections(&raft);
        }
    }

    /// Asks the other nodes for their votes now, as if the leader were gone. Does nothing on the leader.
    pub async fn stand_for_election(&self) -> Result<(), ProposeError> {
        let raft = self.inner.raft()?;
        raft.trigger().elect().await.map_err(|_| self.inner.abandoned())
    }
}
