//! Options of the connections to the other brokers.

use std::path::Path;
use std::sync::Arc;

use protocol::PartitionId;

use crate::agreement::SharedSettings;
use crate::snapshot_transfer::BYTES_PER_SECOND;

/// Connections to the other brokers of a cluster.
#[derive(Debug, Clone)]
pub struct PeerOptions {
    /// TLS with certificates of both sides.
    pub certificates: Option<transport::Certificates>,
    /// The secret of the cluster. With neither it nor certificates, connections are believed as they come.
    pub secret: Option<transport::PeerSecret>,
    /// Settings that must be equal on all brokers, as texts by their names. None of them is a secret.
    pub settings: Arc<SharedSettings>,
    /// Whether frames are compressed where the other side wants it, too.
    pub compresses: bool,
    /// Speed at which snapshots are sent to other brokers, one at a time.
    pub snapshot_bytes_per_second: u64,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self {
            certificates: None,
            secret: None,
            settings: Arc::default(),
            compresses: false,
            snapshot_bytes_per_second: BYTES_PER_SECOND,
        }
    }
}

/// A broker as it is configured.
#[derive(Debug, Clone, Copy)]
pub struct Configured<'a> {
    /// Directory of everything durable.
    pub data_dir: &'a Path,
    /// Name of the cluster.
    pub cluster_id: &'a str,
    /// Number of the broker.
    pub broker: u32,
    /// Number of partitions of the cluster.
    pub partitions: PartitionId,
    /// Connections to the others.
    pub peers: &'a PeerOptions,
}
