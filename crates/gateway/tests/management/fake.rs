//! A broker that answers as it is told, and remembers what it was told.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};
use gateway::management::{
    BackupStatus, BannedInstance, ChangeStatus, ClusterStatus, Component, ComponentState, DifferenceStatus,
    DiskStatus, ExporterStatus, HistoryBackupStatus, MemberStatus, OperationError, Operations, ParkedRecord,
    PartitionStatus, PlannedChange, PlannedOperation, Replayed, ReplicaStatus, RestoreStatus,
    StateComparison, WorkerStatus,
};
use parking_lot::Mutex;
use protocol::{Clock, ClusterChange, PartitionId};
use serde_json::{Value, json};

use super::{backups, partitions};

pub struct FakeBroker {
    pub state: Mutex<ComponentState>,
    pub limit: Mutex<Value>,
    pub pauses: Mutex<Vec<&'static str>>,
    pub clock_ms: Mutex<i64>,
}

impl FakeBroker {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(ComponentState::Healthy),
            limit: Mutex::new(json!(100)),
            pauses: Mutex::default(),
            clock_ms: Mutex::new(5),
        })
    }

    fn done(&self, what: &'static str) -> BoxFuture<'_, Result<(), OperationError>> {
        self.pauses.lock().push(what);
        ready(Ok(())).boxed()
    }
}

impl Operations for FakeBroker {
    fn health(&self) -> Vec<Component> {
        let state = *self.state.lock();
        vec![Component { name: "partition-1".to_owned(), state, detail: "as told".to_owned() }]
    }

    fn flow_control(&self) -> Value {
        json!({ "1": { "limit": *self.limit.lock() } })
    }

    fn set_flow_control(&self, change: Value) -> Result<Value, OperationError> {
        match change.get("limit") {
            Some(limit) => *self.limit.lock() = limit.clone(),
            None => return Err(OperationError::Invalid("Expected a 'limit'".to_owned())),
        }
        Ok(self.flow_control())
    }

    fn partitions(&self) -> BTreeMap<u16, PartitionStatus> {
        let status = PartitionStatus {
            role: "LEADER",
            processed_position: 7,
            snapshot_id: None,
            stream_processor_phase: "PROCESSING",
            stream_processor_phases: None,
            exporter_phase: "EXPORTING",
            exported_position: 6,
            health: "HEALTHY",
            clock_ms: 5,
        };
        BTreeMap::from([(1, status)])
    }

    fn exporters(&self) -> Vec<ExporterStatus> {
        vec![ExporterStatus {
            exporter_id: "ndjson".to_owned(),
            status: "ENABLED",
            exported_position: Some(6),
            backlog_records: 3,
            backlog_seconds: 0.25,
            parked_records: 1,
            failure: None,
        }]
    }

    fn switch_exporter(
        &self,
        id: String,
        enabled: bool,
        initialize_from: Option<String>,
    ) -> BoxFuture<'_, Result<(), OperationError>> {
        let result = match (&*id, enabled, initialize_from.as_deref()) {
            ("ndjson", true, None | Some("other")) | ("ndjson", false, None) => Ok(()),
            _ => Err(OperationError::NotFound(format!("no {id}"))),
        };
        ready(result).boxed()
    }

    fn remove_exporter(&self, id: String) -> BoxFuture<'_, Result<(), OperationError>> {
        let result = match &*id {
            "former" => Ok(()),
            "ndjson" => Err(OperationError::Invalid(format!("{id} is configured"))),
            _ => Err(OperationError::NotFound(format!("no {id}"))),
        };
        ready(result).boxed()
    }

    fn parked_records(&self, _: String) -> BoxFuture<'_, Result<Vec<ParkedRecord>, OperationError>> {
        let one = ParkedRecord { reason: "no".to_owned(), parked_at_ms: 5, record: json!({ "position": 7 }) };
        ready(Ok(vec![one])).boxed()
    }

    fn replay_parked(&self, exporter_id: String) -> BoxFuture<'_, Result<Replayed, OperationError>> {
        let result = match &*exporter_id {
            "ndjson" => Ok(Replayed { replayed: 1, refused: 0, reason: None }),
            _ => Err(OperationError::Failed("busy".to_owned())),
        };
        ready(result).boxed()
    }

    fn pause_exporting(&self, soft: bool) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done(if soft { "soft" } else { "hard" })
    }

    fn restore(&self, _: String, _: u64, _: bool) -> BoxFuture<'_, Result<u32, OperationError>> {
        ready(Err(OperationError::Failed("not asked at this port".to_owned()))).boxed()
    }

    fn restore_status(&self) -> Result<Option<RestoreStatus>, OperationError> {
        Ok(None)
    }

    fn pause_processing(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("processing")
    }

    fn resume_processing(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("resumed")
    }

    fn begin_history(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("begun")
    }

    fn write_state(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("written")
    }

    fn cluster(&self) -> ClusterStatus {
        let replica = ReplicaStatus { id: 1, state: "ACTIVE", role: None, health: None };
        let member = MemberStatus {
            id: 2,
            state: "ACTIVE",
            reachable: false,
            reason: None,
            partitions: vec![replica],
        };
        let difference = DifferenceStatus {
            broker: 2,
            setting: "flow_control.max_limit".to_owned(),
            here: Some("8".to_owned()),
            there: None,
        };
        let change = ClusterChange { id: 2, started_ms: 5, completed_ms: None };
        let (last_change, pending_change) = ChangeStatus::of(Some(change));
        let cluster_id = "c".to_owned();
        ClusterStatus {
            cluster_id,
            version: 1,
            last_change,
            pending_change,
            brokers: vec![member],
            voters: vec![0, 2],
            differences: vec![difference],
        }
    }

    fn purge(&self, dry_run: bool) -> BoxFuture<'_, Result<PlannedChange, OperationError>> {
        if !dry_run {
            return ready(Err(OperationError::Conflict("the change 2 goes on".to_owned()))).boxed();
        }
        let brokers = self.cluster().brokers;
        let step = PlannedOperation { operation: "PARTITION_LEAVE", broker_id: 2, partition_id: Some(1) };
        ready(Ok(PlannedChange {
            change_id: 3,
            current_topology: brokers.clone(),
            planned_changes: vec![step],
            expected_topology: brokers,
        }))
        .boxed()
    }

    fn compare_states(
        &self,
    ) -> BoxFuture<'_, Result<BTreeMap<PartitionId, StateComparison>, OperationError>> {
        ready(Ok(BTreeMap::from([(1, partitions::compared())]))).boxed()
    }

    fn workers(&self) -> Option<Vec<WorkerStatus>> {
        None
    }

    fn disk(&self) -> Option<DiskStatus> {
        None
    }

    fn hand_over(
        &self,
        to: Option<u32>,
    ) -> BoxFuture<'_, Result<BTreeMap<PartitionId, u32>, OperationError>> {
        // Without a broker, the first one is to lead.
        let leader = Some(to.unwrap_or(0)).filter(|to| *to < 3);
        let leader = leader.ok_or_else(|| OperationError::Invalid("no such broker".to_owned()));
        async move { Ok(BTreeMap::from([(1, leader?)])) }.boxed()
    }

    fn banned_instances(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<BannedInstance>, OperationError>> {
        let one = |key: u64| BannedInstance {
            process_instance_key: key.to_string(),
            root_process_instance_key: "1".to_owned(),
            process_definition_id: "p".to_owned(),
            process_definition_key: "2".to_owned(),
            process_definition_version: 3,
            tenant_id: "<default>".to_owned(),
            reason: "odd".to_owned(),
            banned_at_ms: 5,
        };
        ready(Ok((after + 1..=9).take(limit).map(one).collect())).boxed()
    }

    fn release_instance(&self, key: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        let result = if key == 9 { Ok(()) } else { Err(OperationError::NotFound(format!("no {key}"))) };
        ready(result).boxed()
    }

    fn cancel_instance(&self, key: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        self.release_instance(key)
    }

    fn clock_ms(&self) -> i64 {
        *self.clock_ms.lock()
    }

    fn set_clock(&self, clock: Clock) -> BoxFuture<'_, Result<(), OperationError>> {
        let mut clock_ms = self.clock_ms.lock();
        match clock {
            Clock::Pin { timestamp_ms } => *clock_ms = timestamp_ms,
            Clock::Add { offset_ms } => *clock_ms += offset_ms,
            Clock::Reset => {
                let refused = OperationError::Forbidden("set 'clock.controlled'".to_owned());
                return ready(Err(refused)).boxed();
            }
        }
        ready(Ok(())).boxed()
    }

    fn resume_exporting(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        ready(Err(OperationError::Failed("no disk".to_owned()))).boxed()
    }

    fn take_backup(&self, id: Option<u64>) -> BoxFuture<'_, Result<u64, OperationError>> {
        ready(backups::take(id)).boxed()
    }

    fn backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>> {
        ready(Ok(vec![backups::status()])).boxed()
    }

    fn delete_backup(&self, _: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("backup deleted")
    }

    fn held_backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>> {
        self.backups()
    }

    fn forget_backups(&self, _: bool) -> BoxFuture<'_, Result<(), OperationError>> {
        self.done("backups forgotten")
    }

    fn take_history_backup(&self, id: u64) -> BoxFuture<'_, Result<Vec<String>, OperationError>> {
        ready(backups::take(Some(id)).map(|_| vec!["history.sqlite".to_owned()])).boxed()
    }

    fn history_backups(&self) -> BoxFuture<'_, Result<Vec<HistoryBackupStatus>, OperationError>> {
        ready(Ok(vec![backups::history_status()])).boxed()
    }

    fn delete_history_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        let missing = OperationError::NotFound(format!("there is no backup {id}"));
        ready(if id == 7 { Ok(()) } else { Err(missing) }).boxed()
    }
}
