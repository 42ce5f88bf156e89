//! An incident by its key.

use protocol::{IncidentView, Key, Name, QueryReply};

use super::view::{ReadError, View, not_found};

pub(super) fn read(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let incident = view.tables.incidents.get(&key)?.ok_or_else(|| not_found("Incident", key))?;
    let row = view.tables.element_instances.get(&incident.element_instance_key)?;
    let row = row.ok_or_else(|| not_found("Incident", key))?;
    let instance = view.instance(incident.process_instance_key)?;
    let process = view.process(instance.definition_key)?;
    Ok(QueryReply::Incident(IncidentView {
        key,
        error_type: incident.error_type.as_str(),
        error_message: incident.error_message.clone(),
        created_ms: incident.created_ms,
        element_id: Name::from(&process.element(row.element).id),
        element_instance_key: incident.element_instance_key,
        job_key: incident.job_key,
        process_instance_key: incident.process_instance_key,
        root_process_instance_key: instance.root_key,
        process_definition_key: instance.definition_key,
        process_id: instance.process_id.clone(),
        tenant_id: instance.tenant_id.clone(),
    }))
}
