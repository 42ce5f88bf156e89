//! User task that people do through the API.

use protocol::Document;

use super::kind::{Behavior, Next};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;

pub(super) struct UserTask;

impl Behavior for UserTask {
    fn activate(
        &self,
        work: &mut CommandContext,
        at: &ActiveElement,
        _trigger: Option<&Document>,
    ) -> Result<Next, Failure> {
        let Some(attributes) = work.evaluate_task_attributes(at)? else {
            return Ok(Next::Complete(Document::empty()));
        };
        work.subscribe_to_events(at)?;
        work.create_user_task(at, attributes, work.now_ms())?;
        Ok(Next::Wait)
    }
}
