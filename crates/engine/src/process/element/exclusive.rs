//! Exclusive gateway.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::flows::no_flow_taken;
use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::Leave;

pub(super) struct Exclusive;

impl Behavior for Exclusive {
    fn activate(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        Ok(Next::Complete(Document::empty()))
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        let element = at.element();
        if element.outgoing.is_empty() {
            return Ok(Leave::All);
        }
        let scope = Scope::of(at.key);
        for &flow in &element.outgoing {
            if work.takes(at, flow, &scope)? {
                return Ok(Leave::Through(flow));
            }
        }
        match element.kind {
            ElementKind::Exclusive { default: Some(flow) } => Ok(Leave::Through(flow)),
            _ => Err(no_flow_taken()),
        }
    }
}
