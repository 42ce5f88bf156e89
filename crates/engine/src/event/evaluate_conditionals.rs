//! Evaluates conditional start events; those whose condition is met start an instance each.

use bpmn::graph::ElementIndex;
use protocol::{
    ConditionalEvaluationRecord, DefinitionRef, Document, EvaluateConditionals, Intent, Key, Rejection,
    RejectionType, Response, StartedInstanceRecord,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::slices::Slices;
use crate::definition::expression::Scope;
use crate::entity::Instance;
use crate::event::condition::condition_of;

impl CommandContext<'_> {
    pub(super) fn evaluate_conditionals(
        &mut self,
        evaluate: &EvaluateConditionals,
    ) -> Result<Response, Failure> {
        let tenant_id = evaluate.tenant_id.clone();
        let range = match evaluate.definition_key {
            Some(key) => {
                self.find_definition(&DefinitionRef::Key(key), &tenant_id)?;
                (key, 0)..=(key, u32::MAX)
            }
            None => (0, 0)..=(Key::MAX, u32::MAX),
        };
        let key = self.next_key();
        let mut instances = Vec::new();
        let mut slices = Slices::of(range);
        while let Some(starts) = slices.keys(&self.tables.condition_starts)? {
            for (definition_key, element) in starts {
                let started = self.start_if_met(evaluate, definition_key, element)?;
                instances.extend(started.map(|instance_key| (definition_key, instance_key)));
            }
        }
        self.emit(key, Intent::Evaluated, |_| ConditionalEvaluationRecord {
            process_definition_key: evaluate.definition_key,
            tenant_id: tenant_id.clone(),
            variables: evaluate.variables.clone(),
            started_process_instances: instances
                .iter()
                .map(|&(process_definition_key, process_instance_key)| StartedInstanceRecord {
                    process_definition_key,
                    process_instance_key,
                })
                .collect(),
        });
        Ok(Response::ConditionalsEvaluated { key, tenant_id, instances })
    }

    /// Starts an instance at a start event, if that is of the tenant and its condition is met.
    fn start_if_met(
        &mut self,
        evaluate: &EvaluateConditionals,
        definition_key: Key,
        element: ElementIndex,
    ) -> Result<Option<Key>, Failure> {
        let Some(definition) = self.tables.definitions.get(&definition_key)? else { return Ok(None) };
        if definition.tenant_id != evaluate.tenant_id {
            return Ok(None);
        }
        let process = self.definitions.process(self.tables, definition_key)?;
        let Some(condition) = condition_of(&process, element) else { return Ok(None) };
        let scope = Scope { extra: Some(&evaluate.variables), ..Scope::of(0) };
        match self.is_met(condition, &scope) {
            Ok(true) => {}
            Err(Failure::Incident { message, .. })
                if self.meter.reached_limit(&self.options.work).is_some() =>
            {
                let reason = format!("Expected to evaluate conditional start events, but {message}");
                return Err(Rejection::new(RejectionType::InvalidState, reason).into());
            }
            // A condition that fails to evaluate is not met.
            Ok(false) | Err(Failure::Incident { .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        }
        let instance_key = self.next_key();
        let instance = Instance::root(
            instance_key,
            definition_key,
            definition.process_id.clone(),
            definition.version,
            definition.tenant_id.clone(),
            self.now_ms(),
        );
        let start = Some((element, evaluate.variables.clone()));
        self.has_started_others = true;
        self.start_instance(instance_key, instance, Document::empty(), start)?;
        Ok(Some(instance_key))
    }
}
