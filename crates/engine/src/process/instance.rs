//! Process instances: their start and their end.

use bpmn::graph::{ElementIndex, PROCESS};
use protocol::{Document, InstanceCreated, Intent, Key, Name, Rejection};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{DefinitionState, ElementInstance, Instance, PendingEvent, Phase};

/// The answer to a creation.
pub(crate) fn created(instance: &Instance, process_instance_key: Key) -> InstanceCreated {
    InstanceCreated {
        process_definition_key: instance.definition_key,
        process_id: instance.process_id.clone(),
        version: instance.version,
        process_instance_key,
        tenant_id: instance.tenant_id.clone(),
        tags: instance.tags.clone(),
        business_id: instance.business_id.clone(),
    }
}

impl Instance {
    /// An instance that no other one called, created now.
    pub(crate) fn root(
        key: Key,
        definition_key: Key,
        process_id: Name,
        version: u32,
        tenant_id: Name,
        created_ms: i64,
    ) -> Self {
        Self {
            definition_key,
            process_id,
            version,
            tenant_id,
            root_key: key,
            parent: None,
            tags: Vec::new(),
            business_id: None,
            await_result: None,
            started_by_key: None,
            depth: 0,
            created_ms,
            terminate_after: Vec::new(),
            is_erased: false,
        }
    }
}

impl CommandContext<'_> {
    /// Starts a process instance, at its none start event or at one whose event has happened.
    pub fn start_instance(
        &mut self,
        key: Key,
        instance: Instance,
        variables: Document,
        start: Option<(ElementIndex, Document)>,
    ) -> Result<(), Failure> {
        let blamed = self.current_instance;
        self.blame(key);
        let Some(at) = self.open_instance(key, instance, &variables)? else { return Ok(()) };
        if let Some((element, variables)) = start {
            let event = PendingEvent { element, variables };
            self.tables.element_instances.update(&key, |row| row.pending_event = Some(event))?;
        }
        self.proceed_activation(&at, None)?;
        self.blame(blamed);
        Ok(())
    }

    /// Makes a process instance with nothing inside yet.
    pub(super) fn open_instance(
        &mut self,
        key: Key,
        instance: Instance,
        variables: &Document,
    ) -> Result<Option<ActiveElement>, Failure> {
        let definition_key = instance.definition_key;
        self.count_up(definition_key)?;
        self.tables.instances.insert(key, instance);
        let mut row = ElementInstance::new(PROCESS, Phase::Activating, 0, key);
        row.started_ms = self.now_ms();
        self.tables.element_instances.insert(key, row);
        let Some((instance, process)) = self.instance(key)? else { return Ok(None) };
        let at =
            ActiveElement { key, process_instance_key: key, scope_key: 0, index: PROCESS, instance, process };
        self.record_element(&at, Intent::ElementActivating);
        for (name, value) in variables.iter() {
            self.set_local(key, at.process_instance_key, name, value.clone())?;
        }
        Ok(Some(at))
    }

    /// Decides on the first element inside a scope.
    pub fn start_child(
        &mut self,
        at: &ActiveElement,
        element: ElementIndex,
        trigger: Option<Document>,
    ) -> Result<(), Failure> {
        self.tables.element_instances.update(&at.key, |row| row.active_children += 1)?;
        self.steps.push_back(Step::Activate {
            process_instance_key: at.process_instance_key,
            element,
            scope_key: at.key,
            trigger,
        });
        Ok(())
    }

    /// Work that remains once the process element itself has ended.
    pub(super) fn end_instance(&mut self, at: &ActiveElement, completed: bool) -> Result<(), Failure> {
        let instance = &at.instance;
        self.tables.instances.delete(&at.key);
        self.forget_cached();
        debug_assert!(!self.tables.is_suspended(at.key)?, "instance {} ends while it is suspended", at.key);
        self.effects.ended_instances.push((at.key, completed));
        if completed {
            let took_ms = self.now_ms() - instance.created_ms;
            self.effects.latencies.instance_execution_ms.push(took_ms);
        }
        self.count_down(instance.definition_key)?;
        self.release_start_lock(instance)?;
        self.release_business_id(at.key, instance)?;
        if !self.tables.agents_of(at.key, 0, 1)?.is_empty() {
            self.steps.push_back(Step::EndAgents { process_instance_key: at.key });
        }
        if !completed && let Some(wait) = &instance.await_result {
            let reason = format!("Process instance '{}' was terminated before it completed", at.key);
            self.effects.late_responses.push((wait.request_id, Err(Rejection::invalid_state(reason))));
        }
        if let Some(parent) = instance.parent {
            self.steps.push_back(Step::FinishTermination { key: parent.element_instance_key });
        }
        Ok(())
    }

    /// Lets the next message with the same correlation key start an instance of the process.
    pub(super) fn release_start_lock(&mut self, instance: &Instance) -> Result<(), Failure> {
        let Some(correlation_key) = &instance.started_by_key else { return Ok(()) };
        let lock = (instance.tenant_id.0.clone(), instance.process_id.0.clone(), correlation_key.0.clone());
        self.tables.start_locks.delete(&lock);
        if !self.tables.messages.is_empty()? {
            // Not here: whatever happens to the new instance must not undo the end of this one.
            self.leave_step(Step::StartFromBuffer {
                tenant_id: instance.tenant_id.clone(),
                process_id: instance.process_id.clone(),
                correlation_key: correlation_key.clone(),
            })?;
        }
        Ok(())
    }

    /// Counts an instance that runs by a definition.
    pub(super) fn count_up(&mut self, definition_key: Key) -> Result<(), Failure> {
        if !self.tables.running_instances.update(&definition_key, |count| *count += 1)? {
            self.tables.running_instances.put(definition_key, 1);
        }
        Ok(())
    }

    /// Counts one less; a definition that waits for its last instance to end is removed.
    pub(super) fn count_down(&mut self, definition_key: Key) -> Result<(), Failure> {
        let count = self.tables.running_instances.get(&definition_key)?.map_or(0, |count| *count);
        debug_assert!(count > 0, "an instance of {definition_key} that ends was counted when it began");
        if count > 1 {
            self.tables.running_instances.put(definition_key, count - 1);
            return Ok(());
        }
        self.tables.running_instances.delete(&definition_key);
        let definition = self.tables.definitions.get(&definition_key)?;
        if definition.is_some_and(|definition| definition.state == DefinitionState::Draining) {
            self.end_draining(definition_key)?;
        }
        Ok(())
    }

    /// Refuses what cannot be done while an instance is banned or suspended: its steps would only be set aside.
    pub(super) fn refuse_halted(&self, key: Key, purpose: &str) -> Result<(), Failure> {
        let way_out = match self.tables.halt_of(key)? {
            None => return Ok(()),
            Some("banned") => "is banned: release or cancel it first",
            Some(_) => "is suspended: resume it first",
        };
        Err(Rejection::invalid_state(format!(
            "Expected to {purpose}, but process instance '{key}' {way_out}"
        ))
        .into())
    }
}
