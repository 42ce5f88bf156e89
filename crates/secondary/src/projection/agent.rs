//! Agents: their definitions, their instances, and their history.

use protocol::{
    AgentDefinitionRecord, AgentHistoryIntent, AgentHistoryRecord, AgentInstanceIntent, AgentInstanceRecord,
    DeployedIntent, Name, Record,
};
use search::Value;
use search::model::{agent_definition as definition, agent_history as history, agent_instance as agent};
use serde_json::to_string;

use crate::change::{Batch, RowId};
use crate::words::word;

pub(super) fn define(record: &Record, value: &AgentDefinitionRecord, batch: &mut Batch) {
    let Some(intent) = DeployedIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    match intent {
        DeployedIntent::Created => {
            batch
                .insert(&definition::ENTITY, id)
                .set(definition::TYPE, &value.agent_type)
                .set(definition::NAME, &value.name)
                .set(definition::ELEMENT_ID, &value.element_id)
                .set(definition::PROCESS_ID, &value.bpmn_process_id)
                .set(definition::DEFINITION_KEY, value.process_definition_key)
                .set(definition::VERSION, value.process_definition_version)
                .set(definition::VERSION_TAG, Value::non_empty(&value.version_tag))
                .set(definition::TENANT, &value.tenant_id);
        }
        DeployedIntent::Deleted => batch.delete(&definition::ENTITY, id),
    }
}

pub(super) fn instance(record: &Record, value: &AgentInstanceRecord, batch: &mut Batch) {
    let Some(intent) = AgentInstanceIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let row = match intent {
        AgentInstanceIntent::Created => {
            let row = batch.insert(&agent::ENTITY, id);
            row.set(agent::INSTANCE_KEY, value.process_instance_key)
                .set(agent::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(agent::TENANT, &value.tenant_id)
                .set(agent::CREATED, record.timestamp_ms)
        }
        AgentInstanceIntent::Updated | AgentInstanceIntent::Migrated => batch.update(&agent::ENTITY, id),
        AgentInstanceIntent::Completed => {
            batch.update(&agent::ENTITY, id).set(agent::COMPLETED, record.timestamp_ms)
        }
    };
    let keys: Vec<String> = value.element_instance_keys.iter().map(ToString::to_string).collect();
    row.set(agent::DEFINITION_KEY, value.agent_definition_key)
        .set(agent::STATUS, word(value.status.as_str()))
        .set(agent::DEFINITION, text(to_string(&value.definition)))
        .set(agent::METRICS, text(to_string(&value.metrics)))
        .set(agent::LIMITS, text(to_string(&value.limits)))
        .set(agent::TOOLS, Name::from(value.tools.as_str()))
        .set(agent::ELEMENT_ID, &value.element_id)
        .set(agent::PROCESS_KEY, value.process_definition_key)
        .set(agent::PROCESS_ID, &value.bpmn_process_id)
        .set(agent::VERSION, value.process_definition_version)
        .set(agent::VERSION_TAG, Value::non_empty(&value.version_tag))
        .set(agent::UPDATED, record.timestamp_ms)
        .set(agent::ELEMENT_KEYS, text(to_string(&keys)));
}

pub(super) fn item(record: &Record, value: &AgentHistoryRecord, batch: &mut Batch) {
    let Some(intent) = AgentHistoryIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    match intent {
        AgentHistoryIntent::Created => {
            batch
                .insert(&history::ENTITY, id)
                .set(history::ITEM_ID, Value::non_empty(&value.history_item_id))
                .set(history::AGENT_KEY, value.agent_instance_key)
                .set(history::ELEMENT_KEY, value.element_instance_key)
                .set(history::JOB_KEY, value.job_key)
                .set(history::LEASE, Value::non_empty(&value.job_lease))
                .set(history::LOOP_ITERATION, (value.loop_iteration > 0).then_some(value.loop_iteration))
                .set(history::ROLE, word(value.role.as_str()))
                .set(history::CONTENT, Name::from(value.content.as_str()))
                .set(history::TOOL_CALLS, Name::from(value.tool_calls.as_str()))
                .set(history::METRICS, value.metrics.map(|metrics| text(to_string(&metrics))))
                .set(history::COMMIT_STATUS, word("PENDING"))
                .set(history::PRODUCED, value.produced_at_ms)
                .set(history::TOOLS, Name::from(value.tools.as_str()))
                .set(history::MODEL, value.model.as_ref())
                .set(history::PROVIDER, value.provider.as_ref())
                .set(history::LIMITS, text(to_string(&value.limits)))
                .set(history::SYSTEM_PROMPT, Name::from(value.system_prompt.as_str()))
                .set(history::INSTANCE_KEY, value.process_instance_key)
                .set(history::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(history::PROCESS_ID, &value.bpmn_process_id)
                .set(history::TENANT, &value.tenant_id);
        }
        AgentHistoryIntent::Committed => {
            batch.update(&history::ENTITY, id).set(history::COMMIT_STATUS, word("COMMITTED"));
        }
        AgentHistoryIntent::Discarded => {
            batch.update(&history::ENTITY, id).set(history::COMMIT_STATUS, word("DISCARDED"));
        }
    }
}

/// A JSON text.
pub(super) fn text(written: serde_json::Result<String>) -> Name {
    Name::from(written.expect("numbers and texts are JSON"))
}
