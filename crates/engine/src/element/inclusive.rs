//! Inclusive gateway: leaves by every flow whose condition holds.

use bpmn::graph::{Element, ElementKind};
use protocol::Document;

use super::{Behavior, Leave, Next};
use crate::entity::ErrorType;
use crate::expression::Scope;
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct Inclusive;

impl Behavior for Inclusive {
    fn activate(&self, _work: &mut Work, _at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        Ok(Next::Complete(Document::empty()))
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        let element = at.element();
        if element.outgoing.is_empty() {
            return Ok(Leave::All);
        }
        let mut taken = Vec::new();
        for &flow in &element.outgoing {
            let is_taken = match &at.process.flow(flow).condition {
                Some(condition) => work.evaluate_condition(condition, &Scope::of(at.key))?,
                None => element.outgoing.len() == 1,
            };
            if is_taken {
                taken.push(flow);
            }
        }
        if taken.is_empty() {
            taken.extend(default_of(element));
        }
        if taken.is_empty() {
            return Err(Failure::incident(
                ErrorType::ConditionError,
                "Expected at least one condition to evaluate to true, or to have a default flow",
            ));
        }
        Ok(Leave::Some(taken))
    }
}

fn default_of(element: &Element) -> Option<bpmn::graph::FlowIndex> {
    match element.kind {
        ElementKind::Inclusive { default } => default,
        _ => None,
    }
}
