//! Tasks and throw events that a job worker does.

use bpmn::graph::ElementKind;
use protocol::Document;

use super::{Behavior, Next};
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct JobTask;

impl Behavior for JobTask {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        let ElementKind::Job(definition) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let (job_type, retries) = work.evaluate_job(at, &definition.job_type, &definition.retries)?;
        let linked = work.linked_resources(at, &definition.linked_resources)?;
        work.subscribe_to_events(at)?;
        work.create_job(at, (job_type, retries), linked)?;
        Ok(Next::Wait)
    }
}
