//! The broker as operators see it, as far as the REST API asks for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{BoxFuture, FutureExt as _, ready};
use parking_lot::Mutex;
use protocol::{Clock, Key, PartitionId};
use serde_json::{Value, json};

use crate::management::{
    BackupStatus, BannedInstance, ClusterStatus, Component, ComponentState, DiskStatus, ExporterStatus,
    HistoryBackupStatus, OperationError, Operations, ParkedRecord, PartitionStatus, PlannedChange, Replayed,
    RestoreStatus, Slot, StateComparison, WorkerStatus,
};

type Done<'a, T> = BoxFuture<'a, Result<T, OperationError>>;

/// A broker that remembers what it was told.
#[derive(Default)]
pub(super) struct FakeOperations {
    pub(super) told: Mutex<Vec<&'static str>>,
    /// Questions and orders.
    pub(super) asked: AtomicUsize,
    /// How everything is refused, if it is.
    pub(super) refusal: Option<OperationError>,
    pub(super) backups: Mutex<Vec<BackupStatus>>,
    pub(super) histories: Mutex<Vec<HistoryBackupStatus>>,
    pub(super) forgotten: Mutex<u64>,
    pub(super) exporter_phase: Mutex<Option<&'static str>>,
    pub(super) processing_phase: Mutex<Option<&'static str>>,
}

impl FakeOperations {
    /// The broker runs, and this is it.
    pub(super) fn slot(self: &Arc<Self>) -> Slot {
        let slot = Slot::default();
        slot.set(Arc::<Self>::clone(self));
        slot
    }

    /// A broker that has a backup of each kind.
    pub(super) fn with_backups() -> Self {
        let fake = Self::default();
        drop(fake.take_backup(Some(1)));
        drop(fake.take_history_backup(1));
        fake.asked.store(0, Ordering::SeqCst);
        fake
    }

    fn tell(&self, what: &'static str) -> Done<'_, ()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.told.lock().push(what);
        ready(self.refusal.clone().map_or(Ok(()), Err)).boxed()
    }
}

/// Asked at the management port alone.
fn elsewhere<T: Send + 'static>() -> Done<'static, T> {
    ready(Err(OperationError::Failed("not asked over REST".to_owned()))).boxed()
}

impl Operations for FakeOperations {
    fn health(&self) -> Vec<Component> {
        vec![Component { name: "disk".to_owned(), state: ComponentState::Healthy, detail: String::new() }]
    }

    fn flow_control(&self) -> Value {
        json!({ "1": { "limit": 3 } })
    }

    fn set_flow_control(&self, _: Value) -> Result<Value, OperationError> {
        Ok(Value::Null)
    }

    fn partitions(&self) -> BTreeMap<PartitionId, PartitionStatus> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let status = PartitionStatus {
            role: "LEADER",
            processed_position: 7,
            snapshot_id: None,
            stream_processor_phase: self.processing_phase.lock().unwrap_or("PROCESSING"),
            stream_processor_phases: None,
            exporter_phase: self.exporter_phase.lock().unwrap_or("EXPORTING"),
            exported_position: 6,
            health: "HEALTHY",
            clock_ms: 5,
        };
        BTreeMap::from([(1, status.clone()), (2, PartitionStatus { role: "FOLLOWER", ..status })])
    }

    fn exporters(&self) -> Vec<ExporterStatus> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        vec![ExporterStatus {
            exporter_id: "a".to_owned(),
            status: "ENABLED",
            exported_position: Some(6),
            backlog_records: 1,
            backlog_seconds: 0.5,
            parked_records: 1,
            failure: None,
        }]
    }

    fn switch_exporter(&self, _: String, _: bool, _: Option<String>) -> Done<'_, ()> {
        elsewhere()
    }

    fn remove_exporter(&self, _: String) -> Done<'_, ()> {
        elsewhere()
    }

    fn parked_records(&self, _: String) -> Done<'_, Vec<ParkedRecord>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let parked = ParkedRecord {
            reason: "too long".to_owned(),
            parked_at_ms: 1_000,
            record: json!({ "position": 7, "value": {} }),
        };
        ready(Ok(vec![parked])).boxed()
    }

    fn replay_parked(&self, _: String) -> Done<'_, Replayed> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        ready(Ok(Replayed { replayed: 1, refused: 0, reason: None })).boxed()
    }

    fn pause_exporting(&self, soft: bool) -> Done<'_, ()> {
        *self.exporter_phase.lock() = Some(if soft { "SOFT_PAUSED" } else { "PAUSED" });
        self.tell(if soft { "pause exporting softly" } else { "pause exporting" })
    }

    fn resume_exporting(&self) -> Done<'_, ()> {
        *self.exporter_phase.lock() = None;
        self.tell("resume exporting")
    }

    fn pause_processing(&self) -> Done<'_, ()> {
        *self.processing_phase.lock() = Some("PAUSED");
        self.tell("pause processing")
    }

    fn resume_processing(&self) -> Done<'_, ()> {
        *self.processing_phase.lock() = None;
        self.tell("resume processing")
    }

    fn begin_history(&self) -> Done<'_, ()> {
        elsewhere()
    }

    fn write_state(&self) -> Done<'_, ()> {
        elsewhere()
    }

    fn cluster(&self) -> ClusterStatus {
        let (last_change, pending_change) = (None, None);
        ClusterStatus {
            cluster_id: "c-1".to_owned(),
            version: 0,
            last_change,
            pending_change,
            brokers: Vec::new(),
            voters: vec![0],
            differences: Vec::new(),
        }
    }

    fn workers(&self) -> Option<Vec<WorkerStatus>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let worker = |name: &str, is_stream| WorkerStatus {
            job_type: "a".to_owned(),
            worker: name.to_owned(),
            is_stream,
            tenant_ids: vec!["a".to_owned()],
            holds: 1,
            free_places: 2,
        };
        Some(vec![worker("w", true), worker("w", true), worker("v", false)])
    }

    fn disk(&self) -> Option<DiskStatus> {
        Some(DiskStatus { free_bytes: 1, total_bytes: 3, reserved_bytes: 2 })
    }

    fn hand_over(&self, _: Option<u32>) -> Done<'_, BTreeMap<PartitionId, u32>> {
        elsewhere()
    }

    fn compare_states(&self) -> Done<'_, BTreeMap<PartitionId, StateComparison>> {
        elsewhere()
    }

    fn banned_instances(&self, after: Key, limit: usize) -> Done<'_, Vec<BannedInstance>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let banned = |key: Key| BannedInstance {
            process_instance_key: key.to_string(),
            root_process_instance_key: "1".to_owned(),
            process_definition_id: "a".to_owned(),
            process_definition_key: "2".to_owned(),
            process_definition_version: 1,
            tenant_id: "a".to_owned(),
            reason: "a bug".to_owned(),
            banned_at_ms: 1_000,
        };
        ready(Ok((after + 1..).take(limit.min(3)).map(banned).collect())).boxed()
    }

    fn release_instance(&self, _: Key) -> Done<'_, ()> {
        self.tell("release")
    }

    fn cancel_instance(&self, _: Key) -> Done<'_, ()> {
        self.tell("cancel")
    }

    fn clock_ms(&self) -> i64 {
        0
    }

    fn purge(&self, _: bool) -> Done<'_, PlannedChange> {
        elsewhere()
    }

    fn set_clock(&self, _: Clock) -> Done<'_, ()> {
        elsewhere()
    }

    fn take_backup(&self, id: Option<u64>) -> Done<'_, u64> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(refusal) = self.refusal.clone() {
            return ready(Err(refusal)).boxed();
        }
        let mut backups = self.backups.lock();
        let latest = backups.last().map_or(0, |backup| backup.id);
        let id = id.unwrap_or(latest + 1);
        if id <= latest {
            return ready(Err(OperationError::Conflict(format!("not above {latest}")))).boxed();
        }
        backups.push(BackupStatus {
            id,
            partition_id: 1,
            state: if id == 13 { "FAILED" } else { "COMPLETED" },
            failure_reason: (id == 13).then(|| "no room".to_owned()),
            created_at_ms: 1_000,
            last_updated_at_ms: 2_000,
            broker_id: 2,
            broker_version: "1.2.3".to_owned(),
            checkpoint_position: 40 + id,
            snapshot_id: (id != 13).then_some(9),
        });
        ready(Ok(id)).boxed()
    }

    fn backups(&self) -> Done<'_, Vec<BackupStatus>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        ready(self.refusal.clone().map_or_else(|| Ok(self.backups.lock().clone()), Err)).boxed()
    }

    fn delete_backup(&self, id: u64) -> Done<'_, ()> {
        self.backups.lock().retain(|backup| backup.id != id);
        self.tell("delete a backup")
    }

    fn held_backups(&self) -> Done<'_, Vec<BackupStatus>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(refusal) = self.refusal.clone() {
            return ready(Err(refusal)).boxed();
        }
        let mut held = self.backups.lock().clone();
        held.retain(|backup| backup.state == "COMPLETED" && backup.id > *self.forgotten.lock());
        ready(Ok(held)).boxed()
    }

    fn forget_backups(&self, forget: bool) -> Done<'_, ()> {
        *self.forgotten.lock() = if forget { u64::MAX } else { 0 };
        self.tell("forget backups")
    }

    fn take_history_backup(&self, id: u64) -> Done<'_, Vec<String>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(refusal) = self.refusal.clone() {
            return ready(Err(refusal)).boxed();
        }
        let mut histories = self.histories.lock();
        if histories.iter().any(|backup| backup.id == id) {
            return ready(Err(OperationError::Conflict("it is there".to_owned()))).boxed();
        }
        histories.push(HistoryBackupStatus {
            id,
            state: "COMPLETED",
            failure_reason: None,
            started_at_ms: Some(3_000),
            snapshot_name: "history.sqlite".to_owned(),
        });
        ready(Ok(vec!["history.sqlite".to_owned()])).boxed()
    }

    fn history_backups(&self) -> Done<'_, Vec<HistoryBackupStatus>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        ready(self.refusal.clone().map_or_else(|| Ok(self.histories.lock().clone()), Err)).boxed()
    }

    fn restore(&self, _: String, _: u64, dry_run: bool) -> Done<'_, u32> {
        if !dry_run {
            drop(self.tell("restore"));
        }
        ready(self.refusal.clone().map_or(Ok(2), Err)).boxed()
    }

    fn restore_status(&self) -> Result<Option<RestoreStatus>, OperationError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let is_known = !self.backups.lock().is_empty();
        Ok(is_known.then(|| RestoreStatus {
            change_id: "9".to_owned(),
            state: "COMPLETED",
            started_at_ms: 1_000,
            completed_at_ms: Some(2_000),
            backup_id: 3,
            partition_id: 1,
            broker_id: 2,
        }))
    }

    fn delete_history_backup(&self, id: u64) -> Done<'_, ()> {
        let before = self.histories.lock().len();
        self.histories.lock().retain(|backup| backup.id != id);
        if self.histories.lock().len() == before && self.refusal.is_none() {
            return ready(Err(OperationError::NotFound(format!("there is no backup {id}")))).boxed();
        }
        self.tell("delete a history backup")
    }
}
