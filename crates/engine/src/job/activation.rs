//! Activation of jobs for a demand of workers.

use protocol::{
    ActivatedJob, Demand, Document, Intent, JobKind, Key, Name, PermissionType, UserTaskProperties,
};
use state::StateError;

use super::headers::{headers, with_members};
use super::queue::FRONT;
use crate::core::context::CommandContext;
use crate::core::counters::JobAction;
use crate::core::effects::Delivery;
use crate::core::options::FaultPoint;
use crate::entity::{ErrorType, Job, JobState};
use crate::user_task::headers::of_listener;

/// Queued jobs without permission that are passed over for one demand. Jobs behind so many others are found once
/// these are gone.
const NOT_ALLOWED_MAX: usize = 10_000;

impl CommandContext<'_> {
    /// Activates jobs for a demand, in the order of the queue.
    pub fn activate_jobs(&mut self, wanted: &Demand) -> Result<(), StateError> {
        let mut jobs = Vec::new();
        let mut bytes = 0;
        let mut not_allowed = 0;
        let except = wanted.except.as_deref().unwrap_or_default();
        debug_assert!(except.is_sorted(), "keys are looked up by halves");
        'tenants: for tenant in &wanted.tenant_ids {
            let mut from = FRONT;
            loop {
                let room = (wanted.max_jobs as usize).saturating_sub(jobs.len());
                if room == 0 || bytes >= self.options.max_delivery_bytes {
                    break 'tenants;
                }
                let queued = self.queued_jobs((&wanted.job_type, tenant), from, room)?;
                let Some(&(rank, last)) = queued.last() else { break };
                for (_, job_key) in queued {
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
                from = (rank, last + 1);
            }
        }
        debug_assert!(jobs.len() <= wanted.max_jobs as usize, "{} jobs for {}", jobs.len(), wanted.max_jobs);
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
        if self.tables.is_banned(job.process_instance_key)? {
            return Ok(Activation::Skipped);
        }
        if self.tables.is_suspended(job.process_instance_key)? {
            self.hold_job(key, &job);
            return Ok(Activation::Skipped);
        }
        let Some((instance, process)) = self.instance(job.process_instance_key)? else {
            return Ok(Activation::Skipped);
        };
        if let Some(caller) = &wanted.caller
            && !self.may_on_instance(Some(caller), PermissionType::UpdateProcessInstance, &instance)?
        {
            return Ok(Activation::NotAllowed);
        }
        let mut variables =
            self.tables.visible_variables(job.element_instance_key, &wanted.fetch_variables)?;
        let user_task = self.task_for_listener(&job, wanted, &mut variables)?;
        let size = variables.json_len();
        if size > self.options.max_delivery_bytes {
            self.set_aside(key, &job, size)?;
            return Ok(Activation::Skipped);
        }
        if bytes > 0 && bytes + size > self.options.max_delivery_bytes {
            return Ok(Activation::Full);
        }
        debug_assert_eq!(job.state, JobState::Activatable, "job {key} was in the queue");
        let mut job = (*job).clone();
        self.leave_state(key, &job);
        job.state = JobState::Activated;
        job.worker = wanted.worker.clone();
        job.due_ms = self.now_ms().saturating_add(wanted.timeout_ms);
        job.lease = self.new_lease(key, wanted);
        self.tables.job_due.insert((job.due_ms, key), ());
        self.counters.count_job(JobAction::Activated);
        self.effects.latencies.job_activation_ms.push(self.now_ms() - job.created_ms);
        self.record_job(key, Intent::Activated, &job, &variables, "", wanted.timeout_ms)?;
        let listener_headers = user_task.as_deref().and_then(of_listener);
        let element = process.element(job.element);
        self.options.fault_point(FaultPoint::Deliver, &element.id);
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
            business_id: instance.business_id.clone(),
            priority: job.priority(),
            lease: job.lease.clone(),
        };
        self.tables.jobs.put(key, job);
        Ok(Activation::Done(Box::new(activated)))
    }

    /// The user task of a job that is a listener of it. The variables of its operation join those of the job.
    fn task_for_listener(
        &mut self,
        job: &Job,
        wanted: &Demand,
        variables: &mut Document,
    ) -> Result<Option<Box<UserTaskProperties>>, StateError> {
        if job.kind != JobKind::TaskListener {
            return Ok(None);
        }
        let Some((properties, brought)) = self.task_of_listener(job)? else { return Ok(None) };
        for (name, value) in brought.iter() {
            if wanted.fetch_variables.is_empty() || wanted.fetch_variables.contains(name) {
                variables.set(name.clone(), value.clone());
            }
        }
        Ok(Some(Box::new(properties)))
    }

    /// Takes the job of a suspended instance out of the queue, so that demand passes over it once only.
    fn hold_job(&mut self, key: Key, job: &Job) {
        self.leave_state(key, job);
        self.tables.jobs.put(key, Job { state: JobState::Held, ..job.clone() });
    }

    /// Takes a job whose variables no message could hold out of the queue, and raises an incident.
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
