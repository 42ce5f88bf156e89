//! Incidents, and the flags of what has one.

use protocol::{IncidentIntent, IncidentRecord, Key, Name, Record, error_hash};
use search::Value;
use search::model::{element_instance as element, incident, process_instance as instance};

use super::element::tags;
use crate::change::{Batch, RowId};

pub(super) fn apply(record: &Record, value: &IncidentRecord, batch: &mut Batch) {
    let Some(intent) = IncidentIntent::of(record.intent) else { return };
    let id = RowId::Key(record.key);
    let (amount, state) = match intent {
        IncidentIntent::Created => {
            batch
                .insert(&incident::ENTITY, id)
                .set(incident::PROCESS_ID, &value.bpmn_process_id)
                .set(incident::ERROR_TYPE, &value.error_type)
                .set(incident::ERROR_MESSAGE, &value.error_message)
                .set(incident::ELEMENT_ID, &value.element_id)
                .set(incident::CREATED, record.timestamp_ms)
                .set(incident::STATE, "ACTIVE")
                .set(incident::TENANT, &value.tenant_id)
                .set(incident::DEFINITION_KEY, value.process_definition_key)
                .set(incident::INSTANCE_KEY, value.process_instance_key)
                .set(incident::ROOT_INSTANCE_KEY, value.root_process_instance_key)
                .set(incident::ELEMENT_KEY, value.element_instance_key)
                .set(incident::JOB_KEY, value.job_key)
                .set(incident::ERROR_HASH, error_hash(&value.error_message))
                .set(incident::HOLDERS, others(value));
            (1, Some(record.key))
        }
        IncidentIntent::Resolved => {
            batch.update(&incident::ENTITY, id).set(incident::STATE, "RESOLVED");
            (-1, None)
        }
        IncidentIntent::Migrated => {
            batch
                .update(&incident::ENTITY, id)
                .set(incident::PROCESS_ID, &value.bpmn_process_id)
                .set(incident::DEFINITION_KEY, value.process_definition_key)
                .set(incident::ELEMENT_ID, &value.element_id);
            return;
        }
    };
    batch
        .update(&element::ENTITY, RowId::Key(value.element_instance_key))
        .set(element::INCIDENT_KEY, Value::from(state));
    let (instances, elements) = holders(value);
    for key in instances {
        batch.update(&instance::ENTITY, RowId::Key(key)).add(instance::HAS_INCIDENT, amount);
    }
    for key in elements {
        batch.update(&element::ENTITY, RowId::Key(key)).add(element::HAS_INCIDENT, amount);
    }
}

/// Keys of what has an incident, but for the instance and the element that the row names itself, as a list of texts.
fn others(value: &IncidentRecord) -> Value {
    let named = [value.process_instance_key, value.element_instance_key];
    let keys = value.element_instance_path.iter().flatten().filter(|key| !named.contains(key));
    tags(&keys.map(|key| Name::from(key.to_string())).collect::<Vec<_>>())
}

/// Process instances and element instances that have an incident: where it is, the scopes around that, and the callers.
fn holders(value: &IncidentRecord) -> (Vec<Key>, Vec<Key>) {
    let (mut instances, mut elements) = (Vec::new(), Vec::new());
    for level in &value.element_instance_path {
        instances.extend(level.first());
        elements.extend(level.iter().skip(1));
    }
    (instances, elements)
}
