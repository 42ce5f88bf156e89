//! Process instances, element instances, sequence flows.

use protocol::{Intent, Name, ProcessInstanceIntent, ProcessInstanceRecord, Record};
use search::Value;
use search::model::{element_instance as element, process_instance as instance, sequence_flow as flow};

use super::names::Names;
use crate::change::{Batch, Change, RowId};
use crate::count::{self, Counted, Place};
use crate::words::{local, word};

pub(super) fn apply(
    record: &Record,
    value: &ProcessInstanceRecord,
    names: &mut Names,
    counted: &mut Counted,
    batch: &mut Batch,
) {
    match &*value.bpmn_element_type {
        "PROCESS" => apply_to_instance(record, value, names, batch),
        "SEQUENCE_FLOW" => sequence_flow(record, value, batch),
        _ => apply_to_element(record, value, names, counted, batch),
    }
}

fn apply_to_instance(record: &Record, value: &ProcessInstanceRecord, names: &mut Names, batch: &mut Batch) {
    let Some(intent) = ProcessInstanceIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let entity = &instance::ENTITY;
    match intent {
        ProcessInstanceIntent::ElementActivating => {
            let names = names.of(value.instance.process_definition_key);
            let row = batch.insert(entity, id);
            row.set(instance::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(instance::START, record.timestamp_ms)
                .set(instance::STATE, word("ACTIVE"))
                .set(instance::HAS_INCIDENT, false)
                .set(instance::TENANT, local(&value.instance.tenant_id))
                .set(instance::PARENT_INSTANCE_KEY, value.instance.parent_process_instance_key)
                .set(instance::PARENT_ELEMENT_KEY, value.instance.parent_element_instance_key)
                .set(instance::ROOT_INSTANCE_KEY, value.instance.root_process_instance_key)
                .set(instance::BUSINESS_ID, &value.instance.business_id)
                .set(instance::TAGS, tags(&value.instance.tags))
                .set(instance::PARTITION, u32::from(record.partition_id));
            define(row, value, names.name.as_ref(), names.version_tag.as_ref());
        }
        ProcessInstanceIntent::ElementCompleted => {
            end(batch.update(entity, id), instance::STATE, "COMPLETED", instance::END, record);
        }
        ProcessInstanceIntent::ElementTerminated => {
            end(batch.update(entity, id), instance::STATE, "TERMINATED", instance::END, record);
        }
        ProcessInstanceIntent::Suspended => {
            batch
                .update(entity, id)
                .set(instance::STATE, word("SUSPENDED"))
                .set(instance::SUSPENDED, record.timestamp_ms);
        }
        ProcessInstanceIntent::Resumed => {
            batch
                .update(entity, id)
                .set(instance::STATE, word("ACTIVE"))
                .set(instance::SUSPENDED, Value::Null);
        }
        ProcessInstanceIntent::BusinessIdAssigned => {
            batch.update(entity, id).set(instance::BUSINESS_ID, &value.instance.business_id);
        }
        ProcessInstanceIntent::ElementMigrated => {
            let names = names.of(value.instance.process_definition_key);
            let row = batch.update(entity, id);
            row.set(instance::PROCESS_ID, local(&value.instance.bpmn_process_id));
            define(row, value, names.name.as_ref(), names.version_tag.as_ref());
        }
        // These are no states in the API.
        ProcessInstanceIntent::ElementActivated
        | ProcessInstanceIntent::ElementCompleting
        | ProcessInstanceIntent::ElementTerminating
        | ProcessInstanceIntent::AncestorMigrated
        // No process instance is a flow.
        | ProcessInstanceIntent::SequenceFlowTaken => {}
    }
}

fn define(row: &mut Change, value: &ProcessInstanceRecord, name: Option<&Name>, version_tag: Option<&Name>) {
    row.set(instance::PROCESS_NAME, name)
        .set(instance::VERSION, value.instance.version)
        .set(instance::VERSION_TAG, version_tag)
        .set(instance::DEFINITION_KEY, value.instance.process_definition_key);
}

fn end(row: &mut Change, state: u8, name: &'static str, end: u8, record: &Record) {
    row.set(state, word(name)).set(end, record.timestamp_ms);
}

fn apply_to_element(
    record: &Record,
    value: &ProcessInstanceRecord,
    names: &mut Names,
    counted: &mut Counted,
    batch: &mut Batch,
) {
    let Some(intent) = ProcessInstanceIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let entity = &element::ENTITY;
    match intent {
        ProcessInstanceIntent::ElementActivating => {
            let names = names.of(value.instance.process_definition_key);
            batch
                .insert(entity, id)
                .set(element::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(element::START, record.timestamp_ms)
                .set(element::ELEMENT_ID, local(&value.element_id))
                .set(element::ELEMENT_NAME, names.element(&value.element_id))
                .set(element::TYPE, word(value.bpmn_element_type.as_str()))
                .set(element::STATE, word("ACTIVE"))
                .set(element::HAS_INCIDENT, false)
                .set(element::TENANT, local(&value.instance.tenant_id))
                .set(element::INSTANCE_KEY, value.instance.process_instance_key)
                .set(element::ROOT_INSTANCE_KEY, value.instance.root_process_instance_key)
                .set(element::DEFINITION_KEY, value.instance.process_definition_key)
                .set(element::SCOPE_KEY, value.flow_scope_key);
        }
        ProcessInstanceIntent::ElementCompleted => {
            end(batch.update(entity, id), element::STATE, "COMPLETED", element::END, record);
            count::add(counted, record.partition_id, place(value), ("COMPLETED", 1), batch);
        }
        ProcessInstanceIntent::ElementTerminated => {
            end(batch.update(entity, id), element::STATE, "TERMINATED", element::END, record);
            count::add(counted, record.partition_id, place(value), ("TERMINATED", 1), batch);
        }
        ProcessInstanceIntent::ElementMigrated => {
            let names = names.of(value.instance.process_definition_key);
            batch
                .update(entity, id)
                .set(element::PROCESS_ID, local(&value.instance.bpmn_process_id))
                .set(element::ELEMENT_ID, local(&value.element_id))
                .set(element::ELEMENT_NAME, names.element(&value.element_id))
                .set(element::DEFINITION_KEY, value.instance.process_definition_key);
        }
        // These are no states in the API.
        ProcessInstanceIntent::ElementActivated
        | ProcessInstanceIntent::ElementCompleting
        | ProcessInstanceIntent::ElementTerminating
        | ProcessInstanceIntent::AncestorMigrated
        // Flows and process instances have them.
        | ProcessInstanceIntent::SequenceFlowTaken
        | ProcessInstanceIntent::Suspended
        | ProcessInstanceIntent::Resumed
        | ProcessInstanceIntent::BusinessIdAssigned => {}
    }
}

fn place(value: &ProcessInstanceRecord) -> Place {
    Place {
        definition_key: value.instance.process_definition_key.into(),
        element_id: local(&value.element_id),
        process_id: local(&value.instance.bpmn_process_id),
        tenant_id: local(&value.instance.tenant_id),
    }
}

/// A flow that is taken twice is shown once.
fn sequence_flow(record: &Record, value: &ProcessInstanceRecord, batch: &mut Batch) {
    if record.intent != Intent::SequenceFlowTaken {
        return;
    }
    let id = format!("{}_{}", value.instance.process_instance_key, value.element_id);
    batch
        .insert(&flow::ENTITY, RowId::Text(Name::from(id)))
        .set(flow::INSTANCE_KEY, value.instance.process_instance_key)
        .set(flow::ROOT_INSTANCE_KEY, value.instance.root_process_instance_key)
        .set(flow::DEFINITION_KEY, value.instance.process_definition_key)
        .set(flow::PROCESS_ID, local(&value.instance.bpmn_process_id))
        .set(flow::ELEMENT_ID, local(&value.element_id))
        .set(flow::TENANT, local(&value.instance.tenant_id));
}

/// A list of texts as JSON.
pub(super) fn tags(names: &[Name]) -> Value {
    if names.is_empty() {
        return word("[]");
    }
    Value::from(serde_json::to_string(names).expect("texts are JSON"))
}
