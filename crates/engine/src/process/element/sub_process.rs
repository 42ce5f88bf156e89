//! Sub-processes: embedded ones, and those that the event of their start event activates.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::Leave;

pub(super) struct SubProcess;

impl Behavior for SubProcess {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        self.enter(work, at)?;
        match at.element().kind {
            ElementKind::SubProcess { start } => work.start_child(at, start, None)?,
            // Without an event only if somebody activates it by hand.
            ElementKind::EventSubProcess { start } => {
                work.start_child(at, start, Some(trigger.cloned().unwrap_or_default()))?;
            }
            _ => {}
        }
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut CommandContext, at: &ActiveElement) -> Result<(), Failure> {
        work.subscribe_to_events(at)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        // Its variables stay inside unless output mappings take them out.
        if !at.element().outputs.is_empty() {
            work.apply_outputs(at, &Document::empty())?;
        }
        Ok(Leave::All)
    }
}
