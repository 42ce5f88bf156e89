//! The management port's interface to a running broker.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use protocol::{Clock, Key, PartitionId};
use serde_json::Value;

use super::status::{
    BackupStatus, BannedInstance, ClusterStatus, Component, DiskStatus, ExporterStatus, HistoryBackupStatus,
    ParkedRecord, PartitionStatus, PlannedChange, Replayed, RestoreStatus, StateComparison, WorkerStatus,
};

/// Operations of a broker for its operators. Everything here answers at once or soon; nothing goes through the log
/// unless it says so.
pub trait Operations: Send + Sync + 'static {
    /// State of each part of the broker.
    fn health(&self) -> Vec<Component>;

    /// Limits and counts of flow control, one member per partition.
    fn flow_control(&self) -> Value;

    /// Changes limits until the next start. Members that are absent stay as they are. Answers as
    /// [`Operations::flow_control`].
    fn set_flow_control(&self, change: Value) -> Result<Value, OperationError>;

    /// Status of each partition.
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

    /// Retries the parked records of an exporter. Those that are taken are not parked any more.
    fn replay_parked(&self, exporter_id: String) -> BoxFuture<'_, Result<Replayed, OperationError>>;

    /// Pauses exporting. Records are kept. With `soft`, exporting goes on, but nothing counts as exported.
    fn pause_exporting(&self, soft: bool) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Pauses processing of commands and timers, on all brokers of a cluster, until the next start of all at the
    /// most. Earlier commands are done when this returns.
    fn pause_processing(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Resumes processing.
    fn resume_processing(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Has the history go on without the records that are missing for good, and takes what there is into it.
    fn begin_history(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// Writes the state of now to disk.
    fn write_state(&self) -> BoxFuture<'_, Result<(), OperationError>>;

    /// The brokers of the cluster, as this one sees them.
    fn cluster(&self) -> ClusterStatus;

    /// Workers that ask for jobs here. `None`: another broker hands jobs out.
    fn workers(&self) -> Option<Vec<WorkerStatus>>;

    /// The disk of the data directory, once it was looked at.
    fn disk(&self) -> Option<DiskStatus>;

    /// Hands all partitions to a broker, or each to the one that is to lead it; resolves with the leaders, by
    /// partition.
    fn hand_over(&self, to: Option<u32>)
    -> BoxFuture<'_, Result<BTreeMap<PartitionId, u32>, OperationError>>;

    /// Compares the states of all replicas, by partition.
    fn compare_states(&self)
    -> BoxFuture<'_, Result<BTreeMap<PartitionId, StateComparison>, OperationError>>;

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

    /// Removes all data, the history included; with `dry_run`, only tells how. Goes through the log, and goes on when
    /// this returns.
    fn purge(&self, dry_run: bool) -> BoxFuture<'_, Result<PlannedChange, OperationError>>;

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

/// Why an operation did not take place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// The request is invalid; the text names the member.
    #[error("{0}")]
    Invalid(String),
    /// This broker forbids the operation.
    #[error("{0}")]
    Forbidden(String),
    /// The subject does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The operation contradicts the state of the broker.
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

/// Holds the broker once it runs: the management port answers before that.
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
    /// Sets the broker, which runs.
    pub fn set(&self, operations: Arc<dyn Operations>) {
        *self.0.operations.write() = Some(operations);
        *self.0.failure.lock() = None;
    }

    /// Removes the broker, which does not run and is to start again.
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
