//! Variables that a process or element instance sees.

use protocol::{Key, QueryReply, ScopeView};

use super::view::{ReadError, View, not_found};

pub(super) fn read(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let row = view.tables.element_instances.get(&key)?;
    let row = row.ok_or_else(|| not_found("Process or element instance", key))?;
    let instance = view.instance(row.process_instance_key)?;
    Ok(QueryReply::Scope(ScopeView {
        process_id: instance.process_id.clone(),
        tenant_id: instance.tenant_id.clone(),
        variables: view.tables.visible_variables(key, &[])?,
    }))
}
