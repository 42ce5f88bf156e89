//! Compensation throw and end event: waits until everything is undone.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;

pub(super) struct Compensate;

impl Behavior for Compensate {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let ElementKind::Compensate { activity } = at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let scope_key = work.compensated_scope(at)?;
        Ok(if work.begin_compensation(at.key, scope_key, activity)? {
            Next::Wait
        } else {
            Next::Complete(Document::empty())
        })
    }
}
