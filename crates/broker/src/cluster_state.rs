//! The other brokers as this one knows them, and the orders that hold on all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use cluster::{Links, ReplicaNumber};
use parking_lot::Mutex;
use protocol::PartitionId;

use crate::export_orders::ExportOrders;
use crate::hearing::{Hearing, Seen};
use crate::orders::PauseOrder;
use crate::returning::Returning;

/// The cluster, seen from one of its brokers.
pub(crate) struct ClusterState {
    pub links: Arc<Links>,
    /// This replica in its groups.
    pub replica: ReplicaNumber,
    pub statuses: Mutex<BTreeMap<u32, Seen>>,
    parts: BTreeMap<PartitionId, PartitionPart>,
    pub export_orders: ExportOrders,
    /// The order to pause processing that is in force on this broker, and those on others.
    pub pause: Mutex<PauseOrder>,
    pub pauses: Mutex<BTreeMap<u32, PauseOrder>>,
}

impl ClusterState {
    /// Reads the orders that outlast a restart from a data directory.
    pub fn open(
        links: Arc<Links>,
        replica: ReplicaNumber,
        data_dir: &Path,
        partitions: impl Iterator<Item = PartitionId>,
    ) -> std::io::Result<Arc<Self>> {
        let export = data_dir.join("export");
        std::fs::create_dir_all(&export)?;
        Ok(Arc::new(Self {
            links,
            replica,
            statuses: Mutex::default(),
            parts: partitions.map(|number| (number, PartitionPart::default())).collect(),
            export_orders: ExportOrders::open(&export)?,
            pause: Mutex::default(),
            pauses: Mutex::default(),
        }))
    }

    /// The facts of a partition, which this broker must have a replica of.
    pub fn part(&self, partition: PartitionId) -> &PartitionPart {
        self.parts.get(&partition).expect("each partition has its part from the start on")
    }
}

/// The facts about the other brokers that concern one partition.
#[derive(Default)]
pub(crate) struct PartitionPart {
    pub hearing: Hearing,
    pub shown: ShownQuestion,
    pub returning: Returning,
    /// Held while the members of the group are changed.
    pub changing_members: tokio::sync::Mutex<()>,
}

/// The question, on its way, how far the target of the leader's exporter shows records.
#[derive(Debug, Default)]
pub(crate) struct ShownQuestion {
    /// Position that a search on this broker waits for.
    pub wanted: AtomicU64,
    pub is_asked: AtomicBool,
}
