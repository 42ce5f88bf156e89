//! Applying: the state machine of a group, for the whole life of the group, and the thread it usually runs on.
//!
//! Committed entries arrive in order; each is applied once, its proposer is told at once, and the log may then let
//! go of it. Applying outlives openraft's core, which is started anew after a disk failure, so that no entry is
//! ever applied twice.
//!
//! While one entry is applied on the apply thread the next one can be synced. When proposals come one at a time the
//! hand-over would only cost two wake-ups, and the entry is applied on the raft thread.

use parking_lot::{Mutex, MutexGuard};
use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use openraft::storage::RaftStateMachine;
use openraft::{AnyError, OptionalSend, RaftSnapshotBuilder, Snapshot, SnapshotMeta};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::log::{GroupLog, LogError};
use crate::progress::Progress;
use crate::proposals::Proposals;
use crate::snapshot::{SnapshotCheck, SnapshotData, SnapshotError, SnapshotSource};
use crate::types::{
    Entry, EntryPayload, GroupFailure, LogId, Payload, ProposeError, StorageError, StorageIOError,
    StoredMembership, TypeConfig,
};

/// Orders waiting for the apply thread. openraft sends one at a time; the rest is room for snapshots and questions.
const ORDER_QUEUE: usize = 16;

/// Why a committed entry could not be applied. It is final for the group: its state can no longer follow the log.
#[derive(Debug, Error)]
#[error("{cause}")]
pub struct ApplyError {
    #[source]
    cause: Box<dyn Error + Send + Sync>,
    is_damage: bool,
}

impl ApplyError {
    /// Wraps the cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), is_damage: false }
    }

    /// Wraps the cause of damage to the state: applying the entry again is no use.
    pub fn damage(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), is_damage: true }
    }
}

/// The state machine that committed entries are applied to. Calls come one at a time, from the threads
/// `partition-<group>` and `raft-<group>`; the latter is inside a tokio runtime.
pub trait StateMachine: Send + 'static {
    /// Applies the committed entry at `index`, which a leader of `term` appended. Indexes only grow; some are skipped,
    /// being openraft's own.
    ///
    /// An error, like a panic, stops the group for good.
    fn apply(&mut self, index: u64, term: u64, payload: &Payload) -> Result<(), ApplyError>;

    /// Log index up to which the effects of all entries are durable on disk, 0 at first. After a restart the
    /// entries after it are applied again, so it must be stored in one transaction with those effects.
    fn durable_index(&self) -> u64;

    /// A view of the durable state for another replica, no older than `durable_index`.
    ///
    /// Without snapshots a group must not purge what another replica may lack: `Unsupported` then stops the leader.
    fn snapshot(&mut self) -> Result<Box<dyn SnapshotSource>, SnapshotError> {
        Err(SnapshotError::Unsupported)
    }

    /// A check of snapshots that arrive, asked for once. One that fails it is refused before anything is given up.
    fn snapshot_check(&self) -> SnapshotCheck {
        Arc::new(|_, _| Ok(()))
    }

    /// Replaces the whole state, durably, by the snapshot in the file `source`, which includes every entry up to
    /// `index`. Afterwards `durable_index` is `index`. A crash on the way leaves the old state or the new one; after an
    /// error the old one goes on, or every later `apply` fails.
    fn install_snapshot(&mut self, index: u64, source: &Path) -> Result<(), SnapshotError> {
        let _ = (index, source);
        Err(SnapshotError::Unsupported)
    }
}

type Reply<T> = oneshot::Sender<T>;

/// A view, with what openraft wants to know of it.
type TakenSnapshot = (Box<dyn SnapshotSource>, SnapshotMeta<u64, openraft::BasicNode>);

enum Order {
    Apply(Vec<Entry>, Reply<Result<(), String>>),
    DurableIndex(Reply<u64>),
    Snapshot(Reply<Result<TakenSnapshot, SnapshotError>>),
    Install(LogId, PathBuf, Reply<Result<(), SnapshotError>>),
    Stop,
}

/// A handle on the apply thread; also openraft's state machine.
#[derive(Clone)]
pub(crate) struct MachineHandle {
    orders: mpsc::Sender<Order>,
    applier: Arc<Mutex<Applier>>,
    proposals: Arc<Proposals>,
    progress: Arc<Progress>,
    log: Arc<GroupLog>,
    /// The node it acts for.
    node: u64,
    /// Where snapshots are received.
    snapshot_dir: PathBuf,
}

impl MachineHandle {
    /// Starts the apply thread of `log`'s group.
    pub(crate) fn spawn(
        machine: impl StateMachine,
        log: Arc<GroupLog>,
        node: u64,
        proposals: Arc<Proposals>,
        snapshot_dir: PathBuf,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (orders, receiver) = mpsc::channel(ORDER_QUEUE);
        let progress = Arc::new(Progress::default());
        let applier =
            Applier { machine: Some(Box::new(machine)), log: log.clone(), progress: progress.clone() };
        let applier = Arc::new(Mutex::new(applier));
        let served = applier.clone();
        let thread = thread::Builder::new()
            .name(format!("partition-{}", log.group()))
            .spawn(move || serve(&served, receiver))?;
        Ok((Self { orders, applier, proposals, progress, log, node, snapshot_dir }, thread))
    }

    /// Whether nothing else could use this thread while `entries` are applied on it.
    fn is_applied_here(&self, entries: &[Entry]) -> bool {
        entries.len() == 1 && self.proposals.are_single() && self.log.is_sole_voter(self.node)
    }

    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Notes where the state stands before anything is applied.
    pub(crate) fn begin_at(&self, id: LogId) {
        self.progress.set_applied(id);
        self.log.release(id.index);
    }

    pub(crate) async fn durable_index(&self) -> Result<u64, StorageError> {
        self.ask(Order::DurableIndex).await
    }

    pub(crate) async fn stop(&self) {
        // A full queue only delays this; a closed one means that the thread has ended.
        let _ = self.orders.send(Order::Stop).await;
    }

    async fn ask<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> Result<T, StorageError> {
        let gone = || StorageIOError::read_state_machine(AnyError::error("the apply thread has ended"));
        let (reply, answer) = oneshot::channel();
        self.orders.send(order(reply)).await.map_err(|_| gone())?;
        Ok(answer.await.map_err(|_| gone())?)
    }

    /// Installs a received snapshot. The log notes it first: with the state at its index after a crash, the log must
    /// know the entry there, which it may never have had.
    async fn install(
        &self,
        meta: &SnapshotMeta<u64, openraft::BasicNode>,
        snapshot: SnapshotData,
    ) -> Result<(), StorageError> {
        let failed =
            |text: String| StorageIOError::write_snapshot(Some(meta.signature()), AnyError::error(text));
        let SnapshotData::File(path) = snapshot else {
            return Err(failed("a received snapshot must be a file".to_owned()).into());
        };
        let Some(last) = meta.last_log_id else {
            return Err(failed("an empty snapshot cannot be installed".to_owned()).into());
        };
        self.log
            .note_snapshot(last, &meta.last_membership)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let source = path.clone();
        self.ask(|reply| Order::Install(last, source, reply))
            .await?
            .map_err(|error| failed(error.to_string()))?;
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "an installed snapshot could not be removed");
        }
        Ok(())
    }
}

/// The description of the state up to `index` as a snapshot.
fn meta(
    log: &GroupLog,
    applied: Option<LogId>,
    index: u64,
) -> Result<SnapshotMeta<u64, openraft::BasicNode>, LogError> {
    let last_log_id = match applied {
        None => None,
        Some(applied) if applied.index == index => Some(applied),
        Some(_) => log.log_id_at(index)?,
    };
    Ok(SnapshotMeta {
        last_log_id,
        last_membership: log.membership_at(index),
        snapshot_id: format!("{}-{index}", log.group()),
    })
}

impl RaftSnapshotBuilder<TypeConfig> for MachineHandle {
    async fn build_snapshot(&mut self) -> Result<Snapshot<TypeConfig>, StorageError> {
        let index = self.durable_index().await?;
        let failed = |error: LogError| StorageIOError::read_snapshot(None, AnyError::new(&error));
        let meta = meta(&self.log, self.progress.applied(), index).map_err(failed)?;
        Ok(Snapshot { meta, snapshot: Box::new(SnapshotData::Durable) })
    }
}

impl RaftStateMachine<TypeConfig> for MachineHandle {
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), StorageError> {
        let applied = self.progress.applied();
        let membership = applied.map(|id| self.log.membership_at(id.index)).unwrap_or_default();
        Ok((applied, membership))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<()>, StorageError>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let (count, last) = (entries.len(), entries.last().map(|entry| entry.log_id).unwrap_or_default());
        let result = if self.is_applied_here(&entries) {
            lock(&self.applier).apply(entries)
        } else {
            self.ask(|reply| Order::Apply(entries, reply)).await?
        };
        match result {
            Ok(()) => Ok(vec![(); count]),
            Err(reason) => Err(StorageIOError::apply(last, AnyError::error(reason)).into()),
        }
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<SnapshotData>, StorageError> {
        let failed = |error: io::Error| StorageIOError::write_snapshot(None, AnyError::new(&error));
        std::fs::create_dir_all(&self.snapshot_dir).map_err(failed)?;
        let path = self.snapshot_dir.join(format!("received-{}.snapshot", self.log.group()));
        Ok(Box::new(SnapshotData::File(path)))
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<u64, openraft::BasicNode>,
        snapshot: Box<SnapshotData>,
    ) -> Result<(), StorageError> {
        let installed = self.install(meta, *snapshot).await;
        if installed.is_err() {
            self.progress.install_failed.send_replace(true);
        }
        installed
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<TypeConfig>>, StorageError> {
        match self.ask(Order::Snapshot).await? {
            Ok((source, meta)) => Ok(Some(Snapshot {
                meta,
                snapshot: Box::new(SnapshotData::Source(Mutex::new(Some(source)))),
            })),
            Err(SnapshotError::Unsupported) => Ok(None),
            Err(error) => Err(StorageIOError::read_snapshot(None, AnyError::new(&error)).into()),
        }
    }
}

/// The state machine and what applying to it touches.
struct Applier {
    /// Absent when the group has ended.
    machine: Option<Box<dyn StateMachine>>,
    log: Arc<GroupLog>,
    progress: Arc<Progress>,
}

fn lock(applier: &Mutex<Applier>) -> MutexGuard<'_, Applier> {
    applier.lock()
}

fn serve(applier: &Mutex<Applier>, mut orders: mpsc::Receiver<Order>) {
    let mut more = true;
    while more && let Some(order) = orders.blocking_recv() {
        let mut applier = lock(applier);
        more = catch_unwind(AssertUnwindSafe(|| applier.obey(order))).unwrap_or_else(|_| {
            let failure = || GroupFailure::passing("the state machine panicked");
            applier.progress.failure.get_or_init(failure);
            false
        });
    }
    // The state must be free for its next owner when this thread has ended.
    drop(lock(applier).machine.take());
}

impl Applier {
    /// Whether there may be further orders.
    fn obey(&mut self, order: Order) -> bool {
        if let Order::Apply(entries, reply) = order {
            // The requester, here and below, may have been cancelled; that changes nothing.
            let _ = reply.send(self.apply(entries));
            return true;
        }
        let Some(machine) = &mut self.machine else { return false };
        match order {
            Order::DurableIndex(reply) => drop(reply.send(machine.durable_index())),
            Order::Snapshot(reply) => {
                // Described before the state becomes durable further on, and the log may be purged beyond the view.
                let taken = machine.snapshot().and_then(|source| {
                    let meta = meta(&self.log, self.progress.applied(), source.index());
                    Ok((source, meta.map_err(|error| SnapshotError::Failed(error.into()))?))
                });
                let _ = reply.send(taken);
            }
            Order::Install(last, source, reply) => {
                let result = machine.install_snapshot(last.index, &source);
                if result.is_ok() {
                    self.progress.set_applied(last);
                    self.log.supersede(last.index);
                    self.progress.install_failed.send_replace(false);
                }
                if let Err(error @ SnapshotError::Unsure(_)) = &result {
                    // Another core would find a state that is ahead of what was applied.
                    self.progress.failure.get_or_init(|| GroupFailure::passing(error.to_string()));
                }
                let _ = reply.send(result);
            }
            Order::Apply(..) | Order::Stop => return false,
        }
        true
    }

    fn apply(&mut self, entries: Vec<Entry>) -> Result<(), String> {
        let result = self.apply_all(entries);
        result.map_err(|failure| self.progress.failure.get_or_init(|| failure).reason.clone())
    }

    fn apply_all(&mut self, entries: Vec<Entry>) -> Result<(), GroupFailure> {
        if let Some(failure) = self.progress.failure() {
            return Err(failure.clone());
        }
        for entry in entries {
            let index = entry.log_id.index;
            let next = self.progress.applied().map_or(0, |id| id.index + 1);
            let mut completion = None;
            if index > next {
                let reason = format!("entry {index} was to be applied before entry {next}");
                return Err(GroupFailure::passing(reason));
            }
            if index < next {
                // A core that ended left it in its queue, and the next core brought it again.
                if let EntryPayload::Normal(proposal) = &entry.payload
                    && let Some(completion) = &proposal.completion
                {
                    completion.complete(Ok(index));
                }
                continue;
            }
            if let EntryPayload::Normal(proposal) = &entry.payload {
                completion = proposal.completion.as_ref();
                if let Err(failure) = self.apply_one(entry.log_id, &proposal.payload) {
                    if let Some(completion) = completion {
                        completion.complete(Err(ProposeError::StateMachine(failure.reason.clone())));
                    }
                    return Err(failure);
                }
            }
            self.progress.set_applied(entry.log_id);
            if let Some(completion) = completion {
                completion.complete(Ok(index));
            }
            self.log.release(index);
        }
        Ok(())
    }

    fn apply_one(&mut self, id: LogId, payload: &Payload) -> Result<(), GroupFailure> {
        let (index, term) = (id.index, id.leader_id.term);
        let Some(machine) = &mut self.machine else {
            return Err(GroupFailure::passing("the apply thread has ended"));
        };
        match catch_unwind(AssertUnwindSafe(|| machine.apply(index, term, payload))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(GroupFailure { reason: format!("entry {index}: {error}"), is_damage: error.is_damage })
            }
            Err(_) => Err(GroupFailure::passing(format!("entry {index}: the state machine panicked"))),
        }
    }
}
