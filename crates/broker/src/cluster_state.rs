//! The other brokers as this one knows them, and the orders that hold on all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use cluster::{Links, ReplicaNumber};
use parking_lot::Mutex;

use crate::export_orders::ExportOrders;
use crate::hearing::{Hearing, Seen};
use crate::orders::PauseOrder;

/// The cluster, seen from one of its brokers.
pub(crate) struct ClusterState {
    pub links: Arc<Links>,
    /// This replica in its group.
    pub replica: ReplicaNumber,
    pub statuses: Mutex<BTreeMap<u32, Seen>>,
    pub hearing: Hearing,
    pub export_orders: ExportOrders,
    pub shown: ShownQuestion,
    /// Held while the members of the group are changed.
    pub changing_members: tokio::sync::Mutex<()>,
    /// The order to pause processing that is in force on this broker, and those on others.
    pub pause: Mutex<PauseOrder>,
    pub pauses: Mutex<BTreeMap<u32, PauseOrder>>,
}

impl ClusterState {
    /// Reads the orders that outlast a restart from a data directory.
    pub fn open(links: Arc<Links>, replica: ReplicaNumber, data_dir: &Path) -> std::io::Result<Arc<Self>> {
        let export = data_dir.join("export");
        std::fs::create_dir_all(&export)?;
        Ok(Arc::new(Self {
            links,
            replica,
            statuses: Mutex::default(),
            hearing: Hearing::default(),
            export_orders: ExportOrders::open(&export)?,
            shown: ShownQuestion::default(),
            changing_members: tokio::sync::Mutex::default(),
            pause: Mutex::default(),
            pauses: Mutex::default(),
        }))
    }
}

/// The question, on its way, how far the target of the leader's exporter shows records.
#[derive(Debug, Default)]
pub(crate) struct ShownQuestion {
    /// Position that a search on this broker waits for.
    pub wanted: AtomicU64,
    pub is_asked: AtomicBool,
}
