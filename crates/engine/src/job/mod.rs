//! Jobs: creation, the queue, and how demand takes from it.

mod activation;
mod complete_job;
mod dispatch;
mod fail_job;
mod headers;
mod lease;
mod listener;
mod queue;
mod record;
mod throw_error;
mod update_job;

use bpmn::graph::{Listener, PROCESS, Text};
use protocol::{Document, Intent, JobKind, JobListenerEventType, Key, Name, Rejection};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::counters::JobAction;
use crate::core::effects::JobEnd;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::definition::expression::Scope;
use crate::entity::{ErrorType, Job, JobState, JobTerms};
use headers::members;
pub(crate) use queue::is_queued;
use record::JobNews;

/// The incident of a job of this kind that has no retries left.
pub(crate) const fn no_retries(kind: JobKind) -> ErrorType {
    match kind {
        JobKind::BpmnElement => ErrorType::JobNoRetries,
        JobKind::AdHocSubProcess => ErrorType::AdHocSubProcessNoRetries,
        JobKind::ExecutionListener => ErrorType::ExecutionListenerNoRetries,
        JobKind::TaskListener => ErrorType::TaskListenerNoRetries,
    }
}

impl CommandContext<'_> {
    /// Type, retries and priority of a job, evaluated.
    pub fn evaluate_job(
        &self,
        at: &ActiveElement,
        job_type: &Text,
        retries: &Text,
    ) -> Result<JobTerms, Failure> {
        let scope = Scope::of(at.key);
        let job_type = self.evaluate_text(job_type, &scope)?;
        if job_type.is_empty() || job_type.chars().count() > self.options.max_name_chars {
            let message = format!("Expected a job type of 1 to {} characters", self.options.max_name_chars);
            return Err(Failure::incident(ErrorType::ExtractValueError, message));
        }
        let retries = self.evaluate_integer(retries, &scope)?;
        let retries = i32::try_from(retries).map_err(|_| {
            Failure::incident(
                ErrorType::ExtractValueError,
                format!("Expected a number of retries, but '{retries}' is too large"),
            )
        })?;
        Ok(JobTerms { job_type, retries, priority: self.evaluate_priority(at)? })
    }

    /// The priority of the jobs of an element: its own, or that of its process.
    pub fn evaluate_priority(&self, at: &ActiveElement) -> Result<i32, Failure> {
        let of_process = || at.process.element(PROCESS).job_priority.as_ref();
        let Some(text) = at.element().job_priority.as_ref().or_else(of_process) else { return Ok(0) };
        let priority = self.evaluate_integer(text, &Scope::of(at.key))?;
        i32::try_from(priority).map_err(|_| {
            let message = format!("Expected a priority of a job that has 32 bits, but it is '{priority}'");
            Failure::incident(ErrorType::ExtractValueError, message)
        })
    }

    /// Creates the job of an element instance, with more headers than the element has.
    pub fn create_job(
        &mut self,
        at: &ActiveElement,
        job: JobTerms,
        more_headers: Option<Name>,
    ) -> Result<(), Failure> {
        self.create_any_job(at, job, JobKind::BpmnElement, JobListenerEventType::Unspecified, more_headers)
    }

    /// Creates a job of some kind for an element instance that waits for no other.
    pub fn create_listener_job(
        &mut self,
        at: &ActiveElement,
        job: JobTerms,
        kind: JobKind,
        listener_event_type: JobListenerEventType,
    ) -> Result<(), Failure> {
        self.create_any_job(at, job, kind, listener_event_type, None)
    }

    /// Creates the job of an execution listener; headers of its own are those that it will have.
    fn create_execution_listener_job(
        &mut self,
        at: &ActiveElement,
        job: JobTerms,
        event_type: JobListenerEventType,
        listener: &Listener,
    ) -> Result<(), Failure> {
        let headers = listener.headers_json.as_deref().map(members);
        self.create_any_job(at, job, JobKind::ExecutionListener, event_type, headers)
    }

    fn create_any_job(
        &mut self,
        at: &ActiveElement,
        JobTerms { job_type, retries, priority }: JobTerms,
        kind: JobKind,
        listener_event_type: JobListenerEventType,
        more_headers: Option<Name>,
    ) -> Result<(), Failure> {
        let key = self.next_key();
        let mut job = Job {
            job_type,
            element_instance_key: at.key,
            process_instance_key: at.process_instance_key,
            element: at.index,
            retries,
            state: JobState::Activatable,
            worker: Name::default(),
            due_ms: -1,
            tenant_id: at.instance.tenant_id.clone(),
            kind,
            error_message: Name::default(),
            created_ms: self.now_ms(),
            listener_event_type,
            more_headers,
            retry_backoff_ms: 0,
            ranked: None,
            lease: None,
            tells_history: None,
        };
        job.set_priority(priority);
        self.counters.count_job(JobAction::Created);
        self.record_job(key, Intent::Created, &job, &Document::empty(), "", -1)?;
        self.tables.element_instances.update(&at.key, |row| row.job_key = Some(key))?;
        self.join_queue(key, &job);
        self.effects.queued_types.push(job.job_type.clone());
        self.tables.jobs.insert(key, job);
        Ok(())
    }

    /// Puts a job into the queue, from whatever state it is in.
    pub fn enqueue(&mut self, key: Key, job: &mut Job) {
        self.leave_state(key, job);
        job.state = JobState::Activatable;
        job.due_ms = -1;
        job.lease = None;
        self.join_queue(key, job);
        self.effects.queued_types.push(job.job_type.clone());
    }

    /// Removes the index row that belongs to the state of a job.
    pub(super) fn leave_state(&mut self, key: Key, job: &Job) {
        match job.state {
            JobState::Activatable => self.leave_queue(key, job),
            JobState::Activated | JobState::Backoff => self.tables.job_due.delete(&(job.due_ms, key)),
            JobState::Failed | JobState::ErrorThrown | JobState::Held => {}
        }
    }

    pub(super) fn remove_job(&mut self, key: Key, job: &Job) {
        self.leave_state(key, job);
        self.tables.jobs.delete(&key);
    }

    /// Has what its worker told of an agent hold if the job has completed, and else not.
    pub(super) fn settle_history(&mut self, job_key: Key, job: &Job, is_completed: bool) {
        if job.tells_history == Some(true) {
            let lease = job.lease.clone();
            self.steps.push_back(Step::SettleHistory { job_key, lease, is_completed });
        }
    }

    /// Cancels the job of an element instance that is terminated.
    pub fn cancel_job(&mut self, key: Key) -> Result<(), Failure> {
        self.cancel_job_for(key, &JobNews::default())
    }

    /// Cancels a job whose work people do from now on.
    pub fn hand_over_job(&mut self, key: Key) -> Result<(), Failure> {
        self.cancel_job_for(key, &JobNews { is_handed_over: true, ..JobNews::default() })
    }

    fn cancel_job_for(&mut self, key: Key, news: &JobNews) -> Result<(), Failure> {
        if let Some(job) = self.tables.jobs.get(&key)? {
            self.remove_job(key, &job);
            self.settle_history(key, &job, false);
            self.counters.count_job(JobAction::Canceled);
            self.effects.ended_jobs.push((key, JobEnd::Canceled));
            self.record_job_news(key, Intent::Canceled, &job, news)?;
        }
        Ok(())
    }

    /// The job a command means, unless its instance is banned.
    pub(super) fn find_job(&mut self, key: Key, purpose: &str) -> Result<Job, Failure> {
        let Some(job) = self.tables.jobs.get(&key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to {purpose} job with key '{key}', but no such job was found"
            ))
            .into());
        };
        self.blame(job.process_instance_key);
        if let Some(halt) = self.tables.halt_of(job.process_instance_key)? {
            return Err(Rejection::invalid_state(format!(
                "Expected to {purpose} job with key '{key}', but its process instance '{}' is {halt}",
                job.process_instance_key
            ))
            .into());
        }
        Ok((*job).clone())
    }

    /// Due work of a job: its timeout or the end of its backoff.
    pub fn trigger_job(&mut self, due_ms: i64, key: Key) -> Result<(), Failure> {
        debug_assert!(due_ms <= self.now_ms(), "job {key} is due at {due_ms}, now is {}", self.now_ms());
        let Some(job) = self.tables.jobs.get(&key)? else {
            self.tables.job_due.delete(&(due_ms, key));
            return Ok(());
        };
        self.blame(job.process_instance_key);
        let mut job = (*job).clone();
        let intent = match job.state {
            JobState::Activated => {
                self.counters.count_job(JobAction::TimedOut);
                self.effects.ended_jobs.push((key, JobEnd::TimedOut));
                Intent::TimedOut
            }
            _ => Intent::RecurredAfterBackoff,
        };
        self.enqueue(key, &mut job);
        self.record_job(key, intent, &job, &Document::empty(), "", -1)?;
        self.tables.jobs.put(key, job);
        Ok(())
    }
}
