//! Exclusive gateway.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::{Behavior, Leave, Next};
use crate::entity::ErrorType;
use crate::expression::Scope;
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct Exclusive;

impl Behavior for Exclusive {
    fn activate(&self, _work: &mut Work, _at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        Ok(Next::Complete(Document::empty()))
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        let element = at.element();
        if element.outgoing.is_empty() {
            return Ok(Leave::All);
        }
        for &flow in &element.outgoing {
            let is_taken = match &at.process.flow(flow).condition {
                Some(condition) => work.evaluate_condition(condition, &Scope::of(at.key))?,
                None => element.outgoing.len() == 1,
            };
            if is_taken {
                return Ok(Leave::Through(flow));
            }
        }
        match element.kind {
            ElementKind::Exclusive { default: Some(flow) } => Ok(Leave::Through(flow)),
            _ => Err(Failure::incident(
                ErrorType::ConditionError,
                "Expected at least one condition to evaluate to true, or to have a default flow",
            )),
        }
    }
}
