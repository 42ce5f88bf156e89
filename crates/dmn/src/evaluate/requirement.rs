//! Decisions and their requirements.

use super::scope::Scope;
use super::{DECISION_FUEL, DECISION_LEVELS, Run, Step, Stop, address, with_types};
use crate::model::{Decision, Requirement, Target};
use crate::outcome::EvaluatedDecision;
use crate::types::TypeRef;
use feel::{Value, WarningKind};
use std::sync::Arc;

/// Names with their values.
type Named = Vec<(Arc<str>, Value)>;

impl Run<'_> {
    /// The result of a decision. In the standard dialect a decision is evaluated once; in Camunda's once for each
    /// requirement, and the outcome lists each evaluation.
    pub(super) fn decision(&mut self, place: usize) -> Step<Value> {
        let key = (address(self.model), Target::Decision(place));
        if let Some(value) = self.shared.known.get(&key) {
            return Ok(value.clone());
        }
        self.spend(DECISION_FUEL)?;
        self.shared.evaluated += 1;
        let limit = self.model.max_evaluated_decisions;
        if self.shared.evaluated > limit {
            return Err(Stop::fatal(format!("more than {limit} decisions would be evaluated")));
        }
        let value = self.nested(DECISION_LEVELS, |run| run.evaluate_decision(place))?;
        if self.is_standard() {
            self.shared.known.insert(key, value.clone());
        }
        Ok(value)
    }

    fn evaluate_decision(&mut self, place: usize) -> Step<Value> {
        let model = self.model;
        let decision = &model.decisions[place];
        let entries = self.requirements(&decision.requirements)?;
        let outside = (!self.is_standard()).then_some(self.variables);
        let scope = Scope::new(entries, outside);
        let mut record = self.shared.trail.is_some().then(|| EvaluatedDecision {
            namespace: model.namespace.clone(),
            id: decision.id.clone(),
            name: decision.name.clone(),
            kind: decision.decision_kind(),
            output: Value::Null,
            inputs: Vec::new(),
            matched_rules: Vec::new(),
        });
        let result = match &decision.logic {
            Some(boxed) => self.boxed(boxed, &scope, record.as_mut()),
            None => Ok(Value::Null),
        };
        let result = result.and_then(|value| self.check_result(decision, value)).map_err(|mut stop| {
            stop.0.decision.get_or_insert_with(|| decision.id.clone());
            stop
        });
        if let (Some(mut record), Some(trail)) = (record, self.shared.trail.as_mut()) {
            if let Ok(value) = &result {
                record.output = value.clone();
            }
            trail.push(record);
        }
        result
    }

    fn check_result(&mut self, decision: &Decision, value: Value) -> Step<Value> {
        self.check_type(value, &decision.kind, || format!("decision '{}'", decision.id))
    }

    /// In the standard dialect, the value converted to a type, or null. In Camunda's, only types of FEEL are checked,
    /// and a value of another type is a failure.
    pub(super) fn check_type(
        &mut self,
        value: Value,
        kind: &TypeRef,
        label: impl FnOnce() -> String,
    ) -> Step<Value> {
        if value.is_null() || *kind == TypeRef::Any {
            return Ok(value);
        }
        if !self.is_standard() {
            return match kind {
                TypeRef::Builtin(builtin) if !builtin.fits(&value) => {
                    let found = value.to_short_text();
                    Err(Stop::new(format!("expected '{}' but found '{found}'", builtin.name())))
                }
                _ => Ok(value),
            };
        }
        if let Some(value) = self.model.types.coerce(&value, kind, &mut self.shared.budget.fuel) {
            return Ok(value);
        }
        // Tests may have used up the fuel; that is not a type error.
        self.spend(1)?;
        let message = format!("the value of {} does not conform to its type", label());
        self.warn(WarningKind::InvalidType, message);
        Ok(Value::Null)
    }

    /// Names and values of the requirements. Requirements in imported models are grouped under the names of the
    /// imports.
    pub(super) fn requirements(&mut self, requirements: &[Requirement]) -> Step<Named> {
        let mut entries = Vec::new();
        let mut imported: Vec<(usize, Named)> = Vec::new();
        for requirement in requirements {
            let Some(import) = requirement.import else {
                entries.extend(self.required(requirement.target)?);
                continue;
            };
            let model = self.model;
            let import_model = &model.imports[import].model;
            let typed = with_types(self.environment, import_model);
            let environment = typed.as_ref().unwrap_or(self.environment);
            let mut run =
                Run { model: import_model, environment, variables: self.variables, shared: self.shared };
            let Some(entry) = run.required(requirement.target)? else { continue };
            match imported.iter_mut().find(|(own, _)| *own == import) {
                Some((_, group)) => group.push(entry),
                None => imported.push((import, vec![entry])),
            }
        }
        for (import, group) in imported {
            let name = &self.model.imports[import].name;
            if name.is_empty() {
                entries.extend(group);
            } else {
                entries.push((name.clone(), Value::context(group)));
            }
        }
        Ok(entries)
    }

    /// The name and value of an element of this model.
    fn required(&mut self, target: Target) -> Step<Option<(Arc<str>, Value)>> {
        let model = self.model;
        Ok(match target {
            Target::Decision(place) => {
                let value = self.decision(place)?;
                Some((model.decisions[place].result_name(self.is_standard()).clone(), value))
            }
            Target::Knowledge(place) => {
                Some((model.knowledge[place].name.clone(), self.knowledge_function(place)))
            }
            Target::Service(place) => {
                Some((model.services[place].name.clone(), self.service_function(place)))
            }
            Target::Input(place) => self.input(place).map(|value| (model.inputs[place].name.clone(), value)),
        })
    }

    /// The value of input data, unless it is simply a variable.
    fn input(&mut self, place: usize) -> Option<Value> {
        if let Some(value) = self.shared.known.get(&(address(self.model), Target::Input(place))) {
            return Some(value.clone());
        }
        if !self.is_standard() {
            return None;
        }
        let input = &self.model.inputs[place];
        let value = self.variables.get(&input.name)?;
        let value = self.model.types.coerce(&value, &input.kind, &mut self.shared.budget.fuel);
        if value.is_none() {
            let message = format!("the value of input '{}' does not conform to its type", input.name);
            self.warn(WarningKind::InvalidType, message);
        }
        Some(value.unwrap_or_default())
    }
}
