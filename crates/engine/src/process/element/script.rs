//! Script task with an inline expression.

use bpmn::graph::ElementKind;
use protocol::{Document, Name};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::ErrorType;

pub(super) struct Script;

impl Behavior for Script {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::Script { expression, result_variable } = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let value = work.evaluate(expression, &Scope::of(at.key), ErrorType::ExtractValueError)?;
        let what = format!("variable '{result_variable}'");
        let result =
            (Name::from(result_variable), work.produce(&value, &what, ErrorType::ExtractValueError)?);
        Ok(Next::Complete([result].into_iter().collect()))
    }
}
