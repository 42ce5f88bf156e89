//! The door to other replicas: what a transport must carry, and openraft's network on top of it.
//!
//! A transport moves a [`PeerRequest`] to the same group on another node, hands it to `Group::answer` there and
//! brings the [`PeerResponse`] back. Its content is for this crate alone.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use openraft::error::{
    Fatal, RPCError, RaftError, RemoteError, ReplicationClosed, StreamingError, Unreachable,
};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{BasicNode, OptionalSend, RaftNetwork, RaftNetworkFactory, Snapshot};
use thiserror::Error;
use tokio::sync::watch;

use crate::acknowledged::{Acknowledged, Acknowledgements};
use crate::metric_definitions::{FollowerMetrics, MessageKind};
use crate::snapshot::LogHolds;
use crate::types::{EntryPayload, TypeConfig, Vote};

/// Time after a snapshot has arrived in which the log behind it stays, too: the entries follow it.
const LOG_HELD_AFTER: Duration = Duration::from_secs(30);

/// Why a peer did not answer.
#[derive(Clone, Debug, Error)]
pub enum PeerError {
    /// The peer could not be reached, or answered nothing usable. It is tried again after a while.
    #[error("the peer cannot be reached: {0}")]
    Unreachable(String),
    /// The peer was reached, and its group has stopped.
    #[error("the peer's group has stopped: {0}")]
    Stopped(String),
}

/// A request to the same group on another node.
#[derive(Debug)]
pub struct PeerRequest(pub(crate) PeerCall);

impl PeerRequest {
    /// The node that it comes from, as it says: the one that leads or wants to.
    pub fn sender(&self) -> u64 {
        let vote = match &self.0 {
            PeerCall::Append(request) => &request.vote,
            PeerCall::Vote(request, _) => &request.vote,
            PeerCall::Snapshot(vote, _) => vote,
        };
        vote.leader_id().node_id
    }
}

#[derive(Debug)]
pub(crate) enum PeerCall {
    Append(AppendEntriesRequest<TypeConfig>),
    /// The flag says that the leader has asked for the election.
    Vote(VoteRequest<u64>, bool),
    Snapshot(Vote, Snapshot<TypeConfig>),
}

/// The answer to a [`PeerRequest`].
#[derive(Debug)]
pub struct PeerResponse(pub(crate) PeerAnswer);

#[derive(Debug)]
pub(crate) enum PeerAnswer {
    Append(AppendEntriesResponse<u64>),
    Vote(VoteResponse<u64>),
    Snapshot(SnapshotResponse<u64>),
}

/// The future of an answer.
pub type PeerFuture<'a> = Pin<Box<dyn Future<Output = Result<PeerResponse, PeerError>> + Send + 'a>>;

/// Carries requests to other nodes.
pub trait Transport: Send + Sync + 'static {
    /// Sends `request` to `group` on `node`, whose address is the one its membership entry names.
    fn call<'a>(&'a self, group: u64, node: u64, address: &'a str, request: PeerRequest) -> PeerFuture<'a>;
}

/// The transport of a broker on its own: nobody can be reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPeers;

impl Transport for NoPeers {
    fn call<'a>(&'a self, _: u64, node: u64, _: &'a str, _: PeerRequest) -> PeerFuture<'a> {
        Box::pin(async move { Err(PeerError::Unreachable(format!("there is no transport to node {node}"))) })
    }
}

/// openraft's view of a transport.
#[derive(Clone)]
pub(crate) struct Peers {
    pub(crate) group: u64,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) log_holds: LogHolds,
    /// Whether this node says nothing as a leader.
    pub(crate) silent: Arc<AtomicBool>,
    /// The term in which this node stands for election because the leader has asked it to.
    pub(crate) handed_term: Arc<AtomicU64>,
    pub(crate) acknowledgements: Acknowledgements,
    /// Whether this node takes no part yet.
    pub(crate) quarantined: watch::Receiver<bool>,
}

impl RaftNetworkFactory<TypeConfig> for Peers {
    type Network = Peer;

    async fn new_client(&mut self, target: u64, node: &BasicNode) -> Peer {
        let metrics = FollowerMetrics::new(self.group, target);
        Peer { peers: self.clone(), node: target, address: node.addr.clone(), metrics }
    }
}

/// One other replica of a group.
pub(crate) struct Peer {
    peers: Peers,
    node: u64,
    address: String,
    metrics: FollowerMetrics,
}

type RaftRpcError = RPCError<u64, BasicNode, RaftError<u64>>;

impl Peer {
    /// Sends a request, after the quarantine of this node.
    ///
    /// A new log begins with an election. A promise of a node in its quarantine may reach another before that one looks
    /// at the position that the node has presented, which is earlier: the node would seem to have gone back in time.
    async fn call(&self, call: PeerCall) -> Result<PeerAnswer, PeerError> {
        let mut quarantined = self.peers.quarantined.clone();
        let ended = quarantined.wait_for(|quarantined| !quarantined).await.map(drop);
        ended.map_err(|_| PeerError::Unreachable("this node is stopping".to_owned()))?;
        let request = PeerRequest(call);
        let answer = self.peers.transport.call(self.peers.group, self.node, &self.address, request).await?;
        Ok(answer.0)
    }

    /// Notes what the node has promised, before anything is made of it.
    fn acknowledged(&self, vote: &Vote, index: u64) {
        self.peers.acknowledgements.note(self.node, Acknowledged::new(vote, index));
    }

    fn rpc_error(&self, error: &PeerError) -> RaftRpcError {
        match error {
            PeerError::Unreachable(_) => RPCError::Unreachable(Unreachable::new(error)),
            PeerError::Stopped(_) => {
                RPCError::RemoteError(RemoteError::new(self.node, RaftError::Fatal(Fatal::Stopped)))
            }
        }
    }
}

fn payload_bytes(payload: &EntryPayload) -> u64 {
    match payload {
        EntryPayload::Normal(proposal) => proposal.payload.bytes.len() as u64,
        EntryPayload::Blank | EntryPayload::Membership(_) => 0,
    }
}

fn mismatch() -> PeerError {
    PeerError::Unreachable("the answer is of another kind than the request".to_owned())
}

impl RaftNetwork<TypeConfig> for Peer {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<TypeConfig>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, RaftRpcError> {
        if self.peers.silent.load(Ordering::Acquire) {
            let reason = "no majority answers this leader, which is silent for a while".to_owned();
            return Err(self.rpc_error(&PeerError::Unreachable(reason)));
        }
        let entries = request.entries.len();
        let bytes = request.entries.iter().map(|entry| payload_bytes(&entry.payload)).sum();
        self.metrics.sends_append(entries, bytes);
        let (vote, previous) = (request.vote, request.prev_log_id);
        let last = request.entries.last().map(|entry| entry.log_id).or(previous);
        let began = Instant::now();
        match self.call(PeerCall::Append(request)).await {
            Ok(PeerAnswer::Append(response)) => {
                let has = match &response {
                    AppendEntriesResponse::Success => Some(last),
                    AppendEntriesResponse::PartialSuccess(upto) => Some(*upto),
                    AppendEntriesResponse::Conflict | AppendEntriesResponse::HigherVote(_) => None,
                };
                if let Some(has) = has {
                    self.acknowledged(&vote, has.map_or(0, |id| id.index));
                }
                if entries > 0 {
                    self.metrics.appended(began.elapsed());
                }
                Ok(response)
            }
            Ok(_) => Err(self.rpc_error(&mismatch())),
            Err(error) => Err(self.rpc_error(&error)),
        }
    }

    async fn vote(
        &mut self,
        request: VoteRequest<u64>,
        _: RPCOption,
    ) -> Result<VoteResponse<u64>, RaftRpcError> {
        self.metrics.sends(MessageKind::Vote);
        let vote = request.vote;
        let is_handed = vote.leader_id().term == self.peers.handed_term.load(Ordering::Acquire);
        match self.call(PeerCall::Vote(request, is_handed)).await {
            Ok(PeerAnswer::Vote(response)) => {
                if response.vote_granted {
                    self.acknowledged(&vote, 0);
                }
                Ok(response)
            }
            Ok(_) => Err(self.rpc_error(&mismatch())),
            Err(error) => Err(self.rpc_error(&error)),
        }
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot<TypeConfig>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<u64>, StreamingError<TypeConfig, Fatal<u64>>> {
        let hold = self.peers.log_holds.hold(snapshot.meta.last_log_id.map_or(0, |id| id.index));
        self.metrics.sends(MessageKind::Install);
        let unreachable = |error: PeerError| StreamingError::Unreachable(Unreachable::new(&error));
        tokio::select! {
            closed = cancel => Err(StreamingError::Closed(closed)),
            answer = self.call(PeerCall::Snapshot(vote, snapshot)) => match answer {
                Ok(PeerAnswer::Snapshot(response)) => {
                    tokio::spawn(async move {
                        tokio::time::sleep(LOG_HELD_AFTER).await;
                        drop(hold);
                    });
                    Ok(response)
                }
                Ok(_) => Err(unreachable(mismatch())),
                Err(error) => Err(unreachable(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts requests, and reaches nobody.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Transport for Counting {
        fn call<'a>(
            &'a self,
            group: u64,
            node: u64,
            address: &'a str,
            request: PeerRequest,
        ) -> PeerFuture<'a> {
            self.0.fetch_add(1, Ordering::Relaxed);
            NoPeers.call(group, node, address, request)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_in_quarantine_asks_for_votes_afterwards() {
        let (transport, quarantine) = (Arc::new(Counting::default()), watch::Sender::new(true));
        let mut peers = Peers {
            group: 1,
            transport: Arc::clone(&transport) as _,
            log_holds: LogHolds::default(),
            silent: Arc::default(),
            handed_term: Arc::default(),
            acknowledgements: Acknowledgements::default(),
            quarantined: quarantine.subscribe(),
        };
        let mut peer = peers.new_client(2, &BasicNode::default()).await;
        let sent = || transport.0.load(Ordering::Relaxed);
        let option = || RPCOption::new(Duration::from_secs(1));
        {
            let asking = peer.vote(VoteRequest::new(Vote::new(1, 1), None), option());
            tokio::pin!(asking);
            assert!(tokio::time::timeout(Duration::from_secs(60), &mut asking).await.is_err());
            assert_eq!(sent(), 0, "the node takes no part yet");
            quarantine.send_replace(false);
            assert!(asking.await.is_err(), "the other is away");
        }
        assert_eq!(sent(), 1);
        drop(quarantine);
        peer.vote(VoteRequest::new(Vote::new(2, 1), None), option()).await.unwrap_err();
        assert_eq!(sent(), 2, "a quarantine that has ended stays so");
    }
}
