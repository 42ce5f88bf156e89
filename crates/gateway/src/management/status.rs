//! The states that a running broker tells its operators of.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;

use protocol::{ClusterChange, PartitionId};
use serde_json::Value;

/// The brokers of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    pub cluster_id: String,
    /// How many changes were completed.
    pub version: u64,
    /// The last change that is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_change: Option<ChangeStatus>,
    /// The change that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_change: Option<ChangeStatus>,
    /// All that belong to it, by their numbers.
    pub brokers: Vec<MemberStatus>,
    /// Numbers of the brokers that vote, as the partition knows them.
    pub voters: Vec<u32>,
    /// Settings of other brokers that differ from those of this one.
    pub differences: Vec<DifferenceStatus>,
}

/// A setting that another broker has with another value.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DifferenceStatus {
    /// Number of the other broker.
    pub broker: u32,
    pub setting: String,
    /// Absent if this release has no such setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub here: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub there: Option<String>,
}

/// A change of the cluster. Its times are not known of one that another followed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeStatus {
    pub id: u64,
    /// `COMPLETED` or `IN_PROGRESS`.
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
}

impl ChangeStatus {
    /// The last change that is complete, and the one that goes on.
    pub fn of(change: Option<ClusterChange>) -> (Option<Self>, Option<Self>) {
        let time = |ms: i64| jiff::Timestamp::from_millisecond(ms).ok().map(|time| time.to_string());
        let Some(change) = change else { return (None, None) };
        let (id, started_at) = (change.id, time(change.started_ms));
        if let Some(ms) = change.completed_ms {
            return (Some(Self { id, status: "COMPLETED", started_at, completed_at: time(ms) }), None);
        }
        let before = change.last_completed();
        let before = before.map(|id| Self { id, status: "COMPLETED", started_at: None, completed_at: None });
        (before, Some(Self { id, status: "IN_PROGRESS", started_at, completed_at: None }))
    }
}

/// A change of the cluster that was begun, or would be.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedChange {
    pub change_id: u64,
    pub current_topology: Vec<MemberStatus>,
    pub planned_changes: Vec<PlannedOperation>,
    pub expected_topology: Vec<MemberStatus>,
}

/// A step of a change.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedOperation {
    pub operation: &'static str,
    pub broker_id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_id: Option<PartitionId>,
}

impl PlannedOperation {
    /// Steps of a purge, as tools know them: the partition is taken apart, its history goes, and it begins anew.
    pub fn of_purge(brokers: &[MemberStatus], partition: PartitionId) -> Vec<Self> {
        let partition = Some(partition);
        let step = |operation, broker: &MemberStatus, partition_id| Self {
            operation,
            broker_id: broker.id,
            partition_id,
        };
        let leaving = brokers.iter().map(|broker| step("PARTITION_LEAVE", broker, partition));
        let deleting = brokers.first().map(|broker| step("DELETE_HISTORY", broker, None));
        let beginning = brokers.first().map(|broker| step("PARTITION_BOOTSTRAP", broker, partition));
        let joining = brokers.iter().skip(1).map(|broker| step("PARTITION_JOIN", broker, partition));
        leaving.chain(deleting).chain(beginning).chain(joining).collect()
    }
}

/// A worker that asks for jobs: one stream, or one poll that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerStatus {
    pub job_type: String,
    /// The name that the worker gave itself.
    pub worker: String,
    pub is_stream: bool,
    /// Tenants whose jobs it takes, in order.
    pub tenant_ids: Vec<String>,
    /// Jobs that it has; unknown of polls.
    pub holds: u32,
    /// Jobs that it would take now.
    pub free_places: u32,
}

/// The disk of the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskStatus {
    pub free_bytes: u64,
    pub total_bytes: u64,
    /// With fewer free bytes, new work is refused.
    pub reserved_bytes: u64,
}

/// A broker that belongs to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MemberStatus {
    pub id: u32,
    /// `ACTIVE`: it belongs to the cluster, whether or not it runs.
    pub state: &'static str,
    /// Whether it has said within the last seconds how it is.
    pub reachable: bool,
    /// Why it cannot serve now, as it said itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub partitions: Vec<ReplicaStatus>,
}

/// A replica of a partition.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ReplicaStatus {
    pub id: PartitionId,
    pub state: &'static str,
    /// `LEADER` or `FOLLOWER`; absent if the broker is not reachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// `HEALTHY` or `UNHEALTHY`; absent if the broker is not reachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<&'static str>,
}

/// One part of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name, such as `partition-1` or `disk`.
    pub name: String,
    pub state: ComponentState,
    /// Reason of the state, for operators. May be empty.
    pub detail: String,
}

/// State of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentState {
    Healthy,
    /// The broker serves, but an operator should look at this part.
    Degraded,
    /// It does not serve now, but can recover by itself: the broker is not ready.
    Unhealthy,
    /// Only a restart helps: the broker is not alive.
    Dead,
}

/// The states of the replicas of a partition after one entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateComparison {
    /// Whether all replicas have told a hash, and all are the same.
    pub equal: bool,
    /// By the numbers of brokers.
    pub replicas: BTreeMap<u32, ReplicaState>,
}

/// The state of one replica.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaState {
    /// Index of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// Hash of all rows, sixteen hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Reason why there is no hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether it is not that of the majority: the replica is given up then.
    pub differs: bool,
}

/// Status of a partition.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartitionStatus {
    /// `LEADER` or `FOLLOWER`.
    pub role: &'static str,
    /// Position of the last record of what was applied.
    pub processed_position: u64,
    /// Index of the last log entry that the store on disk holds.
    pub snapshot_id: Option<String>,
    /// `PROCESSING`, `PAUSED`, `REPLAY`.
    pub stream_processor_phase: &'static str,
    /// [`Self::stream_processor_phase`] by broker of a cluster, `UNKNOWN` where one does not answer; absent for a
    /// broker that is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_processor_phases: Option<BTreeMap<u32, &'static str>>,
    /// `EXPORTING`, `PAUSED`, `SOFT_PAUSED`, `CLOSED`.
    pub exporter_phase: &'static str,
    /// All records up to this position are exported.
    pub exported_position: u64,
    /// `HEALTHY`, `UNHEALTHY`, `DEAD`.
    pub health: &'static str,
    /// The clock of the engine, Unix milliseconds.
    pub clock_ms: i64,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExporterStatus {
    pub exporter_id: String,
    /// `ENABLED`, `DISABLED` or `CONFIG_NOT_FOUND`.
    pub status: &'static str,
    /// All records up to this position are exported; absent for one that is not configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported_position: Option<u64>,
    /// Records that it has yet to export; none for one that is switched off.
    pub backlog_records: u64,
    /// Age of the oldest of them.
    pub backlog_seconds: f64,
    /// Records that its target refused and that were set aside.
    pub parked_records: u64,
    /// Reason why the exporter is stalled, while it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A record that the target of an exporter refused.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedRecord {
    pub reason: String,
    /// When it was set aside, Unix milliseconds.
    pub parked_at_ms: u64,
    /// The record, as it is exported.
    pub record: Value,
}

/// Result of retrying parked records.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Records that the target has now.
    pub replayed: u64,
    /// Records that stay parked.
    pub refused: u64,
    /// Reason why the first of them was refused.
    pub reason: Option<String>,
}

/// A process instance that the engine failed on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BannedInstance {
    pub process_instance_key: String,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: String,
    pub process_definition_id: String,
    pub process_definition_key: String,
    pub process_definition_version: u32,
    pub tenant_id: String,
    /// Failure of the engine on the instance.
    pub reason: String,
    /// Time of the ban, Unix milliseconds of the engine's clock.
    pub banned_at_ms: i64,
}
/// A backup of the state of a partition.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    #[serde(rename = "backupId")]
    pub id: u64,
    #[serde(skip)]
    pub partition_id: PartitionId,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    pub failure_reason: Option<String>,
    /// Unix milliseconds.
    pub created_at_ms: i64,
    /// Unix milliseconds.
    pub last_updated_at_ms: i64,
    pub broker_id: u32,
    pub broker_version: String,
    /// Everything up to this position is in it.
    pub checkpoint_position: u64,
    /// Log index that the copy is as of.
    pub snapshot_id: Option<u64>,
}

/// A backup of the embedded history.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryBackupStatus {
    #[serde(rename = "backupId")]
    pub id: u64,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    pub failure_reason: Option<String>,
    /// Unix milliseconds.
    pub started_at_ms: Option<i64>,
    /// Name of the file in the directory of the backup.
    pub snapshot_name: String,
}

/// A restore that a broker was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreStatus {
    pub change_id: String,
    /// `IN_PROGRESS`, `COMPLETED` or `FAILED`.
    pub state: &'static str,
    /// Unix milliseconds.
    pub started_at_ms: i64,
    /// Unix milliseconds.
    pub completed_at_ms: Option<i64>,
    pub backup_id: u64,
    pub partition_id: PartitionId,
    pub broker_id: u32,
}
