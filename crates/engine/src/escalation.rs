//! Escalations: who catches one.

use bpmn::graph::{ElementIndex, Trigger};
use protocol::{Document, EscalationRecord, Intent, Name};

use crate::entity::{Cancelling, Phase};
use crate::error_event::{MAX_LEVELS, is_interrupting, trigger_of};
use crate::failure::Failure;
use crate::work::{At, Work};

impl Work<'_> {
    /// Throws an escalation from a throw event. True if that interrupts the scope it stands in.
    pub fn throw_escalation(&mut self, thrower: &At, code: &Name) -> Result<bool, Failure> {
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
        thrower: &At,
        code: &Name,
    ) -> Result<Option<(At, ElementIndex)>, Failure> {
        let mut key = thrower.key;
        let mut in_interrupting = false;
        for _ in 0..MAX_LEVELS {
            let Some((at, row)) = self.at(key)? else { break };
            if row.phase == Phase::Terminating || row.interrupted || row.pending_event.is_some() {
                break;
            }
            if row.phase == Phase::Activated && !in_interrupting {
                let mut catch_all = None;
                let element = at.element();
                // What a cancelled transaction undoes concerns nobody inside any more.
                let inside = if row.cancelling == Cancelling::No { &element.event_starts[..] } else { &[] };
                for &event in inside.iter().chain(&element.boundary_events) {
                    match trigger_of(&at, event) {
                        Some(Trigger::Escalation(Some(wanted))) if **wanted == **code => {
                            return Ok(Some((at.clone(), event)));
                        }
                        Some(Trigger::Escalation(None)) => {
                            catch_all.get_or_insert(event);
                        }
                        _ => {}
                    }
                }
                if let Some(event) = catch_all {
                    return Ok(Some((at, event)));
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
        Ok(None)
    }
}
