//! Steps of process instances: what happened to which element, variable, job or incident, in the order of the log, and
//! what was done with the instance by whom. A row is never changed.

use protocol::{Intent, Key, Name, Record, RecordValue, RecordedInstance};
use search::model::instance_step as step;

use crate::change::{Batch, Change, RowId};
use crate::words::{local, word};

pub(super) fn apply(record: &Record, batch: &mut Batch) {
    let Some(kind) = kind(record) else { return };
    let row = batch.insert(&step::ENTITY, RowId::Key(record.position));
    row.set(step::TIME, record.timestamp_ms).set(step::TYPE, word(kind)).set(step::SUBJECT_KEY, record.key);
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
                .set(step::VALUE, Name::from(value.value.as_str()));
        }
        RecordValue::Job(value) => {
            of_instance(row, &value.instance);
            of_element(row, &value.element_id, value.element_instance_key);
            row.set(step::TENANT, local(&value.tenant_id)).set(step::NAME, local(&value.job_type));
            let told = if matches!(kind, "JOB_FAILED") { &value.error_message } else { &value.worker };
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

/// The name of a step. `None`: it is none.
fn kind(record: &Record) -> Option<&'static str> {
    Some(match (&record.value, record.intent) {
        (RecordValue::ProcessInstance(value), intent) => {
            let is_flow = &*value.bpmn_element_type == "SEQUENCE_FLOW";
            let is_process = &*value.bpmn_element_type == "PROCESS";
            match intent {
                _ if is_flow => return None,
                Intent::ElementActivating => "ELEMENT_ACTIVATED",
                Intent::ElementCompleted => "ELEMENT_COMPLETED",
                Intent::ElementTerminated => "ELEMENT_TERMINATED",
                // Without anybody who asked for it, the instance ends with another, or by itself.
                Intent::ElementTerminating if is_process && record.actor.is_some() => "CANCELED",
                Intent::Suspended => "SUSPENDED",
                Intent::Resumed => "RESUMED",
                _ => return None,
            }
        }
        (RecordValue::ProcessInstanceModification(_), Intent::Modified) => "MODIFIED",
        (RecordValue::ProcessInstanceMigration(_), Intent::Migrated) => "MIGRATED",
        (RecordValue::Variable(_), Intent::Created | Intent::Updated) => "VARIABLE_SET",
        (RecordValue::Job(_), intent) => match intent {
            Intent::Created => "JOB_CREATED",
            Intent::Activated => "JOB_ACTIVATED",
            Intent::Completed => "JOB_COMPLETED",
            Intent::Failed | Intent::ErrorThrown => "JOB_FAILED",
            Intent::TimedOut => "JOB_TIMED_OUT",
            Intent::Canceled => "JOB_CANCELED",
            _ => return None,
        },
        (RecordValue::Incident(_), Intent::Created) => "INCIDENT_CREATED",
        (RecordValue::Incident(_), Intent::Resolved) => "INCIDENT_RESOLVED",
        _ => return None,
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
