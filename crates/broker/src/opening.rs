//! The first steps of a start: the list of brokers, the owner of the data directory, the state of its partition.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cluster::{BootstrapError, Identity, IdentityError, JoinError, give_up};
use engine::Engine;
use partition::set_aside::SetAsideError;
use partition::{OpenError, open_engine};
use replication::LogError;
use state::StateError;
use transport::Network;

use crate::members::MembersError;
use crate::options::Options;

/// Why a broker could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error("data directory '{path}': {source}")]
    DataDir { path: PathBuf, source: std::io::Error },
    /// The data directory belongs to another broker.
    #[error("data directory: {0}")]
    Identity(#[from] IdentityError),
    /// State cannot be opened.
    #[error("state: {0}")]
    State(#[from] StateError),
    /// The log cannot be opened.
    #[error("log: {0}")]
    Log(#[from] LogError),
    /// The partition cannot be started.
    #[error("partition: {0}")]
    Partition(#[from] replication::StartError),
    /// The batches that operators have set aside cannot be read.
    #[error("batches set aside: {0}")]
    SetAside(#[from] SetAsideError),
    #[error("export: {0}")]
    Export(#[from] export::HubError),
    /// The data of this replica are damaged, and the other replicas have them.
    #[error(
        "{0}; at its next start the broker sets these files aside and is brought up by the others, if a majority of the \
         cluster is there"
    )]
    Damaged(Box<StartError>),
    /// The cluster of the broker was not found.
    #[error("cluster: {0}")]
    Join(#[from] JoinError),
    /// The broker cannot take part in its cluster.
    #[error("cluster: {0}")]
    Bootstrap(#[from] BootstrapError),
    /// The list of brokers is not that of the cluster.
    #[error("cluster: {0}")]
    Members(#[from] MembersError),
    /// A thread cannot be started.
    #[error("thread: {0}")]
    Thread(#[from] std::io::Error),
}

impl From<OpenError> for StartError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::DataDir { path, source } => Self::DataDir { path, source },
            OpenError::State(error) => Self::State(error),
            OpenError::Log(error) => Self::Log(error),
            OpenError::Group(error) => Self::Partition(error),
            OpenError::SetAside(error) => Self::SetAside(error),
            OpenError::Thread(error) => Self::Thread(error),
        }
    }
}

impl StartError {
    /// Whether another process has the data directory open.
    pub fn is_in_use(&self) -> bool {
        match self {
            Self::State(error) => matches!(error, StateError::AlreadyOpen { .. }),
            Self::Log(error) | Self::Partition(replication::StartError::Log(error)) => error.is_in_use(),
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

    /// Returns the error; the data of a replica are given up first if they are damaged.
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

/// Asks seeds, `host:port`, for the peer addresses of the brokers of their cluster, until one answers.
pub async fn find_brokers(
    options: &Options,
    seeds: &[String],
    network: Arc<dyn Network>,
) -> Result<BTreeMap<u32, String>, StartError> {
    let found = cluster::find_brokers(&options.in_cluster(), seeds, network).await;
    found.map_err(|error| match error {
        JoinError::Identity(error) => StartError::Identity(error),
        other => StartError::Join(other),
    })
}

/// Opens a data directory: its owner, in a new life, and the states of its partitions, in their order.
pub(crate) async fn open(options: &Options) -> Result<(Identity, Vec<Engine>), StartError> {
    let own = options.in_cluster();
    let identity = Identity::next(own.data_dir, own.cluster_id, own.broker)?;
    let identity = identity.of_partitions(own.data_dir, options.partitions_count())?;
    let mut engines = Vec::new();
    for partition in options.partitions() {
        engines.push(open_engine(partition).await?);
    }
    // The states are locked now: no other process is at its start.
    identity.begin(own.data_dir)?;
    Ok((identity, engines))
}
