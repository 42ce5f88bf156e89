//! Event sub-process: activated by the event that its start event waits for.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::{Behavior, Leave, Next};
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct EventSubProcess;

impl Behavior for EventSubProcess {
    fn activate(&self, work: &mut Work, at: &At, trigger: Option<&Document>) -> Result<Next, Failure> {
        self.enter(work, at)?;
        if let ElementKind::EventSubProcess { start } = at.element().kind {
            // Without an event only if somebody activates it by hand.
            work.start_child(at, start, Some(trigger.cloned().unwrap_or_default()))?;
        }
        Ok(Next::Wait)
    }

    fn enter(&self, work: &mut Work, at: &At) -> Result<(), Failure> {
        work.subscribe_to_events(at)
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        // Its variables stay inside unless output mappings take them out.
        if !at.element().outputs.is_empty() {
            work.apply_outputs(at, &Document::empty())?;
        }
        Ok(Leave::All)
    }
}
