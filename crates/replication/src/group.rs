//! One Raft group: a partition's place in the log.
//!
//! A group has two threads. `raft-<group>` runs openraft's core on a runtime of its own; `partition-<group>` applies
//! committed entries while others are under way, and the log's writer thread syncs. So the sync of one entry overlaps
//! the application of the one before, and network tasks never wait for either. When proposals come one at a time, a
//! sole voter's raft thread does all of it and wakes nobody else.
//!
//! openraft treats a failed write as the end. Here it is the end of one life: a supervisor on the raft thread waits
//! until the disk can be written again, makes the log store recover, and starts the core anew on the same log and
//! the same state machine, which goes on behind its last applied entry.

use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use openraft::error::{CheckIsLeaderError, ClientWriteError, RaftError};
use openraft::{Raft, Snapshot};
use tokio::sync::{mpsc, oneshot, watch};

mod members;
mod quarantine;
mod transfer;

use crate::acknowledged::Acknowledged;
pub use crate::group_state::{GroupOptions, Role, StartError};
use crate::group_state::{GroupState, HandOver, Order, Slot};
use crate::log::{GroupLog, LogStore, PAYLOAD_LIMIT_BYTES};
use crate::machine::{MachineHandle, StateMachine};
use crate::metric_definitions::RoleMetrics;
use crate::peer::{PeerAnswer, PeerCall, PeerError, PeerRequest, PeerResponse};
use crate::proposals::Proposals;
use crate::snapshot::{LogHolds, SnapshotData};
use crate::supervisor::Supervisor;
use crate::types::{
    Completion, GroupFailure, LogId, Payload, Proposal, ProposeError, TypeConfig, fatal_text, raft_text,
};

pub use members::{Members, MembershipError};
pub use transfer::ProposalPause;

/// Orders waiting for the raft thread.
const ORDER_QUEUE: usize = 16;

/// Figures of a group at one moment.
#[derive(Clone, Copy, Debug)]
pub struct GroupMetrics {
    /// Role of this node in the group, with the term.
    pub role: Role,
    /// Whether this node stands for election.
    pub is_candidate: bool,
    /// Last index in the log, durable or about to be.
    pub last_log_index: u64,
    /// Last committed index known here.
    pub committed_index: u64,
    /// Last applied index.
    pub applied_index: u64,
    /// Last purged index.
    pub purged_index: u64,
}

/// A handle on a running group. Cheap to clone; when the last one is dropped the group stops.
#[derive(Clone)]
pub struct Group {
    inner: Arc<GroupState>,
    orders: mpsc::Sender<Order>,
    ended: watch::Receiver<bool>,
}

impl Group {
    /// Starts a group on `log` as node `node_id`.
    ///
    /// At first start its membership is initialised. At a restart every committed entry after the machine's durable
    /// index is applied, in order, before this returns; a sole voter is the leader by then.
    pub async fn start(
        group_id: u64,
        node_id: u64,
        log: &LogStore,
        machine: impl StateMachine,
        options: GroupOptions,
    ) -> Result<Self, StartError> {
        let config =
            options.config(group_id).validate().map_err(|error| StartError::Options(error.to_string()))?;
        log.recover().await?;
        let snapshot_dir = options.snapshot_dir.clone().unwrap_or_else(|| log.dir().join("snapshots"));
        let group_log = log.group(group_id)?;
        check_whole(&group_log)?;
        let durable = machine.durable_index();
        begin_after_restored(&group_log, node_id, durable, &options).await?;
        let applied = position(durable, &group_log)?;
        let proposals = Arc::new(Proposals::new(options.proposals_in_flight_max));
        let snapshot_check = machine.snapshot_check();
        let (machine, apply_thread) =
            MachineHandle::spawn(machine, group_log.clone(), node_id, proposals.clone(), snapshot_dir)?;
        if let Some(applied) = applied {
            machine.begin_at(applied);
        }

        let (role, _) = watch::channel(Role::Unavailable);
        let inner = Arc::new(GroupState {
            group: group_id,
            slot: RwLock::new(Slot::Starting),
            role,
            proposals,
            log: group_log,
            machine,
            snapshot_check,
            log_holds: LogHolds::default(),
            silent: Arc::default(),
            hand_over: HandOver::default(),
            stands_for_election: AtomicBool::new(options.stands_for_election),
            quarantined: watch::Sender::new(options.quarantined),
            role_metrics: RoleMetrics::new(group_id),
        });
        let (orders, receiver) = mpsc::channel(ORDER_QUEUE);
        let (ended_sender, mut ended) = watch::channel(false);
        let (ready, started) = oneshot::channel();
        let supervisor = Supervisor {
            inner: inner.clone(),
            node: node_id,
            config: Arc::new(config),
            options,
            orders: receiver,
        };
        thread::Builder::new().name(format!("raft-{group_id}")).spawn(move || {
            let inner = supervisor.inner.clone();
            supervisor.run_thread(ready);
            if apply_thread.join().is_err() {
                tracing::error!(group = group_id, "the apply thread panicked");
            }
            inner.log.abandon();
            inner.log.store().release(group_id);
            drop(inner);
            ended_sender.send_replace(true);
        })?;
        let error = match started.await {
            Ok(Ok(())) => return Ok(Self { inner, orders, ended }),
            Ok(Err(error)) => error,
            Err(_) => StartError::Raft("the raft thread ended".to_owned()),
        };
        // An error means that the thread has ended, too.
        let _ = ended.wait_for(|ended| *ended).await;
        Err(error)
    }

    /// Appends, replicates and applies one entry; resolves with its log index once it is applied here.
    ///
    /// Dropping the future does not take the entry back.
    pub async fn propose(&self, payload: Payload) -> Result<u64, ProposeError> {
        let bytes = payload.bytes.len();
        if bytes > PAYLOAD_LIMIT_BYTES {
            return Err(ProposeError::TooLarge { bytes, limit_bytes: PAYLOAD_LIMIT_BYTES });
        }
        let _permit = self.inner.proposals.begin().await.map_err(|_| ProposeError::ShuttingDown)?;
        let raft = self.inner.raft()?;
        let (completion, mut settled) = Completion::new();
        let proposal = Proposal { payload, completion: Some(completion) };
        let Ok(mut answer) = raft.client_write_ff(proposal).await else { return Err(self.inner.abandoned()) };
        drop(raft);
        // openraft's own answer is of interest only when it is a refusal. A core that ends gives none, and the entry
        // may still be applied; a core that refuses drops the entry first.
        tokio::select! {
            biased;
            Ok(applied) = &mut settled => applied,
            Ok(answer) = &mut answer => match answer {
                Ok(response) => Ok(response.log_id.index),
                Err(ClientWriteError::ForwardToLeader(forward)) => {
                    Err(ProposeError::NotLeader { leader: forward.leader_id })
                }
                Err(ClientWriteError::ChangeMembershipError(error)) => {
                    unreachable!("an entry with a payload changes no members: {error}")
                }
            },
            else => Err(self.inner.abandoned()),
        }
    }

    /// Its number.
    pub fn id(&self) -> u64 {
        self.inner.group
    }

    /// Whether this node leads the group.
    pub fn is_leader(&self) -> bool {
        matches!(*self.inner.role.borrow(), Role::Leader { .. })
    }

    /// The log index that a read must have applied to see everything that was acknowledged before this call. One round
    /// to the followers makes sure that no other node leads.
    pub async fn read_index(&self) -> Result<u64, ProposeError> {
        let raft = self.inner.raft()?;
        match raft.get_read_log_id().await {
            Ok((id, _)) => Ok(id.map_or(0, |id| id.index)),
            Err(RaftError::APIError(CheckIsLeaderError::ForwardToLeader(forward))) => {
                Err(ProposeError::NotLeader { leader: forward.leader_id })
            }
            Err(RaftError::APIError(CheckIsLeaderError::QuorumNotEnough(_))) => {
                Err(ProposeError::NotLeader { leader: None })
            }
            Err(RaftError::Fatal(fatal)) => Err(ProposeError::Storage(fatal_text(&fatal))),
        }
    }

    /// Resolves when everything up to and including a log index is applied here.
    pub async fn wait_applied(&self, index: u64) -> Result<(), ProposeError> {
        if self.inner.machine.progress().applied_index() >= index {
            return Ok(());
        }
        let raft = self.inner.raft()?;
        let mut metrics = raft.metrics();
        let is_there =
            |now: &openraft::RaftMetrics<u64, _>| now.last_applied.is_some_and(|id| id.index >= index);
        let reached = metrics.wait_for(|now| now.running_state.is_err() || is_there(now)).await;
        match reached {
            Ok(now) if is_there(&now) => Ok(()),
            _ => Err(self.inner.abandoned()),
        }
    }

    /// Role of this node in the group, and each change of it.
    pub fn role(&self) -> watch::Receiver<Role> {
        self.inner.role.subscribe()
    }

    /// The group's figures now.
    pub fn metrics(&self) -> GroupMetrics {
        let index = |id: Option<LogId>| id.map_or(0, |id| id.index);
        let log = &self.inner.log;
        GroupMetrics {
            role: *self.inner.role.borrow(),
            is_candidate: self.inner.role_metrics.is_candidate(),
            last_log_index: index(log.last()),
            committed_index: index(log.committed()).max(self.inner.machine.progress().applied_index()),
            applied_index: self.inner.machine.progress().applied_index(),
            purged_index: index(log.purged()),
        }
    }

    /// How many entries of its log each other replica lacks, by node id, if this node leads.
    pub fn lacking(&self) -> Vec<(u64, u64)> {
        let Ok(raft) = self.inner.raft() else { return Vec::new() };
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let last = now.last_log_index.unwrap_or(0);
        let others = now.replication.iter().flatten().filter(|(node, _)| **node != now.id);
        others.map(|(node, has)| (*node, last.saturating_sub(has.map_or(0, |id| id.index)))).collect()
    }

    /// Why the group does not go on, if it will not by itself.
    pub fn failure(&self) -> Option<GroupFailure> {
        match &*self.inner.slot.read() {
            Slot::Broken(failure) => Some(failure.clone()),
            Slot::Starting | Slot::Running(_) | Slot::Recovering(_) | Slot::Stopped => None,
        }
    }

    /// Removes the log up to and including `upto`, but never beyond what the state machine has made durable,
    /// nor what is kept for other replicas: see [`GroupOptions::log_kept_bytes_max`].
    ///
    /// Returns when the entries are gone, or at the latest after 5 s while they are being sent to another replica;
    /// their files go in the background.
    pub async fn purge(&self, upto: u64) {
        let (reply, done) = oneshot::channel();
        if self.orders.send(Order::Purge(upto, reply)).await.is_ok() {
            // An error means that the group stopped meanwhile.
            let _ = done.await;
        }
    }

    /// Answers a request that another node's transport delivered.
    pub async fn answer(&self, request: PeerRequest) -> Result<PeerResponse, PeerError> {
        self.check_quarantine().map_err(|reason| PeerError::Unreachable(reason.to_owned()))?;
        let raft = self.inner.raft().map_err(|error| PeerError::Stopped(error.to_string()))?;
        let failed = |error: &RaftError<u64>| PeerError::Stopped(raft_text(error));
        let answer = match request.0 {
            PeerCall::Append(request) => {
                self.inner.role_metrics.hears_leader();
                // A leader has on disk what it sends.
                let last = request.entries.last().map(|entry| entry.log_id).or(request.prev_log_id);
                let has = Acknowledged::new(&request.vote, last.map_or(0, |id| id.index));
                self.inner.log.acknowledgements().note(has.node, has);
                PeerAnswer::Append(raft.append_entries(request).await.map_err(|error| failed(&error))?)
            }
            PeerCall::Vote(request, is_handed) => {
                self.give_up_lease(&raft, &request, is_handed).await?;
                PeerAnswer::Vote(raft.vote(request).await.map_err(|error| failed(&error))?)
            }
            PeerCall::Snapshot(vote, mut snapshot) => {
                *snapshot.snapshot = self.receive(&raft, *snapshot.snapshot).await?;
                self.check(&snapshot).await?;
                let installed = raft.install_full_snapshot(vote, snapshot).await;
                PeerAnswer::Snapshot(installed.map_err(|error| PeerError::Stopped(fatal_text(&error)))?)
            }
        };
        Ok(PeerResponse(answer))
    }

    /// Brings a snapshot that is still a view into a file of this node.
    async fn receive(&self, raft: &Raft<TypeConfig>, data: SnapshotData) -> Result<SnapshotData, PeerError> {
        let SnapshotData::Source(source) = data else { return Ok(data) };
        let Some(source) = source.into_inner() else {
            return Err(PeerError::Unreachable("the snapshot was already sent".to_owned()));
        };
        let target =
            raft.begin_receiving_snapshot().await.map_err(|error| PeerError::Stopped(raft_text(&error)))?;
        let SnapshotData::File(path) = &*target else {
            return Err(PeerError::Stopped("snapshots cannot be received".to_owned()));
        };
        let path = path.clone();
        let written = tokio::task::spawn_blocking(move || source.write_to(&path)).await;
        match written {
            Ok(Ok(())) => Ok(*target),
            Ok(Err(error)) => Err(PeerError::Unreachable(error.to_string())),
            Err(error) => Err(PeerError::Unreachable(error.to_string())),
        }
    }

    /// Refuses a damaged snapshot: openraft would give up entries for it, and end when it cannot be installed.
    async fn check(&self, snapshot: &Snapshot<TypeConfig>) -> Result<(), PeerError> {
        let (Some(last), SnapshotData::File(path)) = (snapshot.meta.last_log_id, &*snapshot.snapshot) else {
            return Err(PeerError::Unreachable("a snapshot without an index or a file".to_owned()));
        };
        let (check, path) = (self.inner.snapshot_check.clone(), path.clone());
        let checked = tokio::task::spawn_blocking(move || check(last.index, &path)).await;
        let refused = |reason: String| {
            tracing::error!(group = self.inner.group, index = last.index, reason, "a snapshot is refused");
            PeerError::Unreachable(format!("the snapshot is refused: {reason}"))
        };
        match checked {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(refused(error.to_string())),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// Stops the group and waits until its threads have ended and the state machine is dropped.
    pub async fn shutdown(&self) {
        // An error means that the raft thread has ended already.
        let _ = self.orders.send(Order::Shutdown).await;
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

/// A log that lacks entries which it knew to be committed is no log to start on.
fn check_whole(log: &GroupLog) -> Result<(), StartError> {
    match log.lost() {
        Some(committed) => Err(StartError::Lost { committed, last: log.last().map(|id| id.index) }),
        None => Ok(()),
    }
}

/// A log without entries begins behind the state that was restored, so that others are sent a snapshot.
async fn begin_after_restored(
    log: &GroupLog,
    node_id: u64,
    durable: u64,
    options: &GroupOptions,
) -> Result<(), StartError> {
    let Some(restored) = options.restored.filter(|_| log.is_pristine() && !options.joins) else {
        return Ok(());
    };
    if durable != restored {
        return Err(StartError::Options(format!("the state is as of entry {durable}, not {restored}")));
    }
    log.begin_after(restored, options.first_voters(node_id)).await?;
    Ok(())
}

/// Finds where the state machine stands in the log, or that the two do not belong together.
fn position(durable: u64, log: &GroupLog) -> Result<Option<LogId>, StartError> {
    let purged = log.purged().map(|id| id.index);
    if let Some(purged) = purged
        && durable < purged
    {
        return Err(StartError::Gap { purged, durable });
    }
    if durable == 0 {
        // Entry 0 is the first membership, which the state machine never sees.
        return Ok(None);
    }
    match log.log_id_at(durable)? {
        Some(id) => Ok(Some(id)),
        None => Err(StartError::StateAhead { durable, last: log.last().map(|id| id.index) }),
    }
}
