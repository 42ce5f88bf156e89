//! Embedded sub-process.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::{Behavior, Leave, Next};
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct SubProcess;

impl Behavior for SubProcess {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        self.enter(work, at)?;
        if let ElementKind::SubProcess { start } = at.element().kind {
            work.start_child(at, start, None)?;
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
