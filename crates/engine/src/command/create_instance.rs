//! Creates a process instance.

use bpmn::graph::PROCESS;
use protocol::{CreateInstance, Intent, ProcessInstanceCreationRecord, Rejection, Response};

use crate::failure::Failure;
use crate::instance::created;
use crate::work::Work;

impl Work<'_> {
    pub(super) fn create_instance(&mut self, create: &CreateInstance) -> Result<Option<Response>, Failure> {
        self.operation_reference = create.operation_reference;
        let (definition_key, definition) = self.find_definition(&create.definition, &create.tenant_id)?;
        let process = self.definitions.process(self.tables, definition_key)?;
        if process.none_start(PROCESS).is_none() {
            return Err(Rejection::invalid_state(format!(
                "Expected to create instance of process with none start event, but there is no such event in process '{}'",
                definition.process_id
            ))
            .into());
        }
        let key = self.next_key();
        let mut instance = self.root_instance(
            key,
            definition_key,
            definition.process_id.clone(),
            definition.version,
            definition.tenant_id.clone(),
        );
        instance.tags.clone_from(&create.tags);
        instance.business_id.clone_from(&create.business_id);
        instance.await_result.clone_from(&create.await_result);
        let response =
            create.await_result.is_none().then(|| Response::InstanceCreated(created(&instance, key)));
        let creation_key = self.next_key();
        self.emit(creation_key, Intent::Created, |_| ProcessInstanceCreationRecord {
            bpmn_process_id: definition.process_id.clone(),
            version: definition.version,
            process_definition_key: definition_key,
            process_instance_key: key,
            variables: create.variables.clone(),
            fetch_variables: create
                .await_result
                .as_ref()
                .map(|a| a.fetch_variables.clone())
                .unwrap_or_default(),
            tenant_id: definition.tenant_id.clone(),
            tags: create.tags.clone(),
            business_id: create.business_id.clone(),
        });
        self.start_instance(key, instance, create.variables.clone(), None)?;
        Ok(response)
    }
}
