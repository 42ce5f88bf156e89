//! Tasks and throw events that a job worker does.

use bpmn::graph::ElementKind;
use protocol::{Document, Name};

use super::{Behavior, Next};
use crate::entity::ErrorType;
use crate::expression::Scope;
use crate::failure::Failure;
use crate::work::{At, Work};

pub(super) struct JobTask;

impl Behavior for JobTask {
    fn activate(&self, work: &mut Work, at: &At, _trigger: Option<&Document>) -> Result<Next, Failure> {
        let ElementKind::Job(definition) = &at.element().kind else {
            return Ok(Next::Complete(Document::empty()));
        };
        let scope = Scope::of(at.key);
        let job_type = work.evaluate_text(&definition.job_type, &scope)?;
        let retries = work.evaluate_integer(&definition.retries, &scope)?;
        if job_type.is_empty() || job_type.chars().count() > work.options.max_name_chars {
            let message = format!("Expected a job type of 1 to {} characters", work.options.max_name_chars);
            return Err(Failure::incident(ErrorType::ExtractValueError, message));
        }
        let retries = i32::try_from(retries).map_err(|_| {
            Failure::incident(
                ErrorType::ExtractValueError,
                format!("Expected a number of retries, but '{retries}' is too large"),
            )
        })?;
        work.subscribe_boundary_events(at)?;
        work.create_job(at, Name::clone(&job_type), retries)?;
        Ok(Next::Wait)
    }
}
