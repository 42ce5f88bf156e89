//! Intermediate catch events and boundary events.

use protocol::Document;

use super::{Behavior, Next};
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct CatchEvent;

impl Behavior for CatchEvent {
    fn activate(&self, work: &mut Work, at: &At, trigger: Option<&Document>) -> Result<Next, Failure> {
        if trigger.is_some() {
            return Ok(Next::Complete);
        }
        work.subscribe(at, &[at.index])?;
        Ok(Next::Wait)
    }
}
