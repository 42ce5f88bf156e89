//! Definitions of processes and decisions, and forms.

use protocol::{
    DecisionRecord, DecisionRequirementsRecord, DeployedIntent, FormRecord, ProcessIntent, ProcessRecord,
    Record,
};
use search::Value;
use search::model::{
    decision_definition as decision, decision_requirements as graph, form, process_definition as process,
};

use super::names::{DeployedModel, Names};
use crate::change::{Batch, RowId};

pub(super) fn process(record: &Record, value: &ProcessRecord, names: &mut Names, batch: &mut Batch) {
    let Some(intent) = ProcessIntent::of(record.intent) else { return };
    let key = value.process_definition_key;
    match intent {
        ProcessIntent::Created => {
            let model = DeployedModel {
                process_id: value.bpmn_process_id.clone(),
                version: value.version,
                file: value.resource.clone(),
            };
            let names = names.learn(key, &model);
            batch
                .insert(&process::ENTITY, RowId::Key(key))
                .set(process::NAME, &names.name)
                .set(process::RESOURCE_NAME, &value.resource_name)
                .set(process::VERSION, value.version)
                .set(process::VERSION_TAG, Value::non_empty(&value.version_tag))
                .set(process::PROCESS_ID, &value.bpmn_process_id)
                .set(process::TENANT, &value.tenant_id)
                .set(process::HAS_START_FORM, names.has_start_form)
                .set(process::STATE, "ACTIVE")
                .set(process::XML, &value.resource);
        }
        ProcessIntent::Deleting => {
            batch.update(&process::ENTITY, RowId::Key(key)).set(process::STATE, "DRAINING");
        }
        ProcessIntent::Deleted => {
            batch.update(&process::ENTITY, RowId::Key(key)).set(process::STATE, "DELETED");
        }
    }
}

pub(super) fn decision(record: &Record, value: &DecisionRecord, batch: &mut Batch) {
    let Some(intent) = DeployedIntent::of(record.intent) else { return };
    let id = RowId::Key(value.decision_key);
    match intent {
        DeployedIntent::Created => {
            batch
                .insert(&decision::ENTITY, id)
                .set(decision::DECISION_ID, &value.decision_id)
                .set(decision::REQUIREMENTS_ID, &value.decision_requirements_id)
                .set(decision::REQUIREMENTS_KEY, value.decision_requirements_key)
                .set(decision::REQUIREMENTS_NAME, value.decision_requirements_name.as_ref())
                .set(decision::REQUIREMENTS_VERSION, value.decision_requirements_version)
                .set(decision::NAME, &value.decision_name)
                .set(decision::TENANT, &value.tenant_id)
                .set(decision::VERSION, value.version);
        }
        DeployedIntent::Deleted => batch.delete(&decision::ENTITY, id),
    }
}

pub(super) fn requirements(record: &Record, value: &DecisionRequirementsRecord, batch: &mut Batch) {
    let Some(intent) = DeployedIntent::of(record.intent) else { return };
    let id = RowId::Key(value.decision_requirements_key);
    match intent {
        DeployedIntent::Created => {
            batch
                .insert(&graph::ENTITY, id)
                .set(graph::REQUIREMENTS_ID, &value.decision_requirements_id)
                .set(graph::NAME, &value.decision_requirements_name)
                .set(graph::RESOURCE_NAME, &value.resource_name)
                .set(graph::TENANT, &value.tenant_id)
                .set(graph::VERSION, value.decision_requirements_version)
                .set(graph::XML, &value.resource);
        }
        DeployedIntent::Deleted => batch.delete(&graph::ENTITY, id),
    }
}

pub(super) fn form(record: &Record, value: &FormRecord, batch: &mut Batch) {
    let Some(intent) = DeployedIntent::of(record.intent) else { return };
    let id = RowId::Key(value.form_key);
    match intent {
        DeployedIntent::Created => {
            batch
                .insert(&form::ENTITY, id)
                .set(form::FORM_ID, &value.form_id)
                .set(form::VERSION, value.version)
                .set(form::TENANT, &value.tenant_id)
                .set(form::SCHEMA, &value.resource)
                .set(form::IS_DELETED, false);
        }
        // People may still have tasks open that show it.
        DeployedIntent::Deleted => {
            batch.update(&form::ENTITY, id).set(form::IS_DELETED, true);
        }
    }
}
