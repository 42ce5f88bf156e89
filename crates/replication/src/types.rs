//! The types that parametrise openraft, and the proposal that travels through it.

use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use openraft::error::RaftError;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::snapshot::SnapshotData;

openraft::declare_raft_types!(
    /// The one set of types every group uses.
    pub(crate) TypeConfig:
        D = Proposal,
        R = (),
        NodeId = u64,
        Node = openraft::BasicNode,
        Entry = openraft::Entry<TypeConfig>,
        SnapshotData = SnapshotData,
        Responder = openraft::impls::OneshotResponder<TypeConfig>,
        AsyncRuntime = openraft::TokioRuntime,
);

pub(crate) type Entry = openraft::Entry<TypeConfig>;
pub(crate) type EntryPayload = openraft::EntryPayload<TypeConfig>;
pub(crate) type LogId = openraft::LogId<u64>;
pub(crate) type Vote = openraft::Vote<u64>;
pub(crate) type Membership = openraft::Membership<u64, openraft::BasicNode>;
pub(crate) type StoredMembership = openraft::StoredMembership<u64, openraft::BasicNode>;
pub(crate) type StorageError = openraft::StorageError<u64>;
pub(crate) type StorageIOError = openraft::StorageIOError<u64>;

/// One proposal: the bytes for the log and, on the node that made it, its number there.
#[derive(Clone)]
pub struct Payload {
    /// Payload of the log and of messages to other replicas.
    pub bytes: Bytes,
    /// Number by which the state machine of the proposing node finds what that node knows of the proposal. Absent after
    /// a restart and on every other replica.
    pub number: Option<u64>,
}

impl Payload {
    /// A payload without a number.
    pub fn new(bytes: Bytes) -> Self {
        Self { bytes, number: None }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Payload({} bytes, number: {:?})", self.bytes.len(), self.number)
    }
}

/// Why a group does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFailure {
    /// The error.
    pub reason: String,
    /// Whether the log or the state is damaged: a start on the same files is no use.
    pub is_damage: bool,
}

impl GroupFailure {
    /// A failure that another start may not have.
    pub(crate) fn passing(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_damage: false }
    }

    pub(crate) fn damage(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_damage: true }
    }
}

/// Why a proposal was not acknowledged.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProposeError {
    /// Another node leads the group, or none does. The entry was not appended here.
    #[error("not the leader of the group, the leader is {leader:?}")]
    NotLeader {
        /// The node that leads, if known.
        leader: Option<u64>,
    },
    /// The group was asked to stop.
    #[error("the group is shutting down")]
    ShuttingDown,
    /// The log could not be written. The group resumes by itself as soon as the disk does. The entry was not
    /// acknowledged; with several voters a later leader may still commit it.
    #[error("the log cannot be written: {0}")]
    Storage(String),
    /// Another leader has sent a snapshot in place of the log before the entry was applied here. The snapshot may have
    /// it.
    #[error("a snapshot has taken the place of the log before the entry was applied")]
    Superseded,
    /// The state machine refused an entry, and the group stopped for good.
    #[error("the state machine failed: {0}")]
    StateMachine(String),
    /// The payload is larger than the log takes.
    #[error("the payload has {bytes} bytes, the limit is {limit_bytes}")]
    TooLarge {
        /// Bytes of the refused payload.
        bytes: usize,
        /// Most bytes a payload may have.
        limit_bytes: usize,
    },
}

/// The waiting side of one proposal, shared by every copy of its entry in memory.
///
/// It is settled by the apply thread the moment the entry is applied, rather than by openraft's core, which might
/// be waiting for the sync of the next entry. If all copies go away unsettled, the waiter learns that too.
pub(crate) struct Completion(Mutex<Option<oneshot::Sender<Result<u64, ProposeError>>>>);

impl Completion {
    pub(crate) fn new() -> (Arc<Self>, oneshot::Receiver<Result<u64, ProposeError>>) {
        let (sender, receiver) = oneshot::channel();
        (Arc::new(Self(Mutex::new(Some(sender)))), receiver)
    }

    pub(crate) fn complete(&self, result: Result<u64, ProposeError>) {
        let sender = self.0.lock().take();
        if let Some(sender) = sender {
            // The proposer may have stopped waiting.
            let _ = sender.send(result);
        }
    }
}

/// The application data of an entry, as openraft sees it.
#[derive(Clone)]
pub(crate) struct Proposal {
    pub(crate) payload: Payload,
    pub(crate) completion: Option<Arc<Completion>>,
}

impl fmt::Debug for Proposal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.payload.fmt(out)
    }
}

/// The text of the innermost cause a user can act upon.
pub(crate) fn fatal_text(error: &openraft::error::Fatal<u64>) -> String {
    match error {
        openraft::error::Fatal::StorageError(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// Whether a raft error is final for the running core.
pub(crate) fn raft_text<E: std::error::Error>(error: &RaftError<u64, E>) -> String {
    match error {
        RaftError::Fatal(fatal) => fatal_text(fatal),
        RaftError::APIError(error) => error.to_string(),
    }
}
