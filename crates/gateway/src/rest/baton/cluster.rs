//! `/baton/v1/cluster` and `/baton/v1/exporters`: how brokers, partitions, exporters and the disk are, for those who
//! may look after the system.

use crate::management::{ComponentState, MemberStatus, ParkedRecord};
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::{Moment, object};

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let broker = call.operations()?;
    let cluster = broker.cluster();
    let flow_control = broker.flow_control();
    let mut out = Vec::with_capacity(2048);
    object(&mut out)
        .with("clusterId", &cluster.cluster_id)
        .with("version", env!("CARGO_PKG_VERSION"))
        .list("brokers", &cluster.brokers, write_broker)
        .with("voters", &cluster.voters)
        .list("differences", &cluster.differences, |difference, out| {
            object(out)
                .with("broker", difference.broker)
                .with("setting", &difference.setting)
                .with("here", &difference.here)
                .with("there", &difference.there)
                .end();
        })
        .list("partitions", broker.partitions(), |(id, status), out| {
            object(out)
                .with("id", id)
                .with("role", status.role)
                .with("processedPosition", status.processed_position)
                .with("exportedPosition", status.exported_position)
                .with("snapshotIndex", status.snapshot_id)
                .with("processing", status.stream_processor_phase)
                .with("exporting", status.exporter_phase)
                .with("health", status.health)
                .with("clock", Moment(status.clock_ms))
                .end();
        })
        .list("exporters", broker.exporters(), |exporter, out| {
            object(out)
                .with("exporterId", exporter.exporter_id)
                .with("status", exporter.status)
                .with("exportedPosition", exporter.exported_position)
                .with("backlogRecords", exporter.backlog_records)
                .with("backlogSeconds", exporter.backlog_seconds)
                .with("parkedRecords", exporter.parked_records)
                .with("failure", exporter.failure)
                .end();
        })
        .list("health", broker.health(), |component, out| {
            let state = match component.state {
                ComponentState::Healthy => "HEALTHY",
                ComponentState::Degraded => "DEGRADED",
                ComponentState::Unhealthy => "UNHEALTHY",
                ComponentState::Dead => "DEAD",
            };
            object(out)
                .with("name", component.name)
                .with("state", state)
                .with("detail", component.detail)
                .end();
        })
        .with("disk", broker.disk())
        .with("flowControl", if flow_control.is_object() { flow_control } else { serde_json::json!({}) })
        .end();
    Ok(Reply::json(out))
}

fn write_broker(broker: &MemberStatus, out: &mut Vec<u8>) {
    object(out)
        .with("id", broker.id)
        .with("state", broker.state)
        .with("isReachable", broker.reachable)
        .with("reason", broker.reason.as_deref())
        .list("partitions", &broker.partitions, |replica, out| {
            object(out)
                .with("id", replica.id)
                .with("state", replica.state)
                .with("role", replica.role)
                .with("health", replica.health)
                .end();
        })
        .end();
}

/// Records that the target of an exporter refused.
pub(super) async fn parked(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut items = call.operations()?.parked_records(call.parameter().to_owned()).await?;
    if let Some(sight) = ReadAuthorization::of(call).await? {
        // Records without a tenant are about what is the same for all.
        let tenant = |parked: &ParkedRecord| parked.record.pointer("/value/tenantId").cloned();
        items.retain(|parked| {
            tenant(parked)
                .is_none_or(|tenant| tenant.as_str().is_none_or(|tenant| sight.is_of_tenant(tenant)))
        });
    }
    let mut out = Vec::with_capacity(512);
    object(&mut out)
        .list("items", items, |parked, out| {
            let position = parked.record.get("position").and_then(serde_json::Value::as_u64);
            object(out)
                .with("reason", parked.reason)
                .with("parkedAt", Moment(parked.parked_at_ms.cast_signed()))
                .with("position", position)
                .with("record", parked.record)
                .end();
        })
        .end();
    Ok(Reply::json(out))
}

/// Has the exporter try them again.
pub(super) async fn replay(call: &Call<'_>) -> Result<Reply, Failure> {
    let replayed = call.operations()?.replay_parked(call.parameter().to_owned()).await?;
    let mut out = Vec::with_capacity(64);
    object(&mut out)
        .with("replayed", replayed.replayed)
        .with("refused", replayed.refused)
        .with("reason", replayed.reason)
        .end();
    Ok(Reply::json(out))
}
