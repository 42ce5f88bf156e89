//! `GET /v2/topology`

use broker_api::{API_VERSION, BrokerInfo, PartitionInfo};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_list, write_text};

/// The topology does not change in this release, so no change was ever completed.
const NO_CHANGE_ID: &str = "-1";

#[expect(clippy::unused_async, reason = "all handlers have one shape")]
pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let topology = call.gateway.broker.topology();
    let mut out = Vec::with_capacity(512);
    out.push(b'{');
    member("brokers", &mut out);
    write_list(&topology.brokers, &mut out, write_broker);
    member("clusterId", &mut out);
    write_text(&topology.cluster_id, &mut out);
    member("clusterSize", &mut out);
    write_integer(topology.cluster_size, &mut out);
    member("partitionsCount", &mut out);
    write_integer(topology.partitions_count, &mut out);
    member("replicationFactor", &mut out);
    write_integer(topology.replication_factor, &mut out);
    member("gatewayVersion", &mut out);
    write_text(API_VERSION, &mut out);
    member("lastCompletedChangeId", &mut out);
    write_text(NO_CHANGE_ID, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}

fn write_broker(broker: &BrokerInfo, out: &mut Vec<u8>) {
    out.push(b'{');
    member("nodeId", out);
    write_integer(broker.node_id, out);
    member("host", out);
    write_text(&broker.host, out);
    member("port", out);
    write_integer(broker.port, out);
    member("partitions", out);
    write_list(&broker.partitions, out, write_partition);
    member("version", out);
    write_text(API_VERSION, out);
    out.push(b'}');
}

fn write_partition(partition: &PartitionInfo, out: &mut Vec<u8>) {
    out.push(b'{');
    member("partitionId", out);
    write_integer(partition.partition_id, out);
    member("role", out);
    write_text(if partition.leader { "leader" } else { "follower" }, out);
    member("health", out);
    write_text(if partition.healthy { "healthy" } else { "unhealthy" }, out);
    out.push(b'}');
}
