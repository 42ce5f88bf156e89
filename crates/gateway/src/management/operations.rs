//! The management port's interface to a running broker.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use protocol::{Clock, Key, PartitionId};
use serde_json::Value;

use super::backups::{BackupStatus, HistoryBackupStatus, RestoreStatus};

/// A broker as operators see it. Everything here answers at once or soon; nothing goes through the log unless it
/// says so.
pub trait Operations: Send + Sync + 'static {
    /// How the parts of the broker are.
    fn health(&self) -> Vec<Component>;

    /// Limits and counts of flow control, one member per partition.
    fn flow_control(&self) -> Value;

    /// Changes limits until the next start. Members that are absent stay as they are. Answers as
    /// [`Operations::flow_control`].
    fn set_flow_control(&self, change: Value) -> Result<Value, OperationError>;

    /// How far each partition is.
    fn partitions(&self) -> BTreeMap<PartitionId, PartitionStatus>;

    /// The exporters that are configured, and those that once were.
    fn exporters(&self) -> Vec<ExporterStatus>;

    /// Switches an exporter on or off; kept over restarts. One that is off holds no records back. One that is
    /// switched on begins with what comes from now on, or where another exporter is.
    fn switch_exporter(
        &self,
        id: String,
        enabled: bool,
        initialize_from: Option<String>,
    ) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Forgets an exporter that is not configured any more, with what is kept for it.
    fn remove_exporter(&self, id: String) -> BoxFuture<'_, Result<(), OperationError>>;

    /// The records of an exporter that its target refused, which were set aside.
    fn parked_records(&self, exporter_id: String)
    -> BoxFuture<'_, Result<Vec<ParkedRecord>, OperationError>>;

    /// Has an exporter try them again. Those that are taken are not parked any more.
    fn replay_parked(&self, exporter_id: String) -> BoxFuture<'_, Result<Replayed, OperationError>>;

    /// Stops exporting; records are kept. With `soft`, exporting goes on, but nothing counts as exported.
    fn pause_exporting(&self, soft: bool) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Stops taking commands and firing timers, on all brokers of a cluster, until the next start of all at the most.
    /// Earlier commands are done when this returns.
    fn pause_processing(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Goes on with it.
    fn resume_processing(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Writes the state of now to disk.
    fn write_state(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// The brokers of the cluster, as this one sees them.
    fn cluster(&self) -> ClusterStatus;

    /// Everybody who asks for jobs here. `None`: another broker hands jobs out.
    fn workers(&self) -> Option<Vec<WorkerStatus>>;

    /// The disk of the data directory, once it was looked at.
    fn disk(&self) -> Option<DiskStatus>;

    /// Hands the partition to a broker, or to any other; resolves with the one that leads then.
    fn hand_over(&self, to: Option<u32>) -> BoxFuture<'_, Result<u32, OperationError>>;

    /// Compares the states of all replicas of the partition; by broker the hash of its state, or why there is none.
    fn compare_states(&self) -> BoxFuture<'_, Result<StateComparison, OperationError>>;

    /// Process instances that the engine failed on, from the one after this key on, so many at the most.
    fn banned_instances(
        &self,
        after: Key,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<BannedInstance>, OperationError>>;

    /// Lets a banned process instance go on where it stood. Goes through the log.
    fn release_instance(&self, process_instance_key: Key) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Cancels the call hierarchy that a process instance belongs to. Goes through the log.
    fn cancel_instance(&self, process_instance_key: Key) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Time of the engine's clock, Unix milliseconds.
    fn clock_ms(&self) -> i64;

    /// Pins, moves or resets that clock, if it may be controlled. Goes through the log.
    fn set_clock(&self, clock: Clock) -> BoxFuture<'_, Result<(), OperationError>>;

    fn resume_exporting(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Begins a backup of the state, which is taken while the partition works, and gives its number: above all others
    /// if none is named.
    fn take_backup(&self, id: Option<u64>) -> BoxFuture<'_, Result<u64, OperationError>>;

    /// All backups of the state, the earliest first.
    fn backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>>;

    /// The backup of a number.
    fn backup(&self, id: u64) -> BoxFuture<'_, Result<BackupStatus, OperationError>> {
        Box::pin(async move {
            let all = self.backups().await?;
            all.into_iter().find(|backup| backup.id == id).ok_or_else(|| OperationError::no_backup(id))
        })
    }

    /// Deletes a backup; a number that there is none of is deleted already.
    fn delete_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Backups that can be restored, except those that are forgotten.
    fn held_backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>>;

    /// Forgets all that are there, or none of them; they stay.
    fn forget_backups(&self, forget: bool) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Begins a backup of the embedded history; gives the names of its files.
    fn take_history_backup(&self, id: u64) -> BoxFuture<'_, Result<Vec<String>, OperationError>>;

    /// All backups of the history, the earliest first.
    fn history_backups(&self) -> BoxFuture<'_, Result<Vec<HistoryBackupStatus>, OperationError>>;

    /// The backup of a number.
    fn history_backup(&self, id: u64) -> BoxFuture<'_, Result<HistoryBackupStatus, OperationError>> {
        Box::pin(async move {
            let all = self.history_backups().await?;
            all.into_iter().find(|backup| backup.id == id).ok_or_else(|| OperationError::no_backup(id))
        })
    }

    fn delete_history_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Ends this broker and starts it again with a backup in the place of its data. Processing must be paused and the
    /// broker alone. With `dry_run`, tells only whether that is possible. Gives the number of this broker.
    fn restore(
        &self,
        change_id: String,
        backup_id: u64,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<u32, OperationError>>;

    /// The latest restore that was begun in this way.
    fn restore_status(&self) -> Result<Option<RestoreStatus>, OperationError>;
}

/// The brokers of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    pub cluster_id: String,
    /// All that belong to it, by their numbers.
    pub brokers: Vec<MemberStatus>,
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
    /// Why, for people; may be empty.
    pub detail: String,
}

/// How a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentState {
    Healthy,
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
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether it is not that of the majority: the replica is given up then.
    pub differs: bool,
}

/// How far a partition is.
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
    /// The same on each broker of a cluster, `UNKNOWN` where one does not answer; absent for a broker that is alone.
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
    /// Why it does not get on, while it fails.
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
    /// Why the first of them does.
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
    /// How the engine failed.
    pub reason: String,
    /// When, Unix milliseconds of the engine's clock.
    pub banned_at_ms: i64,
}

/// Why an operation did not take place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// The request is invalid; the text names the member.
    #[error("{0}")]
    Invalid(String),
    /// The subject does not exist.
    #[error("{0}")]
    NotFound(String),
    /// It does not fit what is there.
    #[error("{0}")]
    Conflict(String),
    /// This broker cannot do it as it is configured, or now.
    #[error("{0}")]
    Unavailable(String),
    /// The broker failed at it.
    #[error("{0}")]
    Failed(String),
}

impl OperationError {
    fn no_backup(id: u64) -> Self {
        Self::NotFound(format!("there is no backup {id}"))
    }
}

/// Where the broker goes once it runs: the management port answers before that.
#[derive(Clone, Default)]
pub struct Slot(Arc<Contents>);

/// Looks at what goes on while the broker starts.
type Watch = Box<dyn Fn() -> Option<Component> + Send + Sync>;

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("runs", &self.0.operations.read().is_some()).finish()
    }
}

#[derive(Default)]
struct Contents {
    operations: RwLock<Option<Arc<dyn Operations>>>,
    watch: OnceLock<Watch>,
    /// Of a broker that is to start again.
    failure: Mutex<Option<Component>>,
}

impl Slot {
    /// The broker runs.
    pub fn set(&self, operations: Arc<dyn Operations>) {
        *self.0.operations.write() = Some(operations);
        *self.0.failure.lock() = None;
    }

    /// The broker does not run, and is to start again.
    pub fn clear(&self, failure: Component) {
        *self.0.failure.lock() = Some(failure);
        *self.0.operations.write() = None;
    }

    /// Reports that a broker which has yet to start is dead. Only the first report counts.
    pub fn watch(&self, watch: impl Fn() -> Option<Component> + Send + Sync + 'static) {
        drop(self.0.watch.set(Box::new(watch)));
    }

    /// The broker, if it runs.
    pub fn get(&self) -> Option<Arc<dyn Operations>> {
        self.0.operations.read().clone()
    }

    /// Failure of a broker that has yet to start.
    pub(super) fn ailing(&self) -> Option<Component> {
        self.0.watch.get().and_then(|watch| watch()).or_else(|| self.0.failure.lock().clone())
    }
}
