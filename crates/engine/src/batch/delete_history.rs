//! Deletes what is kept of something that has ended. The engine itself keeps nothing of it: a record tells those
//! who do.

use protocol::{DeleteHistory, HistoryDeletionRecord, HistoryKind, Intent, Name, Rejection, Response};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    pub(super) fn delete_history(&mut self, delete: &DeleteHistory) -> Result<Response, Failure> {
        let is_process = delete.kind == HistoryKind::ProcessInstance;
        if is_process && self.tables.instances.contains(&delete.key)? {
            return Err(Rejection::invalid_state(format!(
                "Expected to delete history of process instance with key '{}', but it is still active",
                delete.key
            ))
            .into());
        }
        let (process_id, decision_definition_id) = if is_process {
            (delete.definition_id.clone(), Name::default())
        } else {
            (Name::default(), delete.definition_id.clone())
        };
        let key = self.next_key();
        self.emit(key, Intent::Deleted, |_| HistoryDeletionRecord {
            resource_key: delete.key,
            resource_type: Name::from(delete.kind.as_str()),
            process_id,
            decision_definition_id,
            tenant_id: delete.tenant_id.clone(),
        });
        Ok(Response::Done)
    }
}
