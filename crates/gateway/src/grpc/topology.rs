//! The topology.

use broker_api::{API_VERSION, BrokerInfo, PartitionInfo, Topology};
use grpc as pb;
use grpc::partition::{PartitionBrokerHealth, PartitionBrokerRole};

pub(super) fn message(topology: Topology) -> pb::TopologyResponse {
    pb::TopologyResponse {
        brokers: topology.brokers.into_iter().map(broker).collect(),
        cluster_size: topology.cluster_size as i32,
        partitions_count: topology.partitions_count as i32,
        replication_factor: topology.replication_factor as i32,
        gateway_version: API_VERSION.to_owned(),
    }
}

fn broker(broker: BrokerInfo) -> pb::BrokerInfo {
    pb::BrokerInfo {
        node_id: broker.node_id as i32,
        host: broker.host,
        port: i32::from(broker.port),
        partitions: broker.partitions.iter().map(partition).collect(),
        version: API_VERSION.to_owned(),
    }
}

fn partition(partition: &PartitionInfo) -> pb::Partition {
    let role = if partition.leader { PartitionBrokerRole::Leader } else { PartitionBrokerRole::Follower };
    let health =
        if partition.healthy { PartitionBrokerHealth::Healthy } else { PartitionBrokerHealth::Unhealthy };
    pb::Partition {
        partition_id: i32::from(partition.partition_id),
        role: role as i32,
        health: health as i32,
    }
}
