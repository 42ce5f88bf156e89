//! Script task with an inline expression.

use bpmn::graph::ElementKind;
use protocol::{Document, Name};

use super::{Behavior, Leave, Next};
use crate::entity::ErrorType;
use crate::expression::Scope;
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct Script;

impl Behavior for Script {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        // Evaluated here, so that a failure is one of the activation; written again at completion by the mappings.
        let ElementKind::Script { expression, result_variable } = &at.element().kind else {
            return Ok(Next::Complete);
        };
        let value = work.evaluate(expression, &Scope::of(at.key), ErrorType::ExtractValueError)?;
        let json = work.to_json(&value);
        work.set_local(at.key, &at.owner(), &Name::from(result_variable), json)?;
        Ok(Next::Complete)
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        let ElementKind::Script { result_variable, .. } = &at.element().kind else { return Ok(Leave::All) };
        let name = Name::from(result_variable);
        if at.element().outputs.is_empty() {
            if let Some(value) = work.visible_variable(at.key, &name)? {
                let result = [(name, value)].into_iter().collect();
                work.propagate(at.scope_key, &at.owner(), &result)?;
            }
        } else {
            work.apply_outputs(at, &Document::empty())?;
        }
        Ok(Leave::All)
    }
}
