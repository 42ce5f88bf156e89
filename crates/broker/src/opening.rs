//! Opening a partition: its state, as the engine and the rest of the broker have it.

#![expect(missing_docs, reason = "names say what is held")]

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64};

use engine::{Counters, Engine};
use export::Hub;
use protocol::FIRST_PARTITION;
use replication::LogError;
use state::{StateError, Store};
use tokio::sync::watch;

use crate::answers::LateAnswers;
use crate::bootstrap::{BootstrapError, give_up};
use crate::clock::Due;
use crate::cluster_clock::ClusterClock;
use crate::comparison::WantedHash;
use crate::data_directory::state_file;
use crate::demand::DemandRegistry;
use crate::divergence::Digests;
use crate::entered::Entered;
use crate::exporting::LocalPositions;
use crate::identity::{Identity, IdentityError};
use crate::joining::JoinError;
use crate::leading::Leading;
use crate::machine::PartitionState;
use crate::metric_definitions::Metrics;
use crate::numbers::Numbers;
use crate::options::Options;
use crate::replica_number::ReplicaNumber;
use crate::set_aside::SetAsideError;
use crate::write_limit::Written;

/// Why a broker could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error("data directory '{path}': {source}")]
    DataDir { path: PathBuf, source: std::io::Error },
    /// The data directory is another's.
    #[error("data directory: {0}")]
    Identity(#[from] IdentityError),
    /// State cannot be opened.
    #[error("state: {0}")]
    State(#[from] StateError),
    /// The log cannot be opened.
    #[error("log: {0}")]
    Log(#[from] LogError),
    /// The partition cannot be started.
    #[error("partition 1: {0}")]
    Partition(#[from] replication::StartError),
    /// The batches that operators have set aside cannot be read.
    #[error("batches set aside: {0}")]
    SetAside(#[from] SetAsideError),
    #[error("export: {0}")]
    Export(#[from] export::HubError),
    /// The other replicas have what this one cannot use any more.
    #[error(
        "{0}; at its next start the broker sets these files aside and is brought up by the others, if a majority of the \
         cluster is there"
    )]
    Damaged(Box<StartError>),
    /// The broker does not find its cluster.
    #[error("cluster: {0}")]
    Join(#[from] JoinError),
    /// The broker does not take part in its cluster.
    #[error("cluster: {0}")]
    Bootstrap(#[from] BootstrapError),
    /// A thread cannot be started.
    #[error("thread: {0}")]
    Thread(#[from] std::io::Error),
}

impl StartError {
    /// Whether another process has the data directory open.
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::State(error) => matches!(error, StateError::AlreadyOpen { .. }),
            Self::Log(error) | Self::Partition(replication::StartError::Log(error)) => log_is_in_use(error),
            Self::SetAside(error) => error.is_in_use(),
            _ => false,
        }
    }

    /// Whether the state or the log of the replica cannot be used, and the other replicas of a cluster have both.
    fn is_damage(&self) -> bool {
        match self {
            Self::State(error) => error.is_damage(),
            Self::Log(error) => matches!(error, LogError::Damaged(_)),
            Self::Partition(error) => error.is_damage(),
            _ => false,
        }
    }

    /// The same error; a replica whose data are damaged is given up.
    pub(crate) fn give_up_damaged(self, data_dir: &Path) -> Self {
        if !self.is_damage() {
            return self;
        }
        match give_up(data_dir) {
            Ok(()) => Self::Damaged(Box::new(self)),
            Err(error) => error.into(),
        }
    }
}

/// Whether another process has the log open. A server that is about to end lets go of it last.
pub(crate) fn log_is_in_use(error: &LogError) -> bool {
    matches!(error, LogError::Open { reason, .. } if reason.contains("another instance is using"))
}

/// Opens a data directory: its owner, in a new life, and the state of its partition.
pub(crate) async fn open(options: &Options) -> Result<(Identity, Engine), StartError> {
    let identity = Identity::next(&options.data_dir, &options.cluster_id, options.node_id)?;
    let engine = open_engine(options).await?;
    // The state is locked now: no other process is at its start.
    identity.begin(&options.data_dir)?;
    Ok((identity, engine))
}

async fn open_engine(options: &Options) -> Result<Engine, StartError> {
    let path = state_file(&options.data_dir);
    let failed = |source| StartError::DataDir { path: options.data_dir.clone(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(&options.data_dir)).map_err(failed)?;
    let store_options = store_options(options);
    let store = tokio::task::spawn_blocking(move || Store::open(&path, store_options)).await;
    let store = store.map_err(std::io::Error::other)??;
    Ok(Engine::open(&store, engine_options(options))?)
}

/// The state as the broker is configured.
pub(crate) fn store_options(options: &Options) -> state::Options {
    state::Options {
        page_cache_bytes: options.state.page_cache_bytes,
        clean_cache_bytes: options.state.value_cache_bytes,
    }
}

/// The engine as the broker is configured; settings in its state win.
pub(crate) fn engine_options(options: &Options) -> engine::Options {
    engine::Options {
        partition_id: FIRST_PARTITION,
        max_delivery_bytes: options.max_message_bytes,
        work: options.work,
        idempotency: options.idempotency,
        bpmn: options.bpmn.clone(),
        dmn: options.dmn.clone(),
        records: options.export.is_enabled(),
        unwanted_records: options.export.unwanted(),
        at_work: options.apply_watch.at_work(),
        fault: options.stall_at.clone().map(|element| (engine::FaultPoint::Complete, element)),
        fault_is_stall: options.stall_at.is_some(),
        ..engine::Options::default()
    }
}

/// Values that the partition's thread shares with the rest of the broker, as of an engine that was opened.
pub(crate) fn partition_state(
    options: &Options,
    (replica, life): (ReplicaNumber, u64),
    engine: &Engine,
    exports: Option<Arc<Hub>>,
    local_positions: Option<Arc<LocalPositions>>,
    cluster_clock: Option<Arc<ClusterClock>>,
) -> PartitionState {
    let numbers = || Numbers::new(replica, life);
    PartitionState {
        demand: Arc::new(DemandRegistry::new(options.jobs.clone(), numbers())),
        late: LateAnswers::new(numbers()),
        leading: if cluster_clock.is_some() { Leading::default() } else { Leading::alone() },
        due: Due::new(options.wall_clock.clone(), cluster_clock),
        entered: Entered::new(numbers()),
        metrics: Metrics::new(),
        durable: watch::channel(engine.tables().applied_index()).0,
        flush_now: AtomicBool::new(false),
        flush_asked: AtomicBool::new(false),
        paused: AtomicBool::new(false),
        unflushed: AtomicBool::new(false),
        position: AtomicU64::new(engine.position()),
        written: Mutex::new(Written { position: engine.position(), left_over: 0 }),
        engine_version: AtomicU16::new(engine.active_version()),
        grants_version: AtomicU64::new(engine.grants_version()),
        is_recorded: options.export.is_enabled() || options.store.is_some(),
        recorded: AtomicU64::new(0),
        handed_on: AtomicU64::new(engine.position()),
        counters: Mutex::new(Counters::default()),
        tally: Mutex::default(),
        rows: Mutex::default(),
        flush_failure: Mutex::new(None),
        overlay_full: AtomicBool::new(false),
        digests: Digests::default(),
        wanted_hash: WantedHash::default(),
        exports,
        local_positions,
    }
}
