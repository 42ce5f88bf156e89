//! `/cluster/v2/status`, `/cluster/v2/topology` and `/v2/mode`.

use std::collections::BTreeMap;

use broker_api::{API_VERSION, BrokerInfo, PartitionInfo, Topology};
use http::StatusCode;
use protocol::PartitionId;

use super::super::Call;
use super::super::get_topology::{health_of, last_completed_change_id, role_of};
use super::{PHYSICAL_TENANT, new_change_id, planned};
use crate::management::PartitionStatus;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// `GET /cluster/v2/status`: 503 if it is down, with the same body.
pub(crate) async fn status(call: &Call<'_>) -> Result<Reply, Failure> {
    let status = status_of(&call.gateway.broker.topology());
    let mut out = Vec::with_capacity(32);
    object(&mut out).with("status", status).end();
    let code = if status == "DOWN" { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Ok(Reply { status: code, ..Reply::json(out) })
}

/// `DOWN`: no partition has a leader that works. `HEALTHY`: all have, and all replicas are there and work.
fn status_of(topology: &Topology) -> &'static str {
    let replicas = || topology.brokers.iter().flat_map(|broker| &broker.partitions);
    let has_leader = |partition| {
        replicas().any(|replica| replica.partition_id == partition && replica.leader && replica.healthy)
    };
    let led = (1..=topology.partitions_count).filter(|id| has_leader(*id as u16)).count();
    let wanted = topology.partitions_count as usize;
    let working = replicas().filter(|replica| replica.healthy).count();
    match led {
        0 => "DOWN",
        _ if led == wanted && working == wanted * topology.replication_factor as usize => "HEALTHY",
        _ => "DEGRADED",
    }
}

/// `GET /cluster/v2/topology`
pub(crate) async fn topology(call: &Call<'_>) -> Result<Reply, Failure> {
    let topology = call.gateway.broker.topology();
    let phases = phases(call, &topology);
    let change_id = last_completed_change_id(call);
    let mut out = Vec::with_capacity(1024);
    object(&mut out)
        .list("brokers", &topology.brokers, |broker, out| {
            object(out)
                .with("brokerId", broker.node_id.to_string())
                .with("host", &broker.host)
                .with("port", broker.port)
                .with("version", API_VERSION)
                .end();
        })
        .with("clusterId", &topology.cluster_id)
        .with("clusterSize", topology.cluster_size)
        .with("gatewayVersion", API_VERSION)
        .list("physicalTenants", [PHYSICAL_TENANT], |id, out| {
            object(out)
                .with("physicalTenantId", id)
                .with("partitionsCount", topology.partitions_count)
                .with("replicationFactor", topology.replication_factor)
                .with("lastCompletedChangeId", &change_id)
                .list("brokers", &topology.brokers, |broker: &BrokerInfo, out| {
                    object(out)
                        .with("brokerId", broker.node_id.to_string())
                        .list("partitions", &broker.partitions, |partition: &PartitionInfo, out| {
                            let phase = phases.get(&(partition.partition_id, broker.node_id));
                            object(out)
                                .with("partitionId", partition.partition_id)
                                .with("role", role_of(partition))
                                .with("health", health_of(partition))
                                .with("state", state_of(phase))
                                .end();
                        })
                        .end();
                })
                .end();
        })
        .end();
    Ok(Reply::json(out))
}

/// Phases of processing by partition and broker, as far as this broker knows them.
fn phases(call: &Call<'_>, topology: &Topology) -> BTreeMap<(PartitionId, u32), &'static str> {
    let Ok(operations) = call.operations() else { return BTreeMap::new() };
    let own = topology.brokers.first().map(|broker| broker.node_id);
    let of_partition = |(number, partition): (PartitionId, PartitionStatus)| {
        let own = own.map(|broker| (broker, partition.stream_processor_phase));
        let all = own.into_iter().chain(partition.stream_processor_phases.into_iter().flatten());
        all.map(move |(broker, phase)| ((number, broker), phase))
    };
    operations.partitions().into_iter().flat_map(of_partition).collect()
}

/// The state of a replica, by the phase of its broker.
fn state_of(phase: Option<&&'static str>) -> &'static str {
    match phase {
        Some(&"PAUSED") => "recovering",
        Some(&"UNKNOWN") | None => "unknown",
        Some(_) => "active",
    }
}

/// `PATCH /v2/mode`: `RECOVERING` stops the processing of commands and timers on all brokers, until `PROCESSING` or the
/// next start of all of them.
pub(crate) async fn change_mode(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let mode = call.query_parameter("mode")?.expect("the contract requires it");
    if !call.is_set("dryRun")? {
        let operations = call.operations()?;
        match &*mode {
            "RECOVERING" => operations.pause_processing().await?,
            "PROCESSING" => operations.resume_processing().await?,
            other => return Err(Failure::invalid(format!("mode: is no mode: {other}"))),
        }
    }
    // It is complete with the answer, so nobody asks for it later.
    Ok(Reply::json(planned(&new_change_id(), [&mode], |mode, out| {
        object(out).with("operation", "ModeChangeOperation").with("mode", mode).end();
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_as_well_as_its_replicas() {
        let broker = |node_id, leader, healthy| BrokerInfo {
            node_id,
            host: "h".into(),
            port: 1,
            partitions: vec![PartitionInfo { partition_id: 1, leader, healthy }],
        };
        let topology = |brokers| Topology {
            cluster_id: "c".into(),
            brokers,
            cluster_size: 3,
            partitions_count: 1,
            replication_factor: 3,
        };
        let others = [broker(1, false, true), broker(2, false, true)];
        let of = |brokers: &[BrokerInfo]| status_of(&topology(brokers.to_vec()));
        assert_eq!(of(&[&[broker(0, true, true)], &others[..]].concat()), "HEALTHY");
        assert_eq!(of(&[&[broker(0, true, true)], &others[..1]].concat()), "DEGRADED");
        let ill = [broker(0, true, true), broker(1, false, false), broker(2, false, true)];
        assert_eq!(of(&ill), "DEGRADED");
        assert_eq!(of(&[&[broker(0, true, false)], &others[..]].concat()), "DOWN");
        assert_eq!(of(&others), "DOWN");
        assert_eq!(of(&[]), "DOWN");
    }
}
