//! Escalations: who catches one.

use bpmn::graph::{ElementIndex, Trigger};
use protocol::{Document, EscalationRecord, Intent, Name};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::event::thrown::{Search, catch_events};

impl CommandContext<'_> {
    /// Throws an escalation from a throw event. True if that interrupts the scope it stands in.
    pub fn throw_escalation(&mut self, thrower: &ActiveElement, code: &Name) -> Result<bool, Failure> {
        let caught = self.find_escalation_catch(thrower, code)?;
        let key = self.next_key();
        let intent = if caught.is_some() { Intent::Escalated } else { Intent::NotEscalated };
        self.emit(key, intent, |_| EscalationRecord {
            process_instance_key: thrower.process_instance_key,
            escalation_code: code.clone(),
            throw_element_id: Name::from(&thrower.element().id),
            catch_element_id: caught
                .as_ref()
                .map(|(at, event)| Name::from(&at.process.element(*event).id))
                .unwrap_or_default(),
        });
        let Some((at, event)) = caught else { return Ok(false) };
        self.trigger(at.key, event, &Document::empty())?;
        Ok(at.process.interrupts(event))
    }

    /// The nearest scope that catches it decides; an exact code goes before a catch-all of that scope.
    fn find_escalation_catch(
        &mut self,
        thrower: &ActiveElement,
        code: &Name,
    ) -> Result<Option<(ActiveElement, ElementIndex)>, Failure> {
        let search = self.look_upward(thrower.key, |at, row| {
            let mut catch_all = None;
            for (event, trigger) in catch_events(at, row) {
                match trigger {
                    Trigger::Escalation(Some(wanted)) if **wanted == **code => {
                        return Some((at.clone(), event));
                    }
                    Trigger::Escalation(None) => {
                        catch_all.get_or_insert(event);
                    }
                    _ => {}
                }
            }
            catch_all.map(|event| (at.clone(), event))
        })?;
        Ok(match search {
            Search::Found(found) => Some(found),
            Search::Top | Search::TooLate => None,
        })
    }
}
