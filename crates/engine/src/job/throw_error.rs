//! Throws a BPMN error from a job.

use protocol::{Intent, JobKind, Rejection, Response, ThrowError};

use super::complete_job::wrong_state;
use super::lease::check_lease;
use super::record::JobNews;
use crate::core::context::CommandContext;
use crate::core::counters::JobAction;
use crate::core::effects::JobEnd;
use crate::core::failure::Failure;
use crate::entity::{ErrorType, JobState};

impl CommandContext<'_> {
    pub(super) fn throw_job_error(&mut self, throw: &ThrowError) -> Result<Response, Failure> {
        let key = throw.job_key;
        let mut job = self.find_job(key, "throw an error for")?;
        check_lease(key, &job, throw.lease.as_ref(), "throw an error for")?;
        if matches!(job.kind, JobKind::ExecutionListener | JobKind::TaskListener) {
            return Err(Rejection::invalid_state(format!(
                "Expected to throw an error for job with key '{key}', but a job of kind '{}' cannot throw errors",
                job.kind.as_str()
            ))
            .into());
        }
        match job.state {
            JobState::Activatable | JobState::Activated => {}
            state => return Err(wrong_state("throw an error for", key, state).into()),
        }
        self.leave_state(key, &job);
        job.state = JobState::ErrorThrown;
        job.due_ms = -1;
        job.error_message = self.options.cut_message(&throw.error_message);
        self.counters.count_job(JobAction::ErrorThrown);
        self.effects.ended_jobs.push((key, JobEnd::Answered));
        let caught = self.find_error_catch(job.element_instance_key, &throw.error_code)?;
        let news = JobNews {
            variables: Some(&throw.variables),
            error_code: &throw.error_code,
            is_uncaught: caught.is_none(),
            ..JobNews::default()
        };
        self.record_job_news(key, Intent::ErrorThrown, &job, &news)?;
        if self.throw_error(caught, &throw.variables)? {
            self.tables.element_instances.update(&job.element_instance_key, |row| row.job_key = None)?;
            self.tables.jobs.delete(&key);
            self.settle_history(key, &job, false);
        } else {
            let mut message = format!(
                "Expected to throw an error event with the code '{}', but it was not caught.",
                throw.error_code
            );
            if !throw.error_message.is_empty() {
                message.push_str(&format!(" Error message: {}", throw.error_message));
            }
            self.tables.jobs.put(key, job.clone());
            self.raise_for_job(key, &job, ErrorType::UnhandledErrorEvent, &message)?;
        }
        Ok(Response::Done)
    }
}
