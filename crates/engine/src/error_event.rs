//! BPMN errors: who catches one.

use bpmn::graph::{ElementIndex, ElementKind, Trigger};
use protocol::{Document, Key, Name};

use crate::entity::{PendingEvent, Phase};
use crate::failure::Failure;
use crate::work::{At, Work};

/// How far up a thrown error is looked after; a guard above the call depth and what models nest.
const MAX_LEVELS: usize = 100_000;

impl Work<'_> {
    /// Throws an error from an element instance. False if nobody catches it.
    ///
    /// Looked for from the thrower upward, over calls too. An exact code beats a catch-all, however near that is.
    pub fn throw_error(&mut self, thrower: Key, code: &Name, variables: &Document) -> Result<bool, Failure> {
        let mut catch_all: Option<(At, ElementIndex)> = None;
        let mut key = thrower;
        for _ in 0..MAX_LEVELS {
            let Some((at, row)) = self.at(key)? else { break };
            // Something else ends it already; the error comes too late for everybody above.
            if row.phase == Phase::Terminating || row.interrupted || row.pending_event.is_some() {
                return Ok(false);
            }
            if row.phase == Phase::Activated || key == thrower {
                for &event in &at.element().boundary_events {
                    let ElementKind::Boundary(boundary) = &at.process.element(event).kind else { continue };
                    match &boundary.trigger {
                        Trigger::Error(Some(wanted)) if **wanted == **code => {
                            return self.catch(&at, event, variables);
                        }
                        Trigger::Error(None) if catch_all.is_none() => catch_all = Some((at.clone(), event)),
                        _ => {}
                    }
                }
            }
            key = match (at.scope_key, at.instance.parent) {
                (0, Some(parent)) => parent.element_instance_key,
                (0, None) => break,
                (scope_key, _) => scope_key,
            };
        }
        match catch_all {
            Some((at, event)) => self.catch(&at, event, variables),
            None => Ok(false),
        }
    }

    fn catch(&mut self, at: &At, event: ElementIndex, variables: &Document) -> Result<bool, Failure> {
        self.interrupt(at, PendingEvent { element: event, variables: variables.clone() })?;
        Ok(true)
    }
}
