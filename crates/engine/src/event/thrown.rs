//! Propagation of thrown events: from scope to scope, and from a called instance to the call activity.

use bpmn::graph::{ElementIndex, ElementKind, Trigger};
use protocol::Key;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::{Cancelling, ElementInstance, Phase};

/// Scopes above an element instance that a search looks at. A guard above the call depth and what models nest.
const MAX_LEVELS: usize = 100_000;

/// Outcome of a search upward.
pub(crate) enum Search<T> {
    Found(T),
    /// No element instance up to the top has caught it.
    Top,
    /// Something else ends one on the way already: it comes too late for everybody above.
    TooLate,
}

impl CommandContext<'_> {
    /// Visits the catchers of an element instance's throw, from the inside outward, until one of them catches it.
    pub(super) fn look_upward<T>(
        &mut self,
        thrower: Key,
        mut look: impl FnMut(&ActiveElement, &ElementInstance) -> Option<T>,
    ) -> Result<Search<T>, Failure> {
        let mut key = thrower;
        // Whether an event sub-process on the way has interrupted its scope: nobody in this process catches it then.
        let mut in_interrupting = false;
        for _ in 0..MAX_LEVELS {
            let Some((at, row)) = self.at(key)? else { break };
            if row.phase == Phase::Terminating || row.interrupted || row.pending_event.is_some() {
                return Ok(Search::TooLate);
            }
            if (row.phase == Phase::Activated || key == thrower)
                && !in_interrupting
                && let Some(found) = look(&at, &row)
            {
                return Ok(Search::Found(found));
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
        Ok(Search::Top)
    }
}

/// The events of an element instance that may catch something thrown, with what they wait for.
pub(crate) fn catch_events<'a>(
    at: &'a ActiveElement,
    row: &ElementInstance,
) -> impl Iterator<Item = (ElementIndex, &'a Trigger)> {
    let element = at.element();
    // Compensation of a cancelled transaction concerns no element inside.
    let inside = if row.cancelling == Cancelling::No { &element.event_starts[..] } else { &[] };
    inside.iter().chain(&element.boundary_events).filter_map(move |&event| {
        let trigger = match &at.process.element(event).kind {
            ElementKind::Boundary(boundary) => &boundary.trigger,
            ElementKind::StartEvent(start) => &start.trigger,
            _ => return None,
        };
        Some((event, trigger))
    })
}

/// Whether this is an event sub-process that ended everything else in its scope.
fn is_interrupting(at: &ActiveElement) -> bool {
    let ElementKind::EventSubProcess { start } = at.element().kind else { return false };
    at.process.interrupts(start)
}
