//! Activation of any element from outside, with the scopes around it that are missing. A scope made so starts nothing
//! and applies no input mappings.

use std::sync::Arc;

use bpmn::Process;
use bpmn::graph::{ElementIndex, ElementKind, PROCESS};
use protocol::{Intent, Key, Name, Rejection, RuntimeInstructionRecord, ScopeVariables};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{ElementInstance, Phase};
use crate::process::children::is_body;
use crate::process::element::behavior;

/// An element to activate.
pub(crate) struct Target<'a> {
    pub element: ElementIndex,
    /// Its scopes are looked for below this one, and those that are missing are made there.
    pub place: Place,
    /// Variables to set before.
    pub variables: &'a [ScopeVariables],
}

/// Where an element is activated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// In the one instance of each scope around it that there is; missing ones are made.
    Only,
    /// As [`Self::Only`], except that an element directly inside an ad-hoc sub-process gets a scope of its own.
    New,
    /// Below this instance of a scope around it; the scopes in between are made anew.
    Below(Key),
}

/// The scopes around an element, from inside the process to its own scope.
pub(crate) fn scopes(process: &Process, element: ElementIndex) -> Vec<ElementIndex> {
    let mut scopes = Vec::new();
    let mut at = process.element(element).scope;
    while at != PROCESS {
        scopes.push(at);
        at = process.element(at).scope;
    }
    scopes.reverse();
    scopes
}

/// Finds an element that may be activated from outside, or tells why there is none.
pub(crate) fn activatable(process: &Process, id: &str) -> Result<ElementIndex, String> {
    let Some(&index) = process.by_id.get(id) else {
        if process.flows.iter().any(|flow| *flow.id == *id) {
            return Err(format!("'{id}' is a sequence flow, which cannot be activated"));
        }
        return Err(format!("there is no element '{id}' in process '{}'", process.id));
    };
    let element = process.element(index);
    let reason = match &element.kind {
        ElementKind::Process => "is the process itself",
        ElementKind::StartEvent(_) => "is a start event",
        ElementKind::Boundary(_) => "is a boundary event",
        ElementKind::AdHocInner => "is no element of the model",
        _ if process.is_behind_event_gateway(index) => "belongs to an event-based gateway",
        _ => return Ok(index),
    };
    Err(format!("'{id}' {reason}, which cannot be activated"))
}

impl CommandContext<'_> {
    /// Activates an element of a process instance. A refusal says why it cannot be.
    pub(super) fn activate_inside(&mut self, instance_key: Key, target: &Target) -> Result<(), Failure> {
        let Some((_, process)) = self.instance(instance_key)? else { return Ok(()) };
        let around = scopes(&process, target.element);
        let (mut scope_key, missing) = self.find_scope(instance_key, &process, &around, target.place)?;
        let id = |index: ElementIndex| &process.element(index).id;
        for set in target.variables {
            let known = set.scope_id.is_empty() || *set.scope_id == **id(target.element);
            if !known && !around.iter().chain(&[PROCESS]).any(|&scope| **id(scope) == *set.scope_id) {
                return Err(refused(format!(
                    "variables are set in scope '{}', which is not a scope of element '{}'",
                    set.scope_id,
                    id(target.element)
                )));
            }
        }
        self.set_scope_variables(instance_key, instance_key, "", target.variables)?;
        self.set_scope_variables(instance_key, instance_key, id(PROCESS), target.variables)?;
        let mut existing = scope_key;
        for &scope in around[..around.len() - missing.len()].iter().rev() {
            if !is_body(&process, scope) {
                self.set_scope_variables(instance_key, existing, id(scope), target.variables)?;
            }
            existing = self.tables.element_instances.get(&existing)?.map_or(0, |row| row.scope_key);
        }
        for scope in missing {
            scope_key = self.make_scope(instance_key, scope, scope_key, target.variables)?;
        }
        self.tables.element_instances.update(&scope_key, |row| row.active_children += 1)?;
        let Some(at) =
            self.place(ElementInstance::new(target.element, Phase::Activating, scope_key, instance_key))?
        else {
            return Ok(());
        };
        self.set_scope_variables(instance_key, at.key, id(target.element), target.variables)?;
        self.steps.push_back(Step::ResumeActivation { key: at.key, trigger: None });
        Ok(())
    }

    /// The innermost instance of a scope to activate in, and the scopes to make inside it.
    fn find_scope(
        &mut self,
        instance_key: Key,
        process: &Process,
        around: &[ElementIndex],
        place: Place,
    ) -> Result<(Key, Vec<ElementIndex>), Failure> {
        let id = |index: ElementIndex| &process.element(index).id;
        if let Place::Below(key) = place {
            let row = self.tables.element_instances.get(&key)?;
            let Some(row) = row.filter(|row| row.process_instance_key == instance_key) else {
                return Err(refused(format!("there is no element instance '{key}' in the process instance")));
            };
            let depth = match around.iter().position(|&scope| scope == row.element) {
                Some(at) => at + 1,
                None if row.element == PROCESS => 0,
                None => {
                    let found = id(row.element);
                    return Err(refused(format!(
                        "element instance '{key}' of '{found}' is not around the element"
                    )));
                }
            };
            if row.phase != Phase::Activated || row.interrupted {
                return Err(refused(format!(
                    "element instance '{key}' of '{}' is not active",
                    id(row.element)
                )));
            }
            let missing = &around[depth..];
            if let Some(&body) = missing
                .iter()
                .find(|&&scope| is_body(process, scope) || is_body(process, process.element(scope).scope))
            {
                return Err(refused(format!(
                    "multi-instance activity '{}' cannot be entered from outside",
                    id(body)
                )));
            }
            return Ok((key, missing.to_vec()));
        }
        let mut scope_key = instance_key;
        for (depth, &scope) in around.iter().enumerate() {
            let is_own_scope = matches!(place, Place::New)
                && depth + 1 == around.len()
                && matches!(process.element(scope).kind, ElementKind::AdHocInner);
            if is_own_scope {
                return Ok((scope_key, vec![scope]));
            }
            if is_body(process, scope) {
                return Err(refused(format!(
                    "it is inside the multi-instance activity '{}', where the instance to activate it in must be named",
                    id(scope)
                )));
            }
            let mut found = self.active_children(scope_key, scope, 2)?.into_iter();
            match (found.next(), found.next()) {
                (None, _) => return Ok((scope_key, around[depth..].to_vec())),
                (Some(key), None) => {
                    let row = self.tables.element_instances.get(&key)?;
                    if row.is_none_or(|row| row.phase != Phase::Activated) {
                        return Err(refused(format!(
                            "scope '{}' is not active yet, or no longer",
                            id(scope)
                        )));
                    }
                    scope_key = key;
                }
                _ => {
                    return Err(refused(format!(
                        "scope '{}' has several active instances; name one of them as the ancestor",
                        id(scope)
                    )));
                }
            }
        }
        Ok((scope_key, Vec::new()))
    }

    /// Makes an instance of a scope that nothing has started in.
    fn make_scope(
        &mut self,
        instance_key: Key,
        scope: ElementIndex,
        scope_key: Key,
        variables: &[ScopeVariables],
    ) -> Result<Key, Failure> {
        self.tables.element_instances.update(&scope_key, |row| row.active_children += 1)?;
        let Some(at) = self.place(ElementInstance::new(scope, Phase::Activating, scope_key, instance_key))?
        else {
            return Ok(scope_key);
        };
        let process = Arc::clone(&at.process);
        let element = process.element(scope);
        self.set_scope_variables(instance_key, at.key, &element.id, variables)?;
        self.enter_scope(&at)?;
        Ok(at.key)
    }

    /// Lets a new scope wait for its events and nothing else.
    pub(super) fn enter_scope(&mut self, at: &ActiveElement) -> Result<(), Failure> {
        let process = Arc::clone(&at.process);
        let element = process.element(at.index);
        behavior(&element.kind).enter(self, at).map_err(|failure| match failure {
            Failure::Incident { message, .. } => {
                refused(format!("scope '{}' cannot wait for its events: {message}", element.id))
            }
            other => other,
        })?;
        self.tables.element_instances.update(&at.key, |row| row.phase = Phase::Activated)?;
        self.record_element(at, Intent::ElementActivated);
        Ok(())
    }

    fn set_scope_variables(
        &mut self,
        instance_key: Key,
        scope_key: Key,
        scope_id: &str,
        variables: &[ScopeVariables],
    ) -> Result<(), Failure> {
        for set in variables.iter().filter(|set| *set.scope_id == *scope_id) {
            self.refuse_large(&set.variables)?;
            self.refuse_without_room(instance_key, &set.variables, |_, _| Ok(scope_key))?;
            self.set_locals(scope_key, instance_key, &set.variables)?;
        }
        Ok(())
    }

    /// Terminates an element instance as a modification does: what is around it terminates as well if it is empty then.
    pub(super) fn withdraw(&mut self, key: Key) -> Result<(), Failure> {
        self.tables.element_instances.update(&key, |row| row.withdrawn = true)?;
        self.terminate(key)
    }

    /// Ends the instance if it was asked to end after this element, which has just ended.
    pub(super) fn terminates_after(&mut self, at: &ActiveElement) -> Result<bool, Failure> {
        let element = at.element();
        if !at.instance.terminate_after.iter().any(|id| **id == *element.id)
            || at.process.by_id.get(&element.id) != Some(&at.index)
        {
            return Ok(false);
        }
        let root = self.tables.element_instances.get(&at.process_instance_key)?;
        if !root.is_some_and(|root| root.phase != Phase::Terminating) {
            return Ok(false);
        }
        let key = self.next_key();
        self.emit(key, Intent::Interrupted, |_| RuntimeInstructionRecord {
            process_instance_key: at.process_instance_key,
            element_id: Name::from(&element.id),
            tenant_id: at.instance.tenant_id.clone(),
        });
        self.steps.push_back(Step::Terminate { key: at.process_instance_key });
        Ok(true)
    }
}

fn refused(reason: String) -> Failure {
    Rejection::invalid_argument(reason).into()
}

/// Puts in front what was to be done, so that the refusal of a part says which command it belongs to.
pub(crate) fn explain(failure: Failure, intention: &str) -> Failure {
    match failure {
        Failure::Rejected(rejection) => {
            Rejection::new(rejection.kind, format!("Expected to {intention}, but {}", rejection.reason))
                .into()
        }
        other => other,
    }
}
