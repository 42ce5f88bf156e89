//! Opening a partition: its state, as the engine and the rest of the partition have it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use data_directory::state_file;
use engine::Engine;
use replication::{GroupOptions, LogError};
use state::{StateError, Store};

use crate::answers::LateAnswers;
use crate::applied_state::AppliedState;
use crate::clock::{ClusterTime, Due};
use crate::counts::Counts;
use crate::demand::DemandRegistry;
use crate::disk::Disk;
use crate::divergence::Digests;
use crate::entered::Entered;
use crate::flush_state::FlushState;
use crate::hashes::WantedHash;
use crate::leading::Leading;
use crate::numbers::Numbers;
use crate::options::PartitionOptions;
use crate::outbox_signals::OutboxSignals;
use crate::partition_state::{GiveUp, PartitionState};
use crate::record_state::{RecordState, RecordTarget};
use crate::set_aside::SetAsideError;

/// The reason why a partition cannot be opened.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "names say what is held")]
pub enum OpenError {
    #[error("data directory '{path}': {source}")]
    DataDir { path: PathBuf, source: std::io::Error },
    #[error("state: {0}")]
    State(#[from] StateError),
    #[error("log: {0}")]
    Log(#[from] LogError),
    #[error("{0}")]
    Group(#[from] replication::StartError),
    #[error("batches set aside: {0}")]
    SetAside(#[from] SetAsideError),
    #[error("thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// The surroundings of a partition in its broker.
pub struct Surroundings {
    /// A random number of this life of the broker.
    pub random: u64,
    /// Number of the replica in the group.
    pub replica: u64,
    /// Settings of the group.
    pub group: GroupOptions,
    /// The exporters of records.
    pub records: RecordTarget,
    /// The clocks of a cluster.
    pub cluster_time: Option<ClusterTime>,
    /// Gives up the data of this replica.
    pub give_up: GiveUp,
    /// The disks that must have room.
    pub disk: Arc<Disk>,
}

/// Opens the state of a partition.
pub async fn open_engine(options: &PartitionOptions) -> Result<Engine, OpenError> {
    let path = state_file(&options.data_dir, options.number);
    let failed = |source| OpenError::DataDir { path: options.data_dir.clone(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(&options.data_dir)).map_err(failed)?;
    let store_options = options.store();
    let store = tokio::task::spawn_blocking(move || Store::open(&path, store_options)).await;
    let store = store.map_err(std::io::Error::other)??;
    Ok(Engine::open(&store, options.engine())?)
}

/// Values that the partition's thread shares with the rest of the broker, as of an engine that was opened.
pub(crate) fn partition_state(
    options: &PartitionOptions,
    engine: &Engine,
    surroundings: Surroundings,
) -> PartitionState {
    let Surroundings { random, records, cluster_time, give_up, .. } = surroundings;
    let numbers = || Numbers::new(options.node_id, random);
    PartitionState {
        number: options.number,
        give_up,
        demand: Arc::new(DemandRegistry::new(options.jobs.clone(), numbers())),
        late: LateAnswers::new(numbers()),
        leading: if cluster_time.is_some() { Leading::default() } else { Leading::alone() },
        due: Due::new(options.wall_clock.clone(), cluster_time),
        entered: Entered::new(numbers()),
        applied: AppliedState::of(engine),
        flush: FlushState::new(engine.tables().applied_index()),
        records: RecordState::new(records, engine.position()),
        counts: Counts::new(options.number),
        paused: AtomicBool::new(false),
        digests: Digests::new(options.number),
        wanted_hash: WantedHash::default(),
        outbox: OutboxSignals::new(options.partitions.count, options.max_outbox_messages),
    }
}
