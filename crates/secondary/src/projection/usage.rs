//! Usage by tenant and interval: root process instances, decision instances, assignees.
//!
//! There is one row for each tenant and interval, and one for each assignee in it, however much is used. Each
//! count goes into that row with each flush, in the same transaction as the position: held back in memory until
//! the interval ends, it would be lost in a crash, or the position would have to wait for it, and the log with it.
//! It costs one row of a flush.

use std::time::Duration;

use protocol::{Intent, Name, PartitionId, Record, RecordValue};
use search::model::{ColumnId, usage_assignee as assignee, usage_metric as usage};
use xxhash_rust::xxh3::xxh3_64;

use crate::change::{Batch, RowId};
use crate::recent::Recent;

pub(super) struct Usage {
    interval_ms: i64,
    counted: Recent<Parts>,
}

/// Parts of the identity of a count.
struct Parts {
    partition: PartitionId,
    time: i64,
    column: ColumnId,
    tenant: Name,
}

impl Usage {
    pub const INTERVAL: Duration = Duration::from_mins(5);

    /// Counts by intervals of this length, which begin at its multiples since 1970.
    pub fn every(interval: Duration) -> Self {
        let interval_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX).max(1);
        Self { interval_ms, counted: Recent::default() }
    }

    /// Adds what a record counts for.
    pub fn apply(&mut self, record: &Record, batch: &mut Batch) {
        let intent = record.intent;
        match &record.value {
            // One that no other called.
            RecordValue::ProcessInstance(value)
                if intent == Intent::ElementActivating
                    && value.instance.parent_process_instance_key.is_none()
                    && *value.bpmn_element_type == *"PROCESS" =>
            {
                self.count(record, usage::PROCESS_INSTANCES, &value.instance.tenant_id, 1, batch);
            }
            RecordValue::DecisionEvaluation(value)
                if matches!(intent, Intent::Evaluated | Intent::Failed) =>
            {
                let decisions = value.evaluated_decisions.len() as i64;
                self.count(record, usage::DECISION_INSTANCES, &value.tenant_id, decisions, batch);
            }
            RecordValue::UserTask(value) if intent == Intent::Assigned && !value.assignee.is_empty() => {
                self.assigned(record, &value.tenant_id, &value.assignee, batch);
            }
            // Licences do not count them.
            #[rustfmt::skip]
            RecordValue::Job(_) | RecordValue::Deployment(_) | RecordValue::ProcessInstance(_)
            | RecordValue::Incident(_) | RecordValue::Message(_) | RecordValue::MessageSubscription(_)
            | RecordValue::ProcessMessageSubscription(_) | RecordValue::Timer(_)
            | RecordValue::MessageStartEventSubscription(_) | RecordValue::Variable(_)
            | RecordValue::ProcessInstanceCreation(_) | RecordValue::Error(_) | RecordValue::Process(_)
            | RecordValue::ResourceDeletion(_) | RecordValue::CompensationSubscription(_)
            | RecordValue::Signal(_) | RecordValue::SignalSubscription(_) | RecordValue::Escalation(_)
            | RecordValue::ConditionalSubscription(_) | RecordValue::ConditionalEvaluation(_)
            | RecordValue::ProcessInstanceMigration(_) | RecordValue::ProcessInstanceModification(_)
            | RecordValue::RuntimeInstruction(_) | RecordValue::DecisionRequirements(_)
            | RecordValue::Decision(_) | RecordValue::Form(_) | RecordValue::ClusterVariable(_)
            | RecordValue::Resource(_) | RecordValue::DecisionEvaluation(_)
            | RecordValue::BatchOperationCreation(_) | RecordValue::BatchOperationChunk(_)
            | RecordValue::BatchOperationExecution(_) | RecordValue::BatchOperationInitialization(_)
            | RecordValue::BatchOperationLifecycleManagement(_)
            | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::HistoryDeletion(_)
            | RecordValue::ProcessInstanceBatch(_) | RecordValue::MultiInstance(_)
            | RecordValue::AdHocSubProcessInstruction(_) | RecordValue::UserTask(_)
            | RecordValue::GlobalListener(_) | RecordValue::VariableDocument(_) | RecordValue::Clock(_)
            | RecordValue::User(_) | RecordValue::Group(_) | RecordValue::Role(_) | RecordValue::Tenant(_)
            | RecordValue::MappingRule(_) | RecordValue::Authorization(_) | RecordValue::AgentDefinition(_)
            | RecordValue::AgentInstance(_) | RecordValue::AgentHistory(_) | RecordValue::Purge(_) => {}
        }
    }

    fn interval(&self, record: &Record) -> i64 {
        record.timestamp_ms - record.timestamp_ms.rem_euclid(self.interval_ms)
    }

    fn count(&mut self, record: &Record, column: ColumnId, tenant: &Name, amount: i64, batch: &mut Batch) {
        let (time, partition) = (self.interval(record), record.partition_id);
        let is_it = |parts: &Parts| {
            parts.time == time
                && parts.column == column
                && parts.tenant == *tenant
                && parts.partition == partition
        };
        let id = self.counted.id(is_it, || {
            let kind = if column == usage::PROCESS_INSTANCES { "i" } else { "d" };
            let id = format!("{partition}-{time}-{kind}-{tenant}");
            (Parts { partition, time, column, tenant: tenant.clone() }, id)
        });
        batch
            .insert(&usage::ENTITY, RowId::Text(id))
            .set(usage::TIME, time)
            .set(usage::TENANT, tenant)
            .add(column, amount);
    }

    /// Remembers whom a task was assigned to, without telling who it is.
    fn assigned(&self, record: &Record, tenant: &Name, name: &Name, batch: &mut Batch) {
        let (time, hash) = (self.interval(record), xxh3_64(name.as_bytes()).cast_signed());
        let id = RowId::Text(Name::from(format!("{time}-{hash:x}-{tenant}")));
        batch
            .insert(&assignee::ENTITY, id)
            .set(assignee::TIME, time)
            .set(assignee::TENANT, tenant)
            .set(assignee::ASSIGNEE_HASH, hash);
    }
}
