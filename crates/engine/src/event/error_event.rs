//! BPMN errors: who catches one.

use bpmn::graph::{ElementIndex, ElementKind, Trigger};
use protocol::{Document, Key, Name};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::PendingEvent;
use crate::event::thrown::{Search, catch_events};

impl CommandContext<'_> {
    /// Throws an error from an element instance. False if nobody catches it.
    ///
    /// Looked for from the thrower upward, over calls too. An exact code beats a catch-all, however near that is.
    pub fn throw_error(&mut self, thrower: Key, code: &Name, variables: &Document) -> Result<bool, Failure> {
        match self.find_error_catch(thrower, code)? {
            Some((at, event)) => self.catch(&at, event, variables),
            None => Ok(false),
        }
    }

    /// The catch event of an error.
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

    fn catch(
        &mut self,
        at: &ActiveElement,
        event: ElementIndex,
        variables: &Document,
    ) -> Result<bool, Failure> {
        let pending = PendingEvent { element: event, variables: variables.clone() };
        if matches!(at.process.element(event).kind, ElementKind::StartEvent(_)) {
            self.interrupt_by_event_sub_process(at, pending)?;
        } else {
            self.interrupt(at, pending)?;
        }
        Ok(true)
    }
}
