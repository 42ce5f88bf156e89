//! Evaluates conditional start events; those whose condition is met start an instance each.

use protocol::{
    ConditionalEvaluationRecord, DefinitionRef, Document, EvaluateConditionals, Intent, Key, Rejection,
    RejectionType, Response, StartedInstanceRecord,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
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
        for ((definition_key, element), _) in self.tables.condition_starts.scan(range, usize::MAX)? {
            let Some(definition) = self.tables.definitions.get(&definition_key)? else { continue };
            if definition.tenant_id != tenant_id {
                continue;
            }
            let process = self.definitions.process(self.tables, definition_key)?;
            let Some(condition) = condition_of(&process, element) else { continue };
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
                Ok(false) | Err(Failure::Incident { .. }) => continue,
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
            instances.push((definition_key, instance_key));
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
}
