//! Event-based gateway: waits on behalf of the catch events behind it.

use protocol::{Document, Rejection};

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::entity::Leave;

pub(super) struct EventBased;

impl Behavior for EventBased {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let events: Vec<_> = at.element().outgoing.iter().map(|&flow| at.process.flow(flow).target).collect();
        work.subscribe(at, &events)?;
        Ok(Next::Wait)
    }

    fn complete(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _variables: &Document,
    ) -> Result<Leave, Failure> {
        let row = work.tables.element_instances.get(&at.key)?;
        let event = row.and_then(|row| row.pending_event.clone());
        let chosen = event.and_then(|event| {
            let flow =
                at.element().outgoing.iter().find(|&&flow| at.process.flow(flow).target == event.element)?;
            Some(Leave::ByEvent(*flow, event.variables))
        });
        chosen.ok_or_else(|| {
            Rejection::invalid_state(format!(
                "Expected an event at gateway '{}', but none happened",
                at.element().id
            ))
            .into()
        })
    }
}
