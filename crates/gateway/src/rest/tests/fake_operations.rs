//! What operators see and do, as far as the REST API asks for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::{BoxFuture, FutureExt as _, ready};
use parking_lot::Mutex;
use protocol::{Clock, Key, PartitionId};
use serde_json::Value;

use crate::management::{
    BannedInstance, ClusterStatus, Component, ExporterStatus, OperationError, Operations, ParkedRecord,
    PartitionStatus, Replayed, Slot, StateComparison,
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
        Vec::new()
    }

    fn flow_control(&self) -> Value {
        Value::Null
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
        BTreeMap::from([(1, status)])
    }

    fn exporters(&self) -> Vec<ExporterStatus> {
        Vec::new()
    }

    fn switch_exporter(&self, _: String, _: bool, _: Option<String>) -> Done<'_, ()> {
        elsewhere()
    }

    fn remove_exporter(&self, _: String) -> Done<'_, ()> {
        elsewhere()
    }

    fn parked_records(&self, _: String) -> Done<'_, Vec<ParkedRecord>> {
        elsewhere()
    }

    fn replay_parked(&self, _: String) -> Done<'_, Replayed> {
        elsewhere()
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

    fn write_state(&self) -> Done<'_, ()> {
        elsewhere()
    }

    fn cluster(&self) -> ClusterStatus {
        ClusterStatus { cluster_id: "c-1".to_owned(), brokers: Vec::new() }
    }

    fn hand_over(&self, _: Option<u32>) -> Done<'_, u32> {
        elsewhere()
    }

    fn compare_states(&self) -> Done<'_, StateComparison> {
        elsewhere()
    }

    fn banned_instances(&self, _: Key, _: usize) -> Done<'_, Vec<BannedInstance>> {
        elsewhere()
    }

    fn release_instance(&self, _: Key) -> Done<'_, ()> {
        elsewhere()
    }

    fn cancel_instance(&self, _: Key) -> Done<'_, ()> {
        elsewhere()
    }

    fn clock_ms(&self) -> i64 {
        0
    }

    fn set_clock(&self, _: Clock) -> Done<'_, ()> {
        elsewhere()
    }
}
