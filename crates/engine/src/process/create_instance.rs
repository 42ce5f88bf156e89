//! Creates a process instance.

use bpmn::graph::PROCESS;
use protocol::{
    CreateInstance, CreationRuntimeInstructionRecord, Intent, Key, Name, ProcessInstanceCreationRecord,
    Rejection, Response, StartInstructionRecord,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{Definition, Instance};
use crate::process::activation::{Place, Target, activatable, explain};
use crate::process::instance::created;

impl CommandContext<'_> {
    pub(super) fn create_instance(&mut self, create: &CreateInstance) -> Result<Option<Response>, Failure> {
        let (definition_key, definition) = self.find_definition(&create.definition, &create.tenant_id)?;
        let process = self.definitions.process(self.tables, definition_key)?;
        let intention = format!("create instance of process '{}'", definition.process_id);
        let refused = |reason| Rejection::invalid_argument(format!("Expected to {intention}, but {reason}"));
        for id in &create.terminate_after {
            if !process.by_id.contains_key(&id.0) {
                return Err(refused(format!(
                    "it is to be terminated after '{id}', and there is no such element"
                ))
                .into());
            }
        }
        let mut starts = Vec::with_capacity(create.start_before.len());
        for id in &create.start_before {
            starts.push(activatable(&process, id).map_err(refused)?);
        }
        if starts.is_empty() && process.none_start(PROCESS).is_none() {
            return Err(Rejection::invalid_state(format!(
                "Expected to create instance of process with none start event, but there is no such event in process '{}'",
                definition.process_id
            ))
            .into());
        }
        let key = self.next_key();
        let mut instance = Instance::root(
            key,
            definition_key,
            definition.process_id.clone(),
            definition.version,
            definition.tenant_id.clone(),
            self.now_ms(),
        );
        instance.tags.clone_from(&create.tags);
        instance.business_id.clone_from(&create.business_id);
        instance.terminate_after.clone_from(&create.terminate_after);
        instance.await_result.clone_from(&create.await_result);
        if create.unique_business_id {
            self.claim_business_id(key, &instance)?;
        }
        let response =
            create.await_result.is_none().then(|| Response::InstanceCreated(created(&instance, key)));
        self.emit_creation(create, definition_key, &definition, key);
        if starts.is_empty() {
            self.start_instance(key, instance, create.variables.clone(), None)?;
            return Ok(response);
        }
        self.blame(key);
        if let Some(at) = self.open_instance(key, instance, &create.variables)? {
            self.enter_scope(&at).map_err(|failure| explain(failure, &intention))?;
        }
        for element in starts {
            let target = Target { element, place: Place::New, variables: &[] };
            self.activate_inside(key, &target).map_err(|failure| explain(failure, &intention))?;
        }
        Ok(response)
    }

    fn emit_creation(
        &mut self,
        create: &CreateInstance,
        definition_key: Key,
        definition: &Definition,
        key: Key,
    ) {
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
            start_instructions: records(&create.start_before, |element_id| StartInstructionRecord {
                element_id,
            }),
            runtime_instructions: records(&create.terminate_after, |after_element_id| {
                CreationRuntimeInstructionRecord {
                    instruction_type: Name::from("TERMINATE_PROCESS_INSTANCE"),
                    after_element_id,
                }
            }),
        });
    }
}

fn records<R>(ids: &[Name], record: impl Fn(Name) -> R) -> Vec<R> {
    ids.iter().cloned().map(record).collect()
}
