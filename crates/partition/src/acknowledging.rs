//! Positions of exporters in the state: the leader replicates them, and a follower takes them over.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use export::Hub;
use protocol::{Command, Name};
use state::StateError;
use tokio_util::sync::CancellationToken;

use crate::local_positions::ACKNOWLEDGE_INTERVAL;
use crate::partition::Partition;

/// The position up to which an exporter has acknowledged, as the state has it.
fn acknowledged(partition: &Partition, exporter: &str) -> Result<u64, StateError> {
    let engine = partition.engine.lock();
    Ok(engine.tables().exporters.get(&Arc::from(exporter))?.map_or(0, |position| *position))
}

/// Takes over the positions of the state.
fn take_over(partition: &Partition, exports: &Hub) {
    for exporter in exports.status().exporters.into_iter().filter(|exporter| exporter.is_shared) {
        match acknowledged(partition, &exporter.id) {
            Ok(position) => {
                exports.acknowledged_elsewhere(&exporter.id, position);
                partition.options.export.shown(partition.number(), position);
            }
            Err(error) => tracing::error!(%error, exporter = exporter.id, "its position cannot be read"),
        }
    }
}

/// Begins exporters with a target of all brokers when this broker becomes the leader, and ends them when it ceases to
/// be.
pub(crate) fn lead(partition: &Partition, leads: bool) {
    let Some(exports) = partition.exports() else { return };
    if leads {
        take_over(partition, exports);
    }
    exports.lead(leads);
}

/// Replicates positions of exporters while this broker leads, and follows them while it does not, until shutdown. In
/// a cluster, exporters with targets of their own are left out. Does not keep the partition alive.
pub(crate) async fn acknowledge(partition: Weak<Partition>, exports: Arc<Hub>, shutdown: CancellationToken) {
    let mut known: HashMap<String, u64> = HashMap::new();
    let mut ticks = tokio::time::interval(ACKNOWLEDGE_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        let Some(partition) = partition.upgrade() else { return };
        let is_alone = partition.router.is_none();
        if !partition.leads() {
            take_over(&partition, &exports);
            known.clear();
            continue;
        }
        for exporter in exports.status().exporters.into_iter().filter(|one| is_alone || one.is_shared) {
            let (id, position) = (exporter.id, exporter.acknowledged_position);
            if position <= known.get(&id).copied().unwrap_or(0) {
                continue;
            }
            let command = Command::AcknowledgeExport { exporter: Name::from(id.as_str()), position };
            // A failure only means that more is exported again after a restart; the next round tries again.
            if partition.run_own(command).await.is_ok() {
                known.insert(id, position);
            }
        }
    }
}
