//! Forms: how a user task or a start event finds its form.

use bpmn::graph::Binding;
use protocol::{Key, Name};
use state::StateError;

use crate::core::context::CommandContext;
use crate::entity::DefinitionKind;

impl CommandContext<'_> {
    /// The key of the form that a process definition means when it refers to an ID with a binding; `None` if there is
    /// no such form, which is an incident of type `FORM_NOT_FOUND` where a task needs it.
    pub fn form_key(
        &self,
        form_id: &Name,
        binding: &Binding,
        tenant: &Name,
        process_definition_key: Key,
    ) -> Result<Option<Key>, StateError> {
        self.bound(DefinitionKind::Form, tenant, form_id, binding, process_definition_key)
    }
}
