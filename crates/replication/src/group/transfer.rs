//! The hand-over of leadership from one node to another.
//!
//! The leader settles its proposals, waits until the follower has its whole log, and lets the follower stand for
//! election. Voters that have heard from a leader a moment ago refuse others their vote; here that leader has asked
//! for the election, so the request says so, and they give the lease up.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openraft::Raft;
use openraft::raft::{AppendEntriesRequest, VoteRequest};
use tokio::sync::SemaphorePermit;

use super::Group;
use crate::group_state::{NOBODY, Role};
use crate::peer::PeerError;
use crate::types::{LogId, ProposeError, TypeConfig, raft_text};

/// A time in which proposals wait, and this leader votes for the follower. They go on when this is dropped, and find
/// out then who leads.
pub struct ProposalPause<'a> {
    _permits: SemaphorePermit<'a>,
    hands_to: &'a AtomicU64,
}

impl Drop for ProposalPause<'_> {
    fn drop(&mut self) {
        self.hands_to.store(NOBODY, Ordering::Release);
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

    /// Time since another node was heard as the leader. `None` if none was since the start, or since this node stood
    /// for election: the leader that its log names may be one of long ago.
    pub fn leader_silence(&self) -> Option<Duration> {
        self.inner.role_metrics.silence()
    }

    /// Lets new proposals wait, settles those under way, and resolves when a follower has the whole log, so that
    /// [`Group::stand_for_election`] there succeeds. May wait for ever for a follower that is away.
    pub async fn pause_for(&self, follower: u64) -> Result<ProposalPause<'_>, ProposeError> {
        let permits = self.inner.proposals.pause().await.map_err(|_| ProposeError::ShuttingDown)?;
        let raft = self.inner.raft()?;
        let Role::Leader { term } = *self.inner.role.borrow() else {
            return Err(ProposeError::NotLeader { leader: None });
        };
        let mut metrics = raft.metrics();
        // Right after its election, the figures of a leader may be those of before.
        let settled = metrics.wait_for(|now| {
            let has = now.replication.as_ref().and_then(|all| all.get(&follower).copied());
            now.running_state.is_err()
                || now.vote.leader_id().term > term
                || has.is_some_and(|id| id.map(|id| id.index) >= now.last_log_index)
        });
        let now = settled.await.map_err(|_| ProposeError::ShuttingDown)?;
        if now.replication.is_none() {
            return Err(ProposeError::NotLeader { leader: now.current_leader });
        }
        self.inner.hand_over.to.store(follower, Ordering::Release);
        Ok(ProposalPause { _permits: permits, hands_to: &self.inner.hand_over.to })
    }

    /// Whether this node stands for election when it has not heard from a leader. [`Group::stand_for_election`] does so
    /// in any case.
    pub fn stands_for_election(&self, stands: bool) {
        self.inner.stands_for_election.store(stands, Ordering::Release);
        if let Ok(raft) = self.inner.raft() {
            self.inner.tell_elections(&raft);
        }
    }

    /// Asks the other nodes for their votes now, since the leader has asked for it. Does nothing on the leader.
    pub async fn stand_for_election(&self) -> Result<(), ProposeError> {
        self.check_quarantine().map_err(|reason| ProposeError::Storage(reason.to_owned()))?;
        let raft = self.inner.raft()?;
        let term = raft.metrics().borrow().vote.leader_id().term;
        // Of this term alone: a later election is this node's own.
        self.inner.hand_over.term.store(term + 1, Ordering::Release);
        raft.trigger().elect().await.map_err(|_| self.inner.abandoned())
    }

    /// Before this node is asked for its vote: gives up the lease of the leader that has asked for the election.
    ///
    /// openraft refuses every vote within the lease, except of a node that has voted for the same candidate already.
    /// So it is told of the vote first, as it learns of those of others. Whether the candidate has enough of the log is
    /// still for its own check; if it has not, this node has a vote in that term less to give, and nothing else.
    pub(super) async fn give_up_lease(
        &self,
        raft: &Raft<TypeConfig>,
        request: &VoteRequest<u64>,
        is_handed: bool,
    ) -> Result<(), PeerError> {
        let hands_to = self.inner.hand_over.to.load(Ordering::Acquire);
        if !is_handed && request.vote.leader_id().voted_for() != Some(hands_to) {
            return Ok(());
        }
        let known = raft.metrics().borrow().vote;
        if request.vote <= known || request.last_log_id < self.inner.log.last() {
            return Ok(());
        }
        // Behind an entry that no log has, so that nothing but the vote is taken over.
        let vote = request.vote;
        let nowhere = LogId::new(*vote.leader_id(), u64::MAX);
        let told = AppendEntriesRequest {
            vote,
            prev_log_id: Some(nowhere),
            entries: Vec::new(),
            leader_commit: None,
        };
        raft.append_entries(told).await.map(drop).map_err(|error| PeerError::Stopped(raft_text(&error)))
    }
}
