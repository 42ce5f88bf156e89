//! Banned process instances, a page at a time.

use protocol::{BannedInstanceView, Key, QueryReply};

use super::view::{ROWS_PER_SLICE, ReadError, View};

pub(super) fn read(view: &mut View<'_>, after: Key, limit: usize) -> Result<QueryReply, ReadError> {
    let rows = view.tables.banned.scan(after + 1.., limit.min(ROWS_PER_SLICE))?;
    let mut found = Vec::with_capacity(rows.len());
    for (key, banned) in rows {
        let instance = view.instance(key)?;
        found.push(BannedInstanceView {
            key,
            root_process_instance_key: instance.root_key,
            process_definition_key: instance.definition_key,
            process_id: instance.process_id.clone(),
            version: instance.version,
            tenant_id: instance.tenant_id.clone(),
            reason: banned.reason.clone(),
            since_ms: banned.since_ms,
        });
    }
    Ok(QueryReply::BannedInstances(found))
}
