//! The members of a group, and how one takes the place of another.
//!
//! A node whose data are lost must never vote as its former self, so another node, with a number that was never given
//! before, takes its place: the leader adds it as a learner, brings it up, and then exchanges the two.

use std::collections::BTreeSet;

use openraft::error::{ClientWriteError, RaftError};
use openraft::{BasicNode, ChangeMembers};
use thiserror::Error;

use super::Group;
use crate::types::fatal_text;

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
    /// Another node leads.
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
    /// The members as this node knows them, with changes that are not committed yet.
    pub fn members(&self) -> Members {
        let Ok(raft) = self.inner.raft() else { return Members::default() };
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let membership = now.membership_config.membership();
        Members { voters: membership.voter_ids().collect(), learners: membership.learner_ids().collect() }
    }

    /// Adds a node without a vote. Resolves when that is committed; the node is brought up in the background.
    pub async fn add_learner(&self, node: u64, address: &str) -> Result<(), MembershipError> {
        let raft = self.inner.raft().map_err(|error| MembershipError::Stopped(error.to_string()))?;
        let added = raft.add_learner(node, BasicNode::new(address), false).await;
        added.map(drop).map_err(|error| membership_error(&error))
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
        let changed = raft.change_membership(change, false).await;
        changed.map(drop).map_err(|error| membership_error(&error))
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
