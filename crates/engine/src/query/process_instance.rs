//! A process instance by its key.

use protocol::{Key, Name, ProcessInstanceView, QueryReply};

use super::view::{ReadError, View, not_found};

pub(super) fn read(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let instance = view.tables.instances.get(&key)?.ok_or_else(|| not_found("Process instance", key))?;
    let process = view.process(instance.definition_key)?;
    Ok(QueryReply::ProcessInstance(ProcessInstanceView {
        key,
        process_definition_key: instance.definition_key,
        process_id: instance.process_id.clone(),
        process_name: process.name.as_ref().map(Name::from),
        version: instance.version,
        version_tag: process.version_tag.as_ref().map(Name::from),
        start_ms: instance.created_ms,
        has_incident: view.tables.incident_counts.contains(&key)?,
        tenant_id: instance.tenant_id.clone(),
        parent_process_instance_key: instance.parent.map(|parent| parent.process_instance_key),
        parent_element_instance_key: instance.parent.map(|parent| parent.element_instance_key),
        root_process_instance_key: instance.root_key,
        tags: instance.tags.clone(),
        business_id: instance.business_id.clone(),
        suspended_ms: view.tables.suspended.get(&key)?.map(|since| *since),
    }))
}
