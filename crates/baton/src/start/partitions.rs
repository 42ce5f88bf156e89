//! The partitions of the broker, as the management port shows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use broker::{Health, Node, Partition, SlowBatch};
use export::Phase;
use gateway::management::{Component, ComponentState, PartitionStatus};
use protocol::PartitionId;

/// The name of a partition among the parts of the broker.
pub(super) fn name(number: PartitionId) -> String {
    format!("partition-{number}")
}

/// The phase of processing; of a broker that does not answer it is not known.
fn phase_of(paused: Option<bool>) -> &'static str {
    match paused {
        Some(true) => "PAUSED",
        Some(false) => "PROCESSING",
        None => "UNKNOWN",
    }
}

/// The partition stands still.
pub(super) fn dead(slow: &SlowBatch) -> Component {
    Component { name: name(slow.partition_id), state: ComponentState::Dead, detail: slow.describe() }
}

/// The partitions in their order, each with its health.
fn all(node: &Node) -> impl Iterator<Item = (PartitionId, Arc<Partition>, Health)> {
    let partitions = node.partitions().into_iter().zip(node.partition_health().into_values());
    partitions.map(|((number, partition), health)| (number, partition, health))
}

/// The health of each.
pub(super) fn components(node: &Node) -> Vec<Component> {
    let component = |(number, partition, health): (PartitionId, Arc<Partition>, Health)| match partition
        .slow_batch()
    {
        Some(slow) => dead(&slow),
        None => Component {
            name: name(number),
            state: if health.partition.is_ok() { ComponentState::Healthy } else { ComponentState::Unhealthy },
            detail: health.partition.err().unwrap_or_default(),
        },
    };
    all(node).map(component).collect()
}

/// The state of each.
pub(super) fn statuses(node: &Node) -> BTreeMap<PartitionId, PartitionStatus> {
    all(node).map(|(number, partition, health)| (number, status(node, &partition, &health))).collect()
}

fn status(node: &Node, partition: &Partition, health: &Health) -> PartitionStatus {
    let status = partition.status();
    let exporting = partition.exports().map(|exports| exports.status());
    PartitionStatus {
        role: if status.leader { "LEADER" } else { "FOLLOWER" },
        processed_position: status.position,
        snapshot_id: Some(status.durable_index.to_string()),
        stream_processor_phase: phase_of(Some(partition.is_processing_paused())),
        stream_processor_phases: node
            .paused_brokers()
            .map(|brokers| brokers.into_iter().map(|(broker, paused)| (broker, phase_of(paused))).collect()),
        exporter_phase: node.exporting_phase().map_or("CLOSED", Phase::as_str),
        exported_position: exporting.map_or(0, |status| status.acknowledged_position).min(status.position),
        health: match &health.partition {
            Ok(()) => "HEALTHY",
            Err(_) if partition.slow_batch().is_some() => "DEAD",
            Err(_) => "UNHEALTHY",
        },
        clock_ms: partition.clock_ms(),
    }
}
