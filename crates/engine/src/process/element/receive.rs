//! Receive task.

use protocol::Document;

use super::{Behavior, Next};
use crate::core::failure::Failure;
use crate::core::work::{At, Work};

pub(super) struct Receive;

impl Behavior for Receive {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        let mut events = vec![at.index];
        events.extend_from_slice(&at.element().boundary_events);
        work.subscribe(at, &events)?;
        Ok(Next::Wait)
    }
}
