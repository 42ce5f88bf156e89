//! Changes retries, timeout or priority of a job.

use protocol::{Intent, Key, Rejection, Response, UpdateJob};

use super::complete_job::wrong_state;
use super::lease::check_lease;
use super::record::JobNews;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::{Job, JobState};

impl CommandContext<'_> {
    pub(super) fn update_job(&mut self, update: &UpdateJob) -> Result<Response, Failure> {
        let key = update.job_key;
        let mut job = self.find_job(key, "update")?;
        check_lease(key, &job, update.lease.as_ref(), "update")?;
        if update.retries.is_none() && update.timeout_ms.is_none() && update.priority.is_none() {
            return Err(Rejection::invalid_argument(format!(
                "Expected to update job with key '{key}', but neither retries nor timeout nor priority are given"
            ))
            .into());
        }
        if let Some(retries) = update.retries {
            if retries < 1 {
                return Err(Rejection::invalid_argument(format!(
                    "Expected to update retries for job with key '{key}' with a positive amount of retries, but the amount given was '{retries}'"
                ))
                .into());
            }
            job.retries = retries;
        }
        if let Some(timeout_ms) = update.timeout_ms {
            if job.state != JobState::Activated {
                return Err(wrong_state("update the timeout of", key, job.state).into());
            }
            self.leave_state(key, &job);
            job.due_ms = self.now_ms().saturating_add(timeout_ms);
            self.tables.job_due.put((job.due_ms, key), ());
        }
        if let Some(priority) = update.priority {
            self.reprioritize(key, &mut job, priority);
        }
        let changes = [
            ("retries", Intent::RetriesUpdated, update.retries.is_some()),
            ("timeout", Intent::TimeoutUpdated, update.timeout_ms.is_some()),
            ("priority", Intent::PriorityUpdated, update.priority.is_some()),
        ];
        let changes: Vec<_> = changes.into_iter().filter(|(_, _, is_changed)| *is_changed).collect();
        let intent = if let [(_, intent, _)] = changes[..] { intent } else { Intent::Updated };
        let changed: &[&str] = &changes.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
        let timeout_ms = update.timeout_ms.unwrap_or(-1);
        self.record_job_news(key, intent, &job, &JobNews { timeout_ms, changed, ..JobNews::default() })?;
        self.tables.jobs.put(key, job);
        Ok(Response::Done)
    }

    /// Gives a job another place in the queue, if it is there.
    fn reprioritize(&mut self, key: Key, job: &mut Job, priority: i32) {
        let is_queued = job.state == JobState::Activatable;
        if is_queued {
            self.leave_queue(key, job);
        }
        job.set_priority(priority);
        if is_queued {
            self.join_queue(key, job);
        }
    }
}
