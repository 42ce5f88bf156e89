//! Completes a job.

use planted::Bug;
use protocol::{CompleteJob, Intent, JobKind, JobListenerEventType, JobResult, Key, Rejection, Response};

use super::lease::check_lease;
use super::record::JobNews;
use crate::core::context::CommandContext;
use crate::core::counters::JobAction;
use crate::core::effects::JobEnd;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{Job, JobState};

/// For a planted bug: the same jobs on every replica.
fn is_hundredth(key: Key) -> bool {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(100)
}

impl CommandContext<'_> {
    pub(super) fn complete_job(&mut self, complete: &CompleteJob) -> Result<Response, Failure> {
        let key = complete.job_key;
        let job = self.find_job(key, "complete")?;
        if planted::has(Bug::DroppedCompletions) && is_hundredth(key) {
            return Ok(Response::Done);
        }
        check_lease(key, &job, complete.lease.as_ref(), "complete")?;
        match job.state {
            JobState::Activatable | JobState::Activated => {}
            state => return Err(wrong_state("complete", key, state).into()),
        }
        check_result(key, &job, complete)?;
        self.check_room_of_completion(&job, complete)?;
        if let Some(claim) = &complete.business_id {
            self.assign_business_id(job.process_instance_key, claim)?;
        }
        match job.kind {
            JobKind::BpmnElement => {
                self.end_completed_job(key, &job, complete)?;
                let variables = complete.variables.clone();
                self.steps.push_back(Step::Complete { key: job.element_instance_key, variables });
            }
            JobKind::AdHocSubProcess => {
                let (at, decision) = self.ad_hoc_decision(key, &job, complete)?;
                self.end_completed_job(key, &job, complete)?;
                self.decide_ad_hoc(&at, decision, &complete.variables)?;
            }
            JobKind::ExecutionListener => {
                self.end_completed_job(key, &job, complete)?;
                if let Some((at, row)) = self.at(job.element_instance_key)? {
                    self.listener_done(&at, &row, job.listener_event_type, &complete.variables)?;
                }
            }
            JobKind::TaskListener => {
                self.check_task_result(key, &job, complete)?;
                self.end_completed_job(key, &job, complete)?;
                self.task_listener_done(&job, complete)?;
            }
        }
        Ok(Response::Done)
    }

    /// Removes a completed job.
    fn end_completed_job(&mut self, key: Key, job: &Job, complete: &CompleteJob) -> Result<(), Failure> {
        self.remove_job(key, job);
        self.settle_history(key, job, true);
        self.counters.count_job(JobAction::Completed);
        self.effects.ended_jobs.push((key, JobEnd::Answered));
        let lived_ms = self.now_ms() - job.created_ms;
        self.effects.latencies.job_life_ms.push(lived_ms);
        let news = JobNews {
            variables: Some(&complete.variables),
            result: complete.result.as_deref(),
            ..JobNews::default()
        };
        self.record_job_news(key, Intent::Completed, job, &news)?;
        self.tables.element_instances.update(&job.element_instance_key, |row| row.job_key = None)?;
        Ok(())
    }

    /// Refuses variables that have no room where the job leaves them.
    fn check_room_of_completion(&mut self, job: &Job, complete: &CompleteJob) -> Result<(), Failure> {
        let (key, variables) = (job.element_instance_key, &complete.variables);
        match job.kind {
            JobKind::TaskListener => Ok(()),
            JobKind::ExecutionListener if job.listener_event_type == JobListenerEventType::End => {
                let Some(row) = self.tables.element_instances.get(&key)? else { return Ok(()) };
                let scope_key = if row.scope_key == 0 { key } else { row.scope_key };
                self.refuse_without_room(job.process_instance_key, variables, |work, name| {
                    work.tables.owning_scope(scope_key, name)
                })
            }
            JobKind::ExecutionListener => {
                self.refuse_without_room(job.process_instance_key, variables, |_, _| Ok(key))
            }
            JobKind::AdHocSubProcess => {
                self.refuse_without_room(job.process_instance_key, variables, |work, name| {
                    work.tables.owning_scope(key, name)
                })
            }
            JobKind::BpmnElement => self.refuse_completion_without_room(key, variables),
        }
    }
}

/// A result belongs to the kind of job it is made for.
fn check_result(key: Key, job: &Job, complete: &CompleteJob) -> Result<(), Failure> {
    let Some(result) = complete.result.as_ref().filter(|result| !result.is_empty()) else { return Ok(()) };
    let fits = match &**result {
        JobResult::UserTask { .. } => job.kind == JobKind::TaskListener,
        JobResult::AdHocSubProcess { .. } => job.kind == JobKind::AdHocSubProcess,
    };
    if fits {
        return Ok(());
    }
    Err(Rejection::invalid_argument(format!(
        "Expected to complete job with key '{key}', but a job of kind '{}' cannot have such a result",
        job.kind.as_str()
    ))
    .into())
}

/// A job cannot do this in its state.
pub(crate) fn wrong_state(purpose: &str, key: u64, state: JobState) -> Rejection {
    let state = match state {
        JobState::Activatable => "is not activated",
        JobState::Activated => "is activated",
        JobState::Backoff => "is in state 'FAILED' and waits for its backoff to end",
        JobState::Failed => "is in state 'FAILED' and has an incident",
        JobState::ErrorThrown => "is in state 'ERROR_THROWN'",
        JobState::Held => "waits until its process instance has been resumed",
    };
    Rejection::invalid_state(format!("Expected to {purpose} job with key '{key}', but it {state}"))
}
