//! `GET /v2/topology`

use broker_api::{API_VERSION, BrokerInfo, PartitionInfo};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// Stands for a change where none was ever completed.
const NO_CHANGE_ID: &str = "-1";

/// The number of the last change of the cluster that is complete.
pub(super) fn last_completed_change_id(call: &Call<'_>) -> String {
    let change = call.gateway.broker.cluster_change();
    let id = change.and_then(|change| change.last_completed());
    id.map_or_else(|| NO_CHANGE_ID.to_owned(), |id| id.to_string())
}

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let topology = call.gateway.broker.topology();
    let mut out = Vec::with_capacity(512);
    object(&mut out)
        .list("brokers", &topology.brokers, write_broker)
        .with("clusterId", &topology.cluster_id)
        .with("clusterSize", topology.cluster_size)
        .with("partitionsCount", topology.partitions_count)
        .with("replicationFactor", topology.replication_factor)
        .with("gatewayVersion", API_VERSION)
        .with("lastCompletedChangeId", last_completed_change_id(call))
        .end();
    Ok(Reply::json(out))
}

fn write_broker(broker: &BrokerInfo, out: &mut Vec<u8>) {
    object(out)
        .with("nodeId", broker.node_id)
        .with("brokerId", broker.node_id.to_string())
        .with("host", &broker.host)
        .with("port", broker.port)
        .list("partitions", &broker.partitions, write_partition)
        .with("version", API_VERSION)
        .end();
}

fn write_partition(partition: &PartitionInfo, out: &mut Vec<u8>) {
    object(out)
        .with("partitionId", partition.partition_id)
        .with("role", role_of(partition))
        .with("state", "active")
        .with("health", health_of(partition))
        .end();
}

pub(super) const fn role_of(partition: &PartitionInfo) -> &'static str {
    if partition.leader { "leader" } else { "follower" }
}

pub(super) const fn health_of(partition: &PartitionInfo) -> &'static str {
    if partition.healthy { "healthy" } else { "unhealthy" }
}
