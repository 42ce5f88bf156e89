//! Elements that only pass the token on: manual and undefined tasks, none throw events, parallel gateways (their
//! join is where tokens arrive, in the life cycle).

use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;

pub(super) struct PassThrough;

impl Behavior for PassThrough {
    fn activate(
        &self,
        _work: &mut CommandContext,
        _at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        Ok(Next::Complete(Document::empty()))
    }
}
