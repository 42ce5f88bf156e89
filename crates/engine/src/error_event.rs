//! BPMN errors: who catches one.

use bpmn::graph::{ElementIndex, ElementKind, Trigger};
use protocol::{Document, Key, Name};

use crate::entity::{Cancelling, PendingEvent, Phase};
use crate::failure::Failure;
use crate::work::{At, Work};

/// How far up a thrown error is looked after; a guard above the call depth and what models nest.
pub(crate) const MAX_LEVELS: usize = 100_000;

impl Work<'_> {
    /// Throws an error from an element instance. False if nobody catches it.
    ///
    /// Looked for from the thrower upward, over calls too. An exact code beats a catch-all, however near that is.
    pub fn throw_error(&mut self, thrower: Key, code: &Name, variables: &Document) -> Result<bool, Failure> {
        match self.find_error_catch(thrower, code)? {
            Some((at, event)) => self.catch(&at, event, variables),
            None => Ok(false),
        }
    }

    /// Who catches an error now.
    pub fn find_error_catch(
        &mut self,
        thrower: Key,
        code: &Name,
    ) -> Result<Option<(At, ElementIndex)>, Failure> {
        let mut catch_all: Option<(At, ElementIndex)> = None;
        let mut key = thrower;
        // Whether an event sub-process on the way has interrupted its scope: nobody in this process catches it then.
        let mut in_interrupting = false;
        for _ in 0..MAX_LEVELS {
            let Some((at, row)) = self.at(key)? else { break };
            // Something else ends it already; the error comes too late for everybody above.
            if row.phase == Phase::Terminating || row.interrupted || row.pending_event.is_some() {
                return Ok(None);
            }
            if (row.phase == Phase::Activated || key == thrower) && !in_interrupting {
                let element = at.element();
                // What a cancelled transaction undoes concerns nobody inside any more.
                let inside = if row.cancelling == Cancelling::No { &element.event_starts[..] } else { &[] };
                for &event in inside.iter().chain(&element.boundary_events) {
                    match trigger_of(&at, event) {
                        Some(Trigger::Error(Some(wanted))) if **wanted == **code => {
                            return Ok(Some((at.clone(), event)));
                        }
                        Some(Trigger::Error(None)) if catch_all.is_none() => {
                            catch_all = Some((at.clone(), event));
                        }
                        _ => {}
                    }
                }
            }
            in_interrupting |= is_interrupting(&at);
            key = match (at.scope_key, at.instance.parent) {
                (0, Some(parent)) => {
                    in_interrupting = false;
                    parent.element_instance_key
                }
                (0, None) => break,
                (scope_key, _) => scope_key,
            };
        }
        Ok(catch_all)
    }

    fn catch(&mut self, at: &At, event: ElementIndex, variables: &Document) -> Result<bool, Failure> {
        let pending = PendingEvent { element: event, variables: variables.clone() };
        if matches!(at.process.element(event).kind, ElementKind::StartEvent(_)) {
            self.interrupt_by_event_sub_process(at, pending)?;
        } else {
            self.interrupt(at, pending)?;
        }
        Ok(true)
    }
}

/// What a catch event at an element instance waits for.
pub(crate) fn trigger_of(at: &At, event: ElementIndex) -> Option<&Trigger> {
    match &at.process.element(event).kind {
        ElementKind::Boundary(boundary) => Some(&boundary.trigger),
        ElementKind::StartEvent(start) => Some(&start.trigger),
        _ => None,
    }
}

/// Whether this is an event sub-process that ended everything else in its scope.
pub(crate) fn is_interrupting(at: &At) -> bool {
    let ElementKind::EventSubProcess { start } = at.element().kind else { return false };
    matches!(&at.process.element(start).kind, ElementKind::StartEvent(start) if start.interrupting)
}
