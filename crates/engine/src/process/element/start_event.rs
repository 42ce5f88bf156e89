//! Start event: none, or one whose event has happened.

use bpmn::graph::{ElementKind, StartEvent as Definition, Trigger};
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::ErrorType;

pub(super) struct StartEvent;

impl Behavior for StartEvent {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let variables = trigger.cloned().unwrap_or_default();
        if !matches!(
            at.element().kind,
            ElementKind::StartEvent(Definition { trigger: Trigger::Error(_), .. })
        ) {
            return Ok(Next::Complete(variables));
        }
        // Variables of an error stay inside its event sub-process unless output mappings propagate them.
        let owner = if at.element().outputs.is_empty() { at.scope_key } else { at.key };
        let kind = ErrorType::IoMappingError;
        work.check_room(at.process_instance_key, &variables, |_, _| Ok(owner), kind)?;
        work.set_locals(owner, at.process_instance_key, &variables)?;
        Ok(Next::Complete(Document::empty()))
    }
}
