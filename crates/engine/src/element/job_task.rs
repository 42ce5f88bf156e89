//! Tasks and throw events that a job worker does.

use bpmn::graph::ElementKind;
use protocol::{Document, Name};

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
        let mut more_headers = work.linked_resources(at, &definition.linked_resources)?;
        if let Some(reference) = &definition.form {
            // Only a user task has a form, and only a service task has links.
            let key = work.resolve_form(at, reference)?;
            more_headers = Some(Name::from(format!(r#""io.camunda.zeebe:formKey":"{key}""#)));
        }
        work.subscribe_to_events(at)?;
        work.create_job(at, (job_type, retries), more_headers)?;
        Ok(Next::Wait)
    }
}
