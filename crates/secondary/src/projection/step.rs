//! Steps of process instances: what happened to which element, variable, job or incident, in the order of the log, and
//! what was done with the instance by whom. A row is never changed.

use protocol::{
    Intent, JobIntent, Key, Name, ProcessInstanceIntent, ProcessInstanceRecord, Record, RecordValue,
    RecordedInstance,
};
use search::model::{StepKind, instance_step as step};

use crate::change::{Batch, Change, RowId};
use crate::words::{local, word};

pub(super) fn apply(record: &Record, batch: &mut Batch) {
    let Some(kind) = kind(record) else { return };
    let row = batch.insert(&step::ENTITY, RowId::Key(record.position));
    row.set(step::TIME, record.timestamp_ms)
        .set(step::TYPE, word(kind.as_str()))
        .set(step::SUBJECT_KEY, record.key);
    match &record.value {
        RecordValue::ProcessInstance(value) => {
            of_instance(row, &value.instance);
            of_element(row, &value.element_id, record.key);
            row.set(step::NAME, word(value.bpmn_element_type.as_str())).set(step::VALUE, actor(record));
        }
        RecordValue::ProcessInstanceModification(value) => {
            row.set(step::INSTANCE_KEY, value.process_instance_key)
                .set(step::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(step::TENANT, &value.tenant_id)
                .set(step::SUBJECT_KEY, value.process_instance_key)
                .set(step::VALUE, actor(record));
        }
        RecordValue::ProcessInstanceMigration(value) => {
            row.set(step::INSTANCE_KEY, value.process_instance_key)
                .set(step::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(step::DEFINITION_KEY, value.target_process_definition_key)
                .set(step::PROCESS_ID, &value.bpmn_process_id)
                .set(step::TENANT, &value.tenant_id)
                .set(step::SUBJECT_KEY, value.process_instance_key)
                .set(step::VALUE, actor(record));
        }
        RecordValue::Variable(value) => {
            of_instance(row, &value.instance);
            row.set(step::ELEMENT_KEY, value.scope_key)
                .set(step::NAME, local(&value.name))
                .set(step::VALUE, Name::from(&*value.value.canonical()));
        }
        RecordValue::Job(value) => {
            of_instance(row, &value.instance);
            of_element(row, &value.element_id, value.element_instance_key);
            row.set(step::TENANT, local(&value.tenant_id)).set(step::NAME, local(&value.job_type));
            let told = if kind == StepKind::JobFailed { &value.error_message } else { &value.worker };
            row.set(step::VALUE, search::Value::non_empty(told));
        }
        RecordValue::Incident(value) => {
            of_element(row, &value.element_id, value.element_instance_key);
            row.set(step::INSTANCE_KEY, value.process_instance_key)
                .set(step::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(step::DEFINITION_KEY, value.process_definition_key)
                .set(step::PROCESS_ID, &value.bpmn_process_id)
                .set(step::TENANT, &value.tenant_id)
                .set(step::NAME, &value.error_type)
                .set(step::VALUE, &value.error_message);
        }
        _ => unreachable!("only these have a kind"),
    }
}

/// The user or client that asked for a change, if it has a name.
fn actor(record: &Record) -> Option<&Name> {
    record.actor.as_ref()?.id.as_ref()
}

/// The kind of step that a record is. `None`: it is none.
fn kind(record: &Record) -> Option<StepKind> {
    let intent = record.intent;
    Some(match &record.value {
        RecordValue::ProcessInstance(value) => return kind_of_element(record, value),
        RecordValue::ProcessInstanceModification(_) if intent == Intent::Modified => StepKind::Modified,
        RecordValue::ProcessInstanceMigration(_) if intent == Intent::Migrated => StepKind::Migrated,
        RecordValue::Variable(_) if matches!(intent, Intent::Created | Intent::Updated) => {
            StepKind::VariableSet
        }
        RecordValue::Job(_) => return kind_of_job(intent),
        RecordValue::Incident(_) if intent == Intent::Created => StepKind::IncidentCreated,
        RecordValue::Incident(_) if intent == Intent::Resolved => StepKind::IncidentResolved,
        // Others are no steps that people tell of.
        #[rustfmt::skip]
        RecordValue::Deployment(_) | RecordValue::Incident(_) | RecordValue::Message(_)
        | RecordValue::MessageSubscription(_) | RecordValue::ProcessMessageSubscription(_)
        | RecordValue::Timer(_) | RecordValue::MessageStartEventSubscription(_) | RecordValue::Variable(_)
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
        | RecordValue::AgentInstance(_) | RecordValue::AgentHistory(_) | RecordValue::Purge(_) => return None,
    })
}

fn kind_of_element(record: &Record, value: &ProcessInstanceRecord) -> Option<StepKind> {
    if &*value.bpmn_element_type == "SEQUENCE_FLOW" {
        return None;
    }
    let is_process = &*value.bpmn_element_type == "PROCESS";
    Some(match ProcessInstanceIntent::of(record.intent)? {
        ProcessInstanceIntent::ElementActivating => StepKind::ElementActivated,
        ProcessInstanceIntent::ElementCompleted => StepKind::ElementCompleted,
        ProcessInstanceIntent::ElementTerminated => StepKind::ElementTerminated,
        // Without anybody who asked for it, the instance ends with another, or by itself.
        ProcessInstanceIntent::ElementTerminating if is_process && record.actor.is_some() => {
            StepKind::Canceled
        }
        ProcessInstanceIntent::Suspended => StepKind::Suspended,
        ProcessInstanceIntent::Resumed => StepKind::Resumed,
        ProcessInstanceIntent::ElementActivated
        | ProcessInstanceIntent::ElementCompleting
        | ProcessInstanceIntent::ElementTerminating
        | ProcessInstanceIntent::SequenceFlowTaken
        | ProcessInstanceIntent::ElementMigrated
        | ProcessInstanceIntent::AncestorMigrated
        | ProcessInstanceIntent::BusinessIdAssigned => return None,
    })
}

fn kind_of_job(intent: Intent) -> Option<StepKind> {
    Some(match JobIntent::of(intent)? {
        JobIntent::Created => StepKind::JobCreated,
        JobIntent::Activated => StepKind::JobActivated,
        JobIntent::Completed => StepKind::JobCompleted,
        JobIntent::Failed | JobIntent::ErrorThrown => StepKind::JobFailed,
        JobIntent::TimedOut => StepKind::JobTimedOut,
        JobIntent::Canceled => StepKind::JobCanceled,
        JobIntent::Yielded
        | JobIntent::RecurredAfterBackoff
        | JobIntent::RetriesUpdated
        | JobIntent::TimeoutUpdated
        | JobIntent::PriorityUpdated
        | JobIntent::Updated
        | JobIntent::Migrated => return None,
    })
}

fn of_instance(row: &mut Change, instance: &RecordedInstance) {
    row.set(step::INSTANCE_KEY, instance.process_instance_key)
        .set(step::ROOT_INSTANCE_KEY, instance.root_process_instance_key)
        .set(step::DEFINITION_KEY, instance.process_definition_key)
        .set(step::PROCESS_ID, local(&instance.bpmn_process_id))
        .set(step::TENANT, local(&instance.tenant_id));
}

fn of_element(row: &mut Change, element_id: &Name, element_instance_key: Key) {
    row.set(step::ELEMENT_ID, local(element_id)).set(step::ELEMENT_KEY, element_instance_key);
}
