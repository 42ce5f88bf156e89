//! The process itself.

use protocol::{Document, Response};

use super::{Behavior, Leave, Next};
use crate::failure::Failure;
use crate::instance::created;
use crate::step::Step;
use crate::work::{At, Work};

pub(super) struct Process;

impl Behavior for Process {
    fn activate(&self, _work: &mut Work, _at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        // `Work::start_instance` has done it all.
        Ok(Next::Wait)
    }

    fn complete(&self, work: &mut Work, at: &At, _variables: &Document) -> Result<Leave, Failure> {
        if let Some(parent) = at.instance.parent {
            let variables = work.visible_variables(at.key, &[])?;
            work.steps.push_back(Step::Complete { key: parent.element_instance_key, variables });
        }
        if let Some(wait) = &at.instance.await_result {
            let variables = work.visible_variables(at.key, &wait.fetch_variables)?;
            let instance = created(&at.instance, at.key);
            work.effects
                .late_responses
                .push((wait.request_id, Ok(Response::InstanceCompleted { instance, variables })));
        }
        Ok(Leave::All)
    }
}
