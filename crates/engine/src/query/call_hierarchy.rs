//! The process instances above one, and itself. There are no more of them than calls may be nested.

use protocol::{CallHierarchyEntry, Key, Name, QueryReply};

use super::view::{ReadError, View, not_found};

pub(super) fn read(view: &mut View<'_>, process_instance_key: Key) -> Result<QueryReply, ReadError> {
    let mut entries = Vec::new();
    let mut next = Some(process_instance_key);
    while let Some(key) = next {
        // A caller lives as long as what it called.
        let instance = view.tables.instances.get(&key)?;
        let instance = instance.ok_or_else(|| not_found("Process instance", process_instance_key))?;
        let process = view.process(instance.definition_key)?;
        entries.push(CallHierarchyEntry {
            process_instance_key: key,
            process_definition_key: instance.definition_key,
            process_name: Name::from(process.name.as_ref().unwrap_or(&process.id)),
        });
        next = instance.parent.map(|parent| parent.process_instance_key);
    }
    entries.reverse();
    Ok(QueryReply::CallHierarchy(entries))
}
