//! Receive task.

use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;

pub(super) struct Receive;

impl Behavior for Receive {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let mut events = vec![at.index];
        events.extend_from_slice(&at.element().boundary_events);
        work.subscribe(at, &events)?;
        Ok(Next::Wait)
    }
}
