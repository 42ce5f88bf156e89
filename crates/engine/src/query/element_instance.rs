//! An element instance by its key. The process itself is none, as clients of the API see it.

use protocol::{ElementInstanceView, Key, Name, QueryReply};

use super::view::{ReadError, View, not_found};

pub(super) fn read(view: &mut View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let row = view.tables.element_instances.get(&key)?.filter(|row| row.scope_key != 0);
    let row = row.ok_or_else(|| not_found("Element instance", key))?;
    let instance = view.instance(row.process_instance_key)?;
    let process = view.process(instance.definition_key)?;
    let element = process.element(row.element);
    Ok(QueryReply::ElementInstance(ElementInstanceView {
        key,
        element_id: Name::from(&element.id),
        element_name: Name::from(element.name.as_ref().unwrap_or(&element.id)),
        element_type: element.element_type.as_str(),
        start_ms: row.started_ms,
        incident_key: view.tables.incident_by_owner.get(&key)?.map(|incident| *incident),
        has_incident: view.tables.incident_counts.contains(&key)?,
        process_instance_key: row.process_instance_key,
        root_process_instance_key: instance.root_key,
        process_definition_key: instance.definition_key,
        process_id: instance.process_id.clone(),
        tenant_id: instance.tenant_id.clone(),
    }))
}
