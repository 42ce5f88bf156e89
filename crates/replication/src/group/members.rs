//! The members of a group, and how one takes the place of another.
//!
//! A node whose data are lost must never vote as its former self, so another node, with a number that was never given
//! before, takes its place: the leader adds it as a learner, brings it up, and then exchanges the two.

use std::collections::BTreeSet;

use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, ChangeMembers, Raft};
use thiserror::Error;

use super::Group;
use crate::types::{TypeConfig, fatal_text};

/// Nodes of a group, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// Nodes with a vote. While they change, those of before and after.
    pub voters: BTreeSet<u64>,
    /// Nodes that are brought up and have no vote.
    pub learners: BTreeSet<u64>,
}

/// Why the members of a group are as before.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MembershipError {
    /// Another node leads. A change that was under way may still come about.
    #[error("this node does not lead")]
    NotLeader,
    /// An earlier change is not through, or openraft refuses this one.
    #[error("{0}")]
    Refused(String),
    /// The group runs not, or not any more.
    #[error("the group does not run: {0}")]
    Stopped(String),
}

impl Group {
    /// Whether a node is the only one with a vote, by the log.
    pub fn is_sole_voter(&self, node: u64) -> bool {
        self.inner.log.is_sole_voter(node)
    }

    /// The members as this node knows them, with changes that are not committed yet.
    pub fn members(&self) -> Members {
        let Ok(raft) = self.inner.raft() else { return Members::default() };
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let membership = now.membership_config.membership();
        Members { voters: membership.voter_ids().collect(), learners: membership.learner_ids().collect() }
    }

    /// The members as the log tells them, also right after a start, when nothing was told to others yet.
    pub async fn logged_members(&self) -> Members {
        let Ok(raft) = self.inner.raft() else { return Members::default() };
        let members = raft.with_raft_state(|state| {
            let membership = state.membership_state.effective().membership();
            Members { voters: membership.voter_ids().collect(), learners: membership.learner_ids().collect() }
        });
        // A group that has failed tells its own reason.
        members.await.unwrap_or_default()
    }

    /// Adds a node without a vote. Resolves when that is committed; the node is brought up in the background.
    pub async fn add_learner(&self, node: u64, address: &str) -> Result<(), MembershipError> {
        let raft = self.inner.raft().map_err(|error| MembershipError::Stopped(error.to_string()))?;
        while_leading(&raft, raft.add_learner(node, BasicNode::new(address), false)).await
    }

    /// Gives the votes to these nodes, all of which must be members. Others are members no more.
    pub async fn set_voters(&self, voters: BTreeSet<u64>) -> Result<(), MembershipError> {
        assert!(!voters.is_empty(), "a group without voters decides nothing");
        self.change(ChangeMembers::ReplaceAllVoters(voters)).await
    }

    /// Removes nodes that have no vote.
    pub async fn remove_learners(&self, nodes: BTreeSet<u64>) -> Result<(), MembershipError> {
        self.change(ChangeMembers::RemoveNodes(nodes)).await
    }

    async fn change(&self, change: ChangeMembers<u64, BasicNode>) -> Result<(), MembershipError> {
        let raft = self.inner.raft().map_err(|error| MembershipError::Stopped(error.to_string()))?;
        while_leading(&raft, raft.change_membership(change, false)).await
    }
}

/// Waits for a change, as long as this node leads: openraft never answers a former leader whose entry a snapshot has
/// taken the place of.
async fn while_leading<T>(
    raft: &Raft<TypeConfig>,
    change: impl Future<Output = Result<T, RaftError<u64, ClientWriteError<u64, BasicNode>>>>,
) -> Result<(), MembershipError> {
    let mut metrics = raft.server_metrics();
    let led_by = *metrics.borrow_and_update().vote.leader_id();
    tokio::select! {
        biased;
        changed = change => changed.map(drop).map_err(|error| membership_error(&error)),
        Ok(_) = metrics.wait_for(|now| *now.vote.leader_id() != led_by) => Err(MembershipError::NotLeader),
    }
}

fn membership_error(error: &RaftError<u64, ClientWriteError<u64, BasicNode>>) -> MembershipError {
    match error {
        RaftError::APIError(ClientWriteError::ForwardToLeader(_)) => MembershipError::NotLeader,
        RaftError::APIError(ClientWriteError::ChangeMembershipError(error)) => {
            MembershipError::Refused(error.to_string())
        }
        RaftError::Fatal(fatal) => MembershipError::Stopped(fatal_text(fatal)),
    }
}
