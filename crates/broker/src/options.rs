//! Options of a broker. Their documented defaults are printed by the binary.

#![expect(missing_docs, reason = "names say what is held")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cluster::{Configured, PeerOptions};
use partition::{DiskOptions, PartitionOptions};

use crate::store_queries::StoreQueries;

/// Options of a broker.
#[derive(Debug, Clone)]
pub struct Options {
    pub cluster_id: String,
    /// Host name for clients, shown in the topology.
    pub advertised_host: String,
    /// gRPC port for clients, shown in the topology.
    pub advertised_port: u16,
    /// Time that a stand-alone expression may take.
    pub expression_timeout: Duration,
    /// Stand-alone expressions evaluated at once. Further ones wait within that time.
    pub max_evaluations_at_once: usize,
    pub disk: DiskOptions,
    /// Directory of backups, if there is one.
    pub backups: Option<PathBuf>,
    /// The embedded store of a cluster, which some brokers have copies of.
    pub store: Option<Arc<StoreQueries>>,
    /// Whether partitions go back to the brokers that are to lead them by their places.
    pub balances_leaders: bool,
    /// Connections to the other brokers of a cluster.
    pub peers: PeerOptions,
    /// Options of the first partition, with the data directory.
    pub partition: PartitionOptions,
    /// Options of the partitions after it, in the order of their numbers.
    pub further: Vec<PartitionOptions>,
}

impl Options {
    /// Defaults for a data directory.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            cluster_id: "baton".to_owned(),
            advertised_host: "127.0.0.1".to_owned(),
            advertised_port: 26500,
            expression_timeout: Duration::from_secs(5),
            max_evaluations_at_once: 2,
            disk: DiskOptions::default(),
            backups: None,
            store: None,
            balances_leaders: true,
            peers: PeerOptions::default(),
            partition: PartitionOptions::new(data_dir),
            further: Vec::new(),
        }
    }

    /// The broker as configured in its cluster.
    pub(crate) fn in_cluster(&self) -> Configured<'_> {
        Configured {
            data_dir: &self.partition.data_dir,
            cluster_id: &self.cluster_id,
            broker: self.partition.node_id,
            partitions: self.partitions_count(),
            peers: &self.peers,
        }
    }
}
