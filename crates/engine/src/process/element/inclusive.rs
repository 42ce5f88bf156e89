//! Inclusive gateway: leaves by every flow whose condition holds.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::flows::no_flow_taken;
use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::definition::expression::Scope;
use crate::entity::Leave;

pub(super) struct Inclusive;

impl Behavior for Inclusive {
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
        let mut taken = Vec::new();
        for &flow in &element.outgoing {
            if work.takes(at, flow, &scope)? {
                taken.push(flow);
            }
        }
        if taken.is_empty() {
            let ElementKind::Inclusive { default: Some(flow) } = element.kind else {
                return Err(no_flow_taken());
            };
            taken.push(flow);
        }
        Ok(Leave::Some(taken))
    }
}
