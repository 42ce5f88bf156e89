//! Sets variables of a scope from outside.

use protocol::{Document, Intent, Key, Name, Rejection, Response, SetVariables, VariableDocumentRecord};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    pub(super) fn set_variables(&mut self, set: &SetVariables) -> Result<Option<Response>, Failure> {
        let scope_key = set.element_instance_key;
        let Some(row) = self.tables.element_instances.get(&scope_key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to update variables for element with key '{scope_key}', but no such element was found"
            ))
            .into());
        };
        self.blame(row.process_instance_key);
        self.refuse_without_room(row.process_instance_key, &set.variables, |work, name| {
            if set.local { Ok(scope_key) } else { work.tables.owning_scope(scope_key, name) }
        })?;
        if let Some(task_key) = row.user_task_key.filter(|_| set.local) {
            return self.set_task_variables(task_key, set);
        }
        if set.local {
            self.set_locals(scope_key, row.process_instance_key, &set.variables)?;
        } else {
            self.propagate(scope_key, row.process_instance_key, &set.variables)?;
        }
        let key = self.next_key();
        let instance = self.instance(row.process_instance_key)?;
        let tenant_id = instance.map(|(instance, _)| instance.tenant_id.clone()).unwrap_or_default();
        self.record_document(key, Intent::Updated, scope_key, tenant_id, set.local, &set.variables);
        Ok(Some(Response::VariablesSet { key }))
    }

    /// A step of setting variables from outside.
    pub(crate) fn record_document(
        &mut self,
        key: Key,
        intent: Intent,
        scope_key: Key,
        tenant_id: Name,
        local: bool,
        variables: &Document,
    ) {
        self.emit(key, intent, |_| VariableDocumentRecord {
            scope_key,
            update_semantics: Name::from(if local { "LOCAL" } else { "PROPAGATE" }),
            variables: variables.clone(),
            tenant_id,
        });
    }
}
