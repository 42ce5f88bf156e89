//! Intermediate catch events and boundary events.

use bpmn::graph::{ElementKind, Trigger};
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::ErrorType;

pub(super) struct CatchEvent;

impl Behavior for CatchEvent {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        if let Some(variables) = trigger {
            if !matches!(&at.element().kind, ElementKind::Boundary(boundary) if matches!(boundary.trigger, Trigger::Error(_)))
            {
                return Ok(Next::Complete(variables.clone()));
            }
            // Variables of an error stay with its catch event unless output mappings propagate them.
            let kind = ErrorType::IoMappingError;
            work.check_room(at.process_instance_key, variables, |_, _| Ok(at.key), kind)?;
            work.set_locals(at.key, at.process_instance_key, variables)?;
            return Ok(Next::Complete(Document::empty()));
        }
        work.subscribe(at, &[at.index])?;
        Ok(Next::Wait)
    }
}
