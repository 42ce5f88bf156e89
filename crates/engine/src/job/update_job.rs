//! Changes retries or timeout of a job.

use protocol::{Intent, Rejection, Response, UpdateJob};

use super::complete_job::wrong_state;
use super::record::JobNews;
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::JobState;

impl CommandContext<'_> {
    pub(super) fn update_job(&mut self, update: &UpdateJob) -> Result<Response, Failure> {
        let key = update.job_key;
        let mut job = self.find_job(key, "update")?;
        if update.retries.is_none() && update.timeout_ms.is_none() {
            return Err(Rejection::invalid_argument(format!(
                "Expected to update job with key '{key}', but neither retries nor timeout are given"
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
        let intent = match (update.retries, update.timeout_ms) {
            (Some(_), None) => Intent::RetriesUpdated,
            (None, _) => Intent::TimeoutUpdated,
            (Some(_), Some(_)) => Intent::Updated,
        };
        let changed: &[&str] = match intent {
            Intent::RetriesUpdated => &["retries"],
            Intent::TimeoutUpdated => &["timeout"],
            _ => &["retries", "timeout"],
        };
        let timeout_ms = update.timeout_ms.unwrap_or(-1);
        self.record_job_news(key, intent, &job, &JobNews { timeout_ms, changed, ..JobNews::default() })?;
        self.tables.jobs.put(key, job);
        Ok(Response::Done)
    }
}
