//! Jobs: creation, the queue, and how demand takes from it.

mod complete_job;
mod dispatch;
mod fail_job;
mod listener;
mod record;
mod throw_error;
mod update_job;

use std::sync::Arc;

use bpmn::graph::{Element, ElementKind, Text};
use protocol::{ActivatedJob, Demand, Document, Intent, JobKind, JobListenerEventType, Key, Name, Rejection};
use state::StateError;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::counters::JobAction;
use crate::core::effects::{Delivery, JobEnd};
use crate::core::failure::Failure;
use crate::core::options::FaultPoint;
use crate::definition::expression::Scope;
use crate::entity::tables::Tables;
use crate::entity::{ErrorType, Job, JobState};
use crate::user_task::headers::of_listener;
use record::JobNews;

/// Headers of a job as a JSON object: the task headers of its element, and what was found out when it was created.
pub(crate) fn headers(element: &Element, job: &Job) -> Arc<str> {
    with_members(element_headers(element, job.kind), job.more_headers.as_ref())
}

/// Adds members to a JSON object.
fn with_members(headers: Arc<str>, more: Option<&Name>) -> Arc<str> {
    let Some(more) = more else { return headers };
    let members = headers.strip_suffix('}').unwrap_or("{");
    let comma = if members.len() > 1 { "," } else { "" };
    Arc::from(format!("{members}{comma}{more}}}"))
}

fn element_headers(element: &Element, kind: JobKind) -> Arc<str> {
    match (&element.kind, kind) {
        // A migration may have brought it to an element without listeners.
        (_, JobKind::ExecutionListener) if element.listeners.headers_json.is_empty() => Arc::from("{}"),
        (_, JobKind::ExecutionListener) => Arc::clone(&element.listeners.headers_json),
        (ElementKind::Job(definition), _) => Arc::clone(&definition.headers_json),
        (ElementKind::AdHoc(ad_hoc), _) => match &ad_hoc.job {
            Some(definition) => Arc::clone(&definition.headers_json),
            None => Arc::from("{}"),
        },
        (ElementKind::UserTask(definition), _) => Arc::clone(&definition.headers_json),
        _ => Arc::from("{}"),
    }
}

/// The incident of a job of this kind that has no retries left.
pub(crate) const fn no_retries(kind: JobKind) -> ErrorType {
    match kind {
        JobKind::BpmnElement => ErrorType::JobNoRetries,
        JobKind::AdHocSubProcess => ErrorType::AdHocSubProcessNoRetries,
        JobKind::ExecutionListener => ErrorType::ExecutionListenerNoRetries,
        JobKind::TaskListener => ErrorType::TaskListenerNoRetries,
    }
}

/// Whether jobs of a type wait in the queue.
pub(crate) fn is_queued(tables: &Tables, job_type: &Name) -> Result<bool, StateError> {
    let from = (job_type.0.clone(), Arc::from(""), 0);
    Ok(tables.job_queue.keys(from.., 1)?.first().is_some_and(|(found, _, _)| *found == job_type.0))
}

/// Queued jobs that whoever asks may not work on and that are passed over for one demand. Those behind so many others
/// are found once these are gone.
const NOT_ALLOWED_MAX: usize = 10_000;

impl CommandContext<'_> {
    /// Type and retries of a job, evaluated.
    pub fn evaluate_job(
        &self,
        at: &ActiveElement,
        job_type: &Text,
        retries: &Text,
    ) -> Result<(Name, i32), Failure> {
        let scope = Scope::of(at.key);
        let job_type = self.evaluate_text(job_type, &scope)?;
        let retries = self.evaluate_integer(retries, &scope)?;
        if job_type.is_empty() || job_type.chars().count() > self.options.max_name_chars {
            let message = format!("Expected a job type of 1 to {} characters", self.options.max_name_chars);
            return Err(Failure::incident(ErrorType::ExtractValueError, message));
        }
        let retries = i32::try_from(retries).map_err(|_| {
            Failure::incident(
                ErrorType::ExtractValueError,
                format!("Expected a number of retries, but '{retries}' is too large"),
            )
        })?;
        Ok((job_type, retries))
    }

    /// Creates the job of an element instance, with more headers than the element has.
    pub fn create_job(
        &mut self,
        at: &ActiveElement,
        job: (Name, i32),
        more_headers: Option<Name>,
    ) -> Result<(), Failure> {
        self.create_any_job(at, job, JobKind::BpmnElement, JobListenerEventType::Unspecified, more_headers)
    }

    /// Creates a job of some kind for an element instance that waits for no other.
    pub fn create_listener_job(
        &mut self,
        at: &ActiveElement,
        job: (Name, i32),
        kind: JobKind,
        listener_event_type: JobListenerEventType,
    ) -> Result<(), Failure> {
        self.create_any_job(at, job, kind, listener_event_type, None)
    }

    fn create_any_job(
        &mut self,
        at: &ActiveElement,
        (job_type, retries): (Name, i32),
        kind: JobKind,
        listener_event_type: JobListenerEventType,
        more_headers: Option<Name>,
    ) -> Result<(), Failure> {
        let key = self.next_key();
        let job = Job {
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
        };
        self.counters.count_job(JobAction::Created);
        self.record_job(key, Intent::Created, &job, &Document::empty(), "", -1)?;
        self.tables.element_instances.update(&at.key, |row| row.job_key = Some(key))?;
        self.tables.job_queue.insert((job.job_type.0.clone(), job.tenant_id.0.clone(), key), ());
        self.effects.queued_types.push(job.job_type.clone());
        self.tables.jobs.insert(key, job);
        Ok(())
    }

    /// Puts a job into the queue, from whatever state it is in.
    pub fn enqueue(&mut self, key: Key, job: &mut Job) {
        self.leave_state(key, job);
        job.state = JobState::Activatable;
        job.due_ms = -1;
        self.tables.job_queue.put((job.job_type.0.clone(), job.tenant_id.0.clone(), key), ());
        self.effects.queued_types.push(job.job_type.clone());
    }

    /// Removes the index row that belongs to the state of a job.
    pub(super) fn leave_state(&mut self, key: Key, job: &Job) {
        match job.state {
            JobState::Activatable => {
                self.tables.job_queue.delete(&(job.job_type.0.clone(), job.tenant_id.0.clone(), key));
            }
            JobState::Activated | JobState::Backoff => self.tables.job_due.delete(&(job.due_ms, key)),
            JobState::Failed | JobState::ErrorThrown => {}
        }
    }

    /// Removes a job.
    pub(super) fn remove_job(&mut self, key: Key, job: &Job) {
        self.leave_state(key, job);
        self.tables.jobs.delete(&key);
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
        if self.is_banned(job.process_instance_key)? {
            return Err(Rejection::invalid_state(format!(
                "Expected to {purpose} job with key '{key}', but its process instance '{}' is banned",
                job.process_instance_key
            ))
            .into());
        }
        Ok((*job).clone())
    }

    /// Due work of a job: its timeout or the end of its backoff.
    pub fn trigger_job(&mut self, due_ms: i64, key: Key) -> Result<(), Failure> {
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

    /// Activates jobs for one who asked, the oldest first.
    pub fn serve(&mut self, wanted: &Demand) -> Result<(), StateError> {
        let mut jobs = Vec::new();
        let mut bytes = 0;
        let mut not_allowed = 0;
        let except = wanted.except.as_deref().unwrap_or_default();
        debug_assert!(except.is_sorted(), "keys are looked up by halves");
        'tenants: for tenant in &wanted.tenant_ids {
            let key = |last| (wanted.job_type.0.clone(), tenant.0.clone(), last);
            let mut from = 0;
            loop {
                let room = (wanted.max_jobs as usize).saturating_sub(jobs.len());
                if room == 0 || bytes >= self.options.max_delivery_bytes {
                    break 'tenants;
                }
                let queued = self.tables.job_queue.keys(key(from)..=key(Key::MAX), room)?;
                let Some(&(_, _, last)) = queued.last() else { break };
                for (_, _, job_key) in queued {
                    if except.binary_search(&job_key).is_ok() {
                        continue;
                    }
                    match self.activate_job(job_key, wanted, bytes)? {
                        Activation::Done(job) => {
                            bytes += job.variables.json_len();
                            jobs.push(*job);
                        }
                        Activation::Skipped => {}
                        Activation::NotAllowed => {
                            not_allowed += 1;
                            if not_allowed == NOT_ALLOWED_MAX {
                                break 'tenants;
                            }
                        }
                        Activation::Full => break 'tenants,
                    }
                }
                // Jobs may have been passed over, so there may be room left.
                from = last + 1;
            }
        }
        if jobs.is_empty() {
            self.effects.unmet_subscribers.push(wanted.subscriber_id);
        } else {
            self.effects.deliveries.push(Delivery { subscriber_id: wanted.subscriber_id, jobs });
        }
        Ok(())
    }

    fn activate_job(&mut self, key: Key, wanted: &Demand, bytes: usize) -> Result<Activation, StateError> {
        let Some(job) = self.tables.jobs.get(&key)? else { return Ok(Activation::Skipped) };
        self.blame(job.process_instance_key);
        if self.is_banned(job.process_instance_key)? {
            return Ok(Activation::Skipped);
        }
        let Some((instance, process)) = self.instance(job.process_instance_key)? else {
            return Ok(Activation::Skipped);
        };
        if let Some(caller) = &wanted.caller
            && !self.may_work_on(caller, &instance)?
        {
            return Ok(Activation::NotAllowed);
        }
        let mut variables = self.visible_variables(job.element_instance_key, &wanted.fetch_variables)?;
        let mut user_task = None;
        if job.kind == JobKind::TaskListener
            && let Some((properties, brought)) = self.task_of_listener(&job)?
        {
            for (name, value) in brought.iter() {
                if wanted.fetch_variables.is_empty() || wanted.fetch_variables.contains(name) {
                    variables.set(name.clone(), value.clone());
                }
            }
            user_task = Some(Box::new(properties));
        }
        let size = variables.json_len();
        if size > self.options.max_delivery_bytes {
            self.set_aside(key, &job, size)?;
            return Ok(Activation::Skipped);
        }
        if bytes > 0 && bytes + size > self.options.max_delivery_bytes {
            return Ok(Activation::Full);
        }
        let mut job = (*job).clone();
        self.leave_state(key, &job);
        job.state = JobState::Activated;
        job.worker = wanted.worker.clone();
        job.due_ms = self.now_ms().saturating_add(wanted.timeout_ms);
        self.tables.job_due.insert((job.due_ms, key), ());
        self.counters.count_job(JobAction::Activated);
        let waited_ms = self.now_ms() - job.created_ms;
        self.effects.latencies.job_activation_ms.push(waited_ms);
        self.record_job(key, Intent::Activated, &job, &variables, "", wanted.timeout_ms)?;
        let listener_headers = user_task.as_deref().and_then(of_listener);
        let element = process.element(job.element);
        self.fault_point(FaultPoint::Deliver, &element.id);
        let activated = ActivatedJob {
            key,
            job_type: job.job_type.clone(),
            process_instance_key: job.process_instance_key,
            root_process_instance_key: instance.root_key,
            process_id: instance.process_id.clone(),
            process_definition_version: instance.version,
            process_definition_key: instance.definition_key,
            element_id: Name::from(&element.id),
            element_instance_key: job.element_instance_key,
            custom_headers_json: with_members(headers(element, &job), listener_headers.as_ref()),
            worker: job.worker.clone(),
            retries: job.retries,
            deadline_ms: job.due_ms,
            variables,
            tenant_id: job.tenant_id.clone(),
            kind: job.kind,
            listener_event_type: job.listener_event_type,
            tags: instance.tags.clone(),
            user_task,
        };
        self.tables.jobs.put(key, job);
        Ok(Activation::Done(Box::new(activated)))
    }

    /// A job whose variables no message could hold leaves the queue with an incident.
    fn set_aside(&mut self, key: Key, job: &Job, size: usize) -> Result<(), StateError> {
        self.leave_state(key, job);
        self.tables.jobs.update(&key, |job| job.state = JobState::Failed)?;
        let message = format!(
            "The job with key '{key}' can not be activated, because with {size} bytes of variables it is larger than the \
             configured maximum of {} bytes (limits.max_message_bytes). Fetch fewer variables, or make them smaller, and resolve the incident.",
            self.options.max_delivery_bytes
        );
        self.raise_for_job(key, job, ErrorType::MessageSizeExceeded, &message)
    }
}

enum Activation {
    /// The caller may not work on it.
    NotAllowed,
    Done(Box<ActivatedJob>),
    Skipped,
    Full,
}
