//! Call activity: starts an instance of another process and waits for its end.

use bpmn::graph::{Call, ElementKind, PROCESS};
use protocol::{Document, Key, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::describe;
use crate::definition::expression::Scope;
use crate::entity::{DefinitionKind, DefinitionState, ErrorType, Instance, Leave, Parent};

pub(super) struct CallActivity;

impl Behavior for CallActivity {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::Call(call) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let process_id = work.evaluate_text(&call.process_id, &Scope::of(at.key))?;
        let definition_key = find_called(work, at, call, &process_id)?;
        if at.instance.depth + 1 >= work.options.max_call_depth {
            let message = format!(
                "The call hierarchy is deeper than {} process instances.",
                work.options.max_call_depth
            );
            return Err(called_element(message));
        }
        let variables = if call.propagate_all_parent_variables {
            // Without output collections around it that are still filled: they would come back and take the place of
            // what others have given meanwhile.
            work.tables.all_visible_variables(at.key, 0)?
        } else {
            work.tables.local_variables(at.key)?.into_iter().collect()
        };
        work.check_given(&variables)?;
        work.subscribe_to_events(at)?;
        let called_key = work.next_key();
        assert!(at.process_instance_key < called_key, "a caller is older than the instances that it calls");
        work.tables.element_instances.update(&at.key, |row| row.called_instance_key = Some(called_key))?;
        let (version, process_id) = match work.tables.definitions.get(&definition_key)? {
            Some(definition) => (definition.version, definition.process_id.clone()),
            None => (0, process_id),
        };
        let instance = Instance {
            definition_key,
            process_id,
            version,
            tenant_id: at.instance.tenant_id.clone(),
            root_key: at.instance.root_key,
            parent: Some(Parent {
                process_instance_key: at.process_instance_key,
                element_instance_key: at.key,
            }),
            tags: at.instance.tags.clone(),
            business_id: at.instance.business_id.clone(),
            await_result: None,
            started_by_key: None,
            depth: at.instance.depth + 1,
            created_ms: work.now_ms(),
            terminate_after: Vec::new(),
            is_erased: false,
        };
        work.start_instance(called_key, instance, variables, None)?;
        Ok(Next::Wait)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        variables: &Document,
    ) -> Result<Leave, Failure> {
        let ElementKind::Call(call) = &at.element().kind else { return Ok(Leave::All) };
        if !at.element().outputs.is_empty() || call.propagate_all_child_variables {
            work.apply_outputs(at, variables)?;
        } else {
            // Its end listeners and the output collection around it see them, nothing else does.
            let kind = ErrorType::IoMappingError;
            work.check_room(at.process_instance_key, variables, |_, _| Ok(at.key), kind)?;
            work.set_locals(at.key, at.process_instance_key, variables)?;
        }
        Ok(Leave::All)
    }
}

fn called_element(message: impl Into<String>) -> Failure {
    Failure::incident(ErrorType::CalledElementError, message)
}

fn find_called(
    work: &mut CommandContext,
    at: &ActiveElement,
    call: &Call,
    process_id: &Name,
) -> Result<Key, Failure> {
    let tenant = &at.instance.tenant_id;
    let binding = &call.binding;
    let found =
        work.bound(DefinitionKind::Process, tenant, process_id, binding, at.instance.definition_key)?;
    let active = match found {
        Some(key) => work
            .tables
            .definitions
            .get(&key)?
            .is_some_and(|definition| definition.state == DefinitionState::Active)
            .then_some(key),
        None => None,
    };
    let key = active.ok_or_else(|| {
        called_element(format!(
            "Expected process with BPMN process id '{process_id}'{} to be deployed, but not found.",
            describe(binding)
        ))
    })?;
    let process = work.definitions.process(work.tables, key)?;
    if process.none_start(PROCESS).is_none() {
        return Err(called_element(format!(
            "Expected process with BPMN process id '{process_id}' to have a none start event, but not found."
        )));
    }
    Ok(key)
}
