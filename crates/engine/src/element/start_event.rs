//! Start event: none, or one whose message or timer has come.

use protocol::Document;

use super::{Behavior, Next};
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct StartEvent;

impl Behavior for StartEvent {
    fn activate(&self, _work: &mut Work, _at: &At, trigger: Option<&Document>) -> Result<Next, Failure> {
        Ok(Next::Complete(trigger.cloned().unwrap_or_default()))
    }
}
