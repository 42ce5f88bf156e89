//! Fails a job: back into the queue, at once or after a backoff, or an incident when no retries are left.

use protocol::{FailJob, Intent, Response};

use super::complete_job::wrong_state;
use super::lease::check_lease;
use crate::core::context::CommandContext;
use crate::core::counters::JobAction;
use crate::core::effects::JobEnd;
use crate::core::failure::Failure;
use crate::entity::JobState;
use crate::job::no_retries;

impl CommandContext<'_> {
    pub(super) fn fail_job(&mut self, fail: &FailJob) -> Result<Response, Failure> {
        let key = fail.job_key;
        let mut job = self.find_job(key, "fail")?;
        check_lease(key, &job, fail.lease.as_ref(), "fail")?;
        match job.state {
            // A worker that was too slow for a job has something to tell, too.
            JobState::Activated | JobState::Activatable => {}
            state => return Err(wrong_state("fail", key, state).into()),
        }
        let scope_key = job.element_instance_key;
        self.refuse_without_room(job.process_instance_key, &fail.variables, |_, _| Ok(scope_key))?;
        self.leave_state(key, &job);
        job.retries = fail.retries;
        job.retry_backoff_ms = fail.retry_backoff_ms.max(0);
        job.error_message = self.options.cut_message(&fail.error_message);
        if fail.retries > 0 && fail.retry_backoff_ms > 0 {
            job.state = JobState::Backoff;
            job.due_ms = self.now_ms().saturating_add(fail.retry_backoff_ms);
            self.tables.job_due.insert((job.due_ms, key), ());
        } else {
            job.state = JobState::Failed;
            job.due_ms = -1;
        }
        self.counters.count_job(JobAction::Failed);
        self.effects.ended_jobs.push((key, JobEnd::Failed));
        self.record_job(key, Intent::Failed, &job, &fail.variables, "", -1)?;
        self.set_locals(job.element_instance_key, job.process_instance_key, &fail.variables)?;
        if fail.retries > 0 && fail.retry_backoff_ms <= 0 {
            self.enqueue(key, &mut job);
        } else if fail.retries <= 0 {
            let message = if fail.error_message.is_empty() {
                "No more retries left."
            } else {
                fail.error_message.as_str()
            };
            self.raise_for_job(key, &job, no_retries(job.kind), message)?;
        }
        self.tables.jobs.put(key, job);
        Ok(Response::Done)
    }
}
