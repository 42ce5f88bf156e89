//! BPMN errors: who catches one.

use bpmn::graph::{ElementIndex, ElementKind, Trigger};
use protocol::{Document, Key, Name};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::PendingEvent;
use crate::event::thrown::{Search, catch_events};

impl CommandContext<'_> {
    /// Throws an error to the event that [`Self::find_error_catch`] found. False if there is none.
    pub fn throw_error(
        &mut self,
        caught: Option<(ActiveElement, ElementIndex)>,
        variables: &Document,
    ) -> Result<bool, Failure> {
        let Some((at, event)) = caught else { return Ok(false) };
        let pending = PendingEvent { element: event, variables: variables.clone() };
        if matches!(at.process.element(event).kind, ElementKind::StartEvent(_)) {
            self.interrupt_by_event_sub_process(&at, pending)?;
        } else {
            self.interrupt(&at, pending)?;
        }
        Ok(true)
    }

    /// The catch event of an error: from the thrower upward, over calls too. An exact code beats a catch-all, however
    /// near that is.
    pub fn find_error_catch(
        &mut self,
        thrower: Key,
        code: &Name,
    ) -> Result<Option<(ActiveElement, ElementIndex)>, Failure> {
        let mut catch_all = None;
        let search = self.look_upward(thrower, |at, row| {
            for (event, trigger) in catch_events(at, row) {
                match trigger {
                    Trigger::Error(Some(wanted)) if **wanted == **code => return Some((at.clone(), event)),
                    Trigger::Error(None) => {
                        catch_all.get_or_insert_with(|| (at.clone(), event));
                    }
                    _ => {}
                }
            }
            None
        })?;
        Ok(match search {
            Search::Found(found) => Some(found),
            Search::Top => catch_all,
            Search::TooLate => None,
        })
    }
}
