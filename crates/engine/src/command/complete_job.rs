//! Completes a job.

use protocol::{CompleteJob, Intent, JobKind, Rejection, Response};

use crate::counters::JobAction;
use crate::entity::JobState;
use crate::failure::Failure;
use crate::step::Step;
use crate::work::Work;

impl Work<'_> {
    pub(super) fn complete_job(&mut self, complete: &CompleteJob) -> Result<Response, Failure> {
        let key = complete.job_key;
        let job = self.find_job(key, "complete")?;
        match job.state {
            JobState::Activatable | JobState::Activated => {}
            state => return Err(wrong_state("complete", key, state).into()),
        }
        self.remove_job(key, &job);
        self.counters.count_job(JobAction::Completed);
        let lived_ms = self.now_ms() - job.created_ms;
        self.effects.latencies.job_life_ms.push(lived_ms);
        self.record_job(key, Intent::Completed, &job, &complete.variables, "", -1);
        self.tables.element_instances.update(&job.element_instance_key, |row| row.job_key = None)?;
        if job.kind == JobKind::ExecutionListener {
            if let Some((at, row)) = self.at(job.element_instance_key)? {
                self.listener_done(&at, &row, job.listener_event_type, &complete.variables)?;
            }
            return Ok(Response::Done);
        }
        self.steps.push_back(Step::Complete {
            key: job.element_instance_key,
            variables: complete.variables.clone(),
        });
        Ok(Response::Done)
    }
}

/// A job cannot do this in its state.
pub(super) fn wrong_state(purpose: &str, key: u64, state: JobState) -> Rejection {
    let state = match state {
        JobState::Activatable => "is not activated",
        JobState::Activated => "is activated",
        JobState::Backoff => "is in state 'FAILED' and waits for its backoff to end",
        JobState::Failed => "is in state 'FAILED' and has an incident",
        JobState::ErrorThrown => "is in state 'ERROR_THROWN'",
    };
    Rejection::invalid_state(format!("Expected to {purpose} job with key '{key}', but it {state}"))
}
