//! The parts of a group that its handle and its supervisor share.

use crate::log::{GroupLog, LogError};
use crate::machine::MachineHandle;
use crate::metric_definitions::RoleMetrics;
use crate::peer::{NoPeers, Transport};
use crate::proposals::Proposals;
use crate::snapshot::{LogHolds, SnapshotCheck};
use crate::types::{GroupFailure, ProposeError, TypeConfig, fatal_text};
use openraft::error::Fatal;
use openraft::{BasicNode, Config, Raft, SnapshotPolicy};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

/// How a group behaves.
#[derive(Clone)]
pub struct GroupOptions {
    /// Voters of a group that starts for the first time, by node id, with their addresses. Empty: this node alone.
    pub voters: BTreeMap<u64, String>,
    /// Whether a node that starts for the first time waits until a leader adds it to a group of others, instead of
    /// beginning a new one.
    pub joins: bool,
    /// Interval of heartbeats to followers, in milliseconds. A leader without followers sends none.
    pub heartbeat_interval_ms: u64,
    /// Shortest time without a leader after which a follower stands for election, in milliseconds.
    pub election_timeout_ms: u64,
    /// The longest such time, which is also how long a follower refuses votes after it heard from a leader.
    pub election_timeout_max_ms: u64,
    /// Proposals under way at most; further ones wait.
    pub proposals_in_flight_max: usize,
    /// Where snapshots from a leader are received. Default: `snapshots` beside the log.
    pub snapshot_dir: Option<PathBuf>,
    /// Bytes of log at most that are kept, though the state here has them, for replicas that lack them; those that
    /// lack more are sent a snapshot.
    ///
    /// A leader keeps what any other replica of the group lacks. One that is away counts, too: nobody knows whether it
    /// is about to come back. A replica that does not lead does not know what the others have, and keeps as much as
    /// this allows, so that it can serve them when it leads. A sole voter without other replicas keeps nothing.
    ///
    /// Bytes are those of payloads, with a little for each entry, before compression; of entries that were there
    /// before the last start they are estimated from some of them.
    pub log_kept_bytes_max: u64,
    /// Whether this node stands for election, until [`crate::Group::stands_for_election`] says otherwise.
    pub stands_for_election: bool,
    /// Whether this node takes no part in votes, answers no other node and asks none, until
    /// [`crate::Group::end_quarantine`].
    pub quarantined: bool,
    /// The index as of which all voters have the same state before the log begins. A log that has begun goes on.
    pub restored: Option<u64>,
    /// Carries messages to the other voters.
    pub transport: Arc<dyn Transport>,
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            voters: BTreeMap::new(),
            joins: false,
            heartbeat_interval_ms: 100,
            election_timeout_ms: 300,
            election_timeout_max_ms: 450,
            proposals_in_flight_max: 256,
            snapshot_dir: None,
            log_kept_bytes_max: 1 << 30,
            stands_for_election: true,
            quarantined: false,
            restored: None,
            transport: Arc::new(NoPeers),
        }
    }
}

impl GroupOptions {
    /// The voters of a log that begins as that of a node.
    pub(crate) fn first_voters(&self, node: u64) -> BTreeMap<u64, BasicNode> {
        if self.voters.is_empty() {
            return BTreeMap::from([(node, BasicNode::default())]);
        }
        self.voters.iter().map(|(id, address)| (*id, BasicNode::new(address))).collect()
    }

    pub(crate) fn config(&self, group: u64) -> Config {
        Config {
            cluster_name: format!("group-{group}"),
            heartbeat_interval: self.heartbeat_interval_ms,
            election_timeout_min: self.election_timeout_ms,
            election_timeout_max: self.election_timeout_max_ms,
            install_snapshot_timeout: SNAPSHOT_TIMEOUT_MS,
            max_payload_entries: ENTRIES_PER_MESSAGE,
            // The state machine flushes on its own schedule and says when the log may go; openraft decides neither.
            snapshot_policy: SnapshotPolicy::Never,
            max_in_snapshot_log_to_keep: u64::MAX,
            replication_lag_threshold: u64::MAX,
            ..Config::default()
        }
    }
}

/// Why a group did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The log could not be read, or the group runs already.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] io::Error),
    /// The options contradict each other.
    #[error("the group's options are wrong: {0}")]
    Options(String),
    /// The log was purged beyond what the state has, so that entries are missing between the two.
    #[error("the log begins after entry {purged} but the state ends at entry {durable}")]
    Gap {
        /// Last purged index.
        purged: u64,
        /// Index up to which the state is durable.
        durable: u64,
    },
    /// The log has lost entries that it knew as committed: another node may count on them.
    #[error("the log ends at entry {last:?}, but it knew entry {committed} as committed")]
    Lost {
        /// Last committed index that was noted.
        committed: u64,
        /// Last index of the log.
        last: Option<u64>,
    },
    /// The state has entries that the log never had: they do not belong together.
    #[error("the state ends at entry {durable} but the log at {last:?}")]
    StateAhead {
        /// Index up to which the state is durable.
        durable: u64,
        /// Last index of the log.
        last: Option<u64>,
    },
    /// openraft did not start, or an entry could not be applied again.
    #[error("the group cannot start: {0}")]
    Raft(String),
}

impl StartError {
    /// Whether the log, or its bond with the state, is broken: no further start on the same files can do better.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Log(LogError::Damaged(_))
            | Self::Gap { .. }
            | Self::Lost { .. }
            | Self::StateAhead { .. } => true,
            Self::Log(_) | Self::Thread(_) | Self::Options(_) | Self::Raft(_) => false,
        }
    }
}

/// Roles of a node in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It leads, and takes proposals.
    Leader {
        /// The term it leads in.
        term: u64,
    },
    /// It follows, or has no leader at the moment.
    Follower {
        /// The term.
        term: u64,
        /// The node that leads, if known.
        leader: Option<u64>,
    },
    /// Its log cannot be written for now, or it has stopped.
    Unavailable,
}

impl Role {
    /// Whether this node leads, or knows the one that does.
    pub fn has_leader(&self) -> bool {
        matches!(self, Self::Leader { .. } | Self::Follower { leader: Some(_), .. })
    }
}

/// The number of no node.
pub(crate) const NOBODY: u64 = u64::MAX;

/// A hand-over of leadership.
pub(crate) struct HandOver {
    /// The term in which this node stands for election because the leader has asked it to.
    pub(crate) term: Arc<AtomicU64>,
    /// The node that this leader hands over to now, or [`NOBODY`].
    pub(crate) to: AtomicU64,
}

impl Default for HandOver {
    fn default() -> Self {
        Self { term: Arc::default(), to: AtomicU64::new(NOBODY) }
    }
}

pub(crate) enum Slot {
    Starting,
    Running(Raft<TypeConfig>),
    /// The log failed; the supervisor is trying to resume.
    Recovering(String),
    /// The state machine failed, or the log is damaged.
    Broken(GroupFailure),
    Stopped,
}

pub(crate) enum Order {
    Purge(u64, oneshot::Sender<()>),
    Shutdown,
}

pub(crate) struct GroupState {
    pub(crate) group: u64,
    pub(crate) slot: RwLock<Slot>,
    pub(crate) role: watch::Sender<Role>,
    pub(crate) proposals: Arc<Proposals>,
    pub(crate) log: Arc<GroupLog>,
    pub(crate) machine: MachineHandle,
    pub(crate) snapshot_check: SnapshotCheck,
    pub(crate) log_holds: LogHolds,
    /// Whether this node says nothing as a leader, since no majority answers it.
    pub(crate) silent: Arc<AtomicBool>,
    pub(crate) hand_over: HandOver,
    pub(crate) stands_for_election: AtomicBool,
    pub(crate) quarantined: watch::Sender<bool>,
    pub(crate) role_metrics: RoleMetrics,
}

impl GroupState {
    pub(crate) fn set(&self, slot: Slot) {
        if !matches!(slot, Slot::Running(_)) {
            self.set_role(Role::Unavailable);
        }
        let mut known = self.slot.write();
        let is_final = matches!(*known, Slot::Broken(_));
        assert!(!is_final || matches!(slot, Slot::Stopped), "a group that is broken does not go on");
        *known = slot;
    }

    /// Lets the core stand for election or not, as it was said last.
    pub(crate) fn tell_elections(&self, raft: &Raft<TypeConfig>) {
        let stands = self.stands_for_election.load(Ordering::Acquire) && !self.is_quarantined();
        raft.runtime_config().elect(stands);
    }

    pub(crate) fn is_quarantined(&self) -> bool {
        *self.quarantined.borrow()
    }

    pub(crate) fn set_role(&self, role: Role) {
        self.role.send_if_modified(|known| {
            let is_another = *known != role;
            *known = role;
            is_another
        });
    }

    pub(crate) fn raft(&self) -> Result<Raft<TypeConfig>, ProposeError> {
        match &*self.slot.read() {
            Slot::Running(raft) => Ok(raft.clone()),
            Slot::Starting => Err(ProposeError::NotLeader { leader: None }),
            Slot::Recovering(reason) => Err(ProposeError::Storage(reason.clone())),
            Slot::Broken(failure) => Err(ProposeError::StateMachine(failure.reason.clone())),
            Slot::Stopped => Err(ProposeError::ShuttingDown),
        }
    }

    /// Why a proposal that openraft took got no answer.
    pub(crate) fn abandoned(&self) -> ProposeError {
        if let Some(failure) = self.machine.progress().failure() {
            return ProposeError::StateMachine(failure.reason.clone());
        }
        match self.raft() {
            Err(error) => error,
            Ok(raft) => {
                let state = raft.metrics().borrow().running_state.clone();
                match state {
                    Err(Fatal::Stopped) => ProposeError::ShuttingDown,
                    Err(fatal) => ProposeError::Storage(fatal_text(&fatal)),
                    Ok(()) => ProposeError::Storage("the log was read anew after a failure".to_owned()),
                }
            }
        }
    }
}

/// Entries sent to a follower in one message at most.
const ENTRIES_PER_MESSAGE: u64 = 64;

/// Time a follower has to take in a snapshot, in milliseconds.
const SNAPSHOT_TIMEOUT_MS: u64 = 600_000;
