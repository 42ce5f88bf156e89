//! Listeners of user tasks: their jobs, and what those say about the operation.

use std::ops::ControlFlow;
use std::sync::Arc;

use bpmn::graph::{ElementKind, Listener, TaskEvent};
use protocol::{
    CompleteJob, Intent, JobKind, JobListenerEventType, JobResult, Key, Name, Rejection, UserTaskChanges,
    UserTaskProperties,
};
use state::StateError;

use super::change;
use super::row::{ListenerJob, Transition, UserTask, UserTaskState};
use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{ElementInstance, ErrorType, Job, JobTerms, Phase};

/// A listener of either origin.
pub(super) enum Found<'a> {
    Global(&'a ListenerJob),
    Model(&'a Listener),
}

impl Transition {
    /// The listener at an index of its operation.
    pub(super) fn listener<'a>(&'a self, at: &'a ActiveElement, index: u32) -> Option<Found<'a>> {
        let model = match &at.element().kind {
            ElementKind::UserTask(definition) => definition.listeners.as_slice(),
            _ => &[],
        };
        let of_model = model.iter().filter(|listener| event_type(listener.event) == self.event);
        let before = self.before.iter().map(Found::Global);
        let after = self.after.iter().map(Found::Global);
        before.chain(of_model.map(|found| Found::Model(&found.listener))).chain(after).nth(index as usize)
    }
}

const fn event_type(event: TaskEvent) -> JobListenerEventType {
    match event {
        TaskEvent::Creating => JobListenerEventType::Creating,
        TaskEvent::Assigning => JobListenerEventType::Assigning,
        TaskEvent::Updating => JobListenerEventType::Updating,
        TaskEvent::Completing => JobListenerEventType::Completing,
        TaskEvent::Canceling => JobListenerEventType::Canceling,
    }
}

impl CommandContext<'_> {
    /// Notes the listeners of all tasks that have a say in an operation, so that later changes do not touch it.
    pub(super) fn gather_global_listeners(&self, transition: &mut Transition) -> Result<(), StateError> {
        if self.tables.global_listeners.is_empty()? {
            return Ok(());
        }
        let mut listeners = Vec::new();
        self.tables.global_listeners.visit(.., |_, row| {
            let listener = &row.listener;
            if listener.event_types.is_empty() || listener.event_types.contains(&transition.event) {
                listeners.push(Arc::clone(row));
            }
            ControlFlow::Continue(())
        })?;
        // The scan is in the order of IDs, which decides among equals.
        listeners.sort_by_key(|row| std::cmp::Reverse(row.listener.priority));
        for row in listeners {
            let listener = &row.listener;
            let job = ListenerJob { job_type: listener.job_type.clone(), retries: listener.retries };
            let side = if listener.after_non_global { &mut transition.after } else { &mut transition.before };
            side.push(job);
        }
        Ok(())
    }

    /// Creates the job of a listener, or ends the operation after the last.
    pub fn listen_task(
        &mut self,
        at: &ActiveElement,
        row: &ElementInstance,
        index: u32,
    ) -> Result<(), Failure> {
        let Some(key) = row.user_task_key else { return Ok(()) };
        let Some(task) = self.tables.user_tasks.get(&key)? else { return Ok(()) };
        let Some(transition) = &task.transition else { return Ok(()) };
        let in_time = match transition.event {
            JobListenerEventType::Canceling => row.phase == Phase::Terminating,
            // One that has been interrupted meanwhile is about to be terminated.
            _ => row.phase == Phase::Activated && row.pending_event.is_none(),
        };
        if !in_time {
            return Ok(());
        }
        let Some(listener) = transition.listener(at, index) else {
            if let Err(Failure::Incident { error_type, message }) = self.check_update(at, transition) {
                // Other commands may have taken the room meanwhile: the listeners have ended.
                let resume = Step::ListenTask { key: at.key, index };
                return Ok(self.raise(at, error_type, &message, None, Some(resume))?);
            }
            let was_canceling = transition.event == JobListenerEventType::Canceling;
            self.end_transition(at, key)?;
            if was_canceling {
                self.steps.push_back(Step::FinishTermination { key: at.key });
            }
            return Ok(());
        };
        let job = match listener {
            Found::Global(job) => self.evaluate_priority(at).map(|priority| JobTerms {
                job_type: job.job_type.clone(),
                retries: job.retries,
                priority,
            }),
            Found::Model(listener) => self.evaluate_job(at, &listener.job_type, &listener.retries),
        };
        let created =
            job.and_then(|job| self.create_listener_job(at, job, JobKind::TaskListener, transition.event));
        match created {
            // All of this moment run again once it is resolved.
            Err(Failure::Incident { error_type, message }) => {
                let resume = Step::ListenTask { key: at.key, index: 0 };
                self.raise(at, error_type, &message, None, Some(resume))?;
            }
            other => other?,
        }
        self.tables.user_tasks.update(&key, |task| {
            if let Some(transition) = &mut task.transition {
                transition.index = index;
            }
        })?;
        Ok(())
    }

    /// Whether there is room for the variables that an operation sets where the task is.
    fn check_update(&self, at: &ActiveElement, transition: &Transition) -> Result<(), Failure> {
        if transition.document_key.is_none() {
            return Ok(());
        }
        let (variables, kind) = (&transition.variables, ErrorType::IoMappingError);
        self.check_room(at.process_instance_key, variables, |_, _| Ok(at.key), kind)
    }

    /// The user task and operation that the job of a listener belongs to.
    fn task_of(&mut self, job: &Job) -> Result<Option<(ActiveElement, Key, UserTask)>, Failure> {
        let Some((at, row)) = self.at(job.element_instance_key)? else { return Ok(None) };
        let Some(key) = row.user_task_key else { return Ok(None) };
        let task = self.tables.user_tasks.get(&key)?;
        Ok(task.map(|task| (at, key, (*task).clone())))
    }

    /// Checks what the job of a listener says before anything changes.
    pub fn check_task_result(&mut self, key: Key, job: &Job, complete: &CompleteJob) -> Result<(), Failure> {
        let refuse = |reason: String| {
            Rejection::invalid_argument(format!("Expected to complete job with key '{key}', but {reason}"))
        };
        if !complete.variables.is_empty() {
            return Err(refuse("the job of a task listener cannot set variables".to_owned()).into());
        }
        let Some(JobResult::UserTask { denied, corrections, .. }) = complete.result.as_deref() else {
            return Ok(());
        };
        let event = job.listener_event_type;
        let has_corrections = *corrections != UserTaskChanges::default();
        if *denied && has_corrections {
            return Err(
                refuse("its result both denies the operation and corrects the task".to_owned()).into()
            );
        }
        if *denied && matches!(event, JobListenerEventType::Creating | JobListenerEventType::Canceling) {
            let event = event.as_str().to_lowercase();
            return Err(refuse(format!("a listener of event type '{event}' cannot deny")).into());
        }
        if !has_corrections {
            return Ok(());
        }
        let Some((_, _, task)) = self.task_of(job)? else { return Ok(()) };
        let Some(transition) = &task.transition else { return Ok(()) };
        if event == JobListenerEventType::Creating
            && corrections.assignee.is_some()
            && !transition.assignee.is_empty()
        {
            let reason =
                "the assignee cannot be corrected while the task is created, since the model has one";
            return Err(refuse(reason.to_owned()).into());
        }
        let mut attributes = transition.attributes.clone();
        change(&mut attributes, corrections)
            .map_err(|reason| refuse(format!("its corrections: {reason}")))?;
        Ok(())
    }

    /// The job of a listener is completed: the operation goes on, or ends denied.
    pub fn task_listener_done(&mut self, job: &Job, complete: &CompleteJob) -> Result<(), Failure> {
        let Some((at, key, mut task)) = self.task_of(job)? else { return Ok(()) };
        let Some(mut transition) = task.transition.take() else { return Ok(()) };
        if let Some(JobResult::UserTask { denied, denied_reason, corrections }) = complete.result.as_deref() {
            if *denied {
                let origin = transition.origin(&self.origin);
                task.transition = Some(transition);
                self.on_behalf_of(origin, |work| work.deny(&at, key, task, denied_reason));
                return Ok(());
            }
            let changed = change(&mut transition.attributes, corrections).unwrap_or_default();
            if !changed.is_empty() {
                for name in changed {
                    if !transition.changed.contains(&name) {
                        transition.changed.push(name);
                    }
                }
                task.transition = Some(transition.clone());
                self.record_user_task(&at, key, Intent::Corrected, &task, "");
            }
        }
        let index = transition.index + 1;
        task.transition = Some(transition);
        self.tables.user_tasks.put(key, task);
        self.steps.push_back(Step::ListenTask { key: at.key, index });
        Ok(())
    }

    fn deny(&mut self, at: &ActiveElement, key: Key, mut task: UserTask, reason: &str) {
        let event = task.transition.as_ref().map_or(JobListenerEventType::Updating, |t| t.event);
        let (intent, what) = match event {
            JobListenerEventType::Assigning => (Intent::AssignmentDenied, "Assignment"),
            JobListenerEventType::Completing => (Intent::CompletionDenied, "Completion"),
            _ => (Intent::UpdateDenied, "Update"),
        };
        self.record_user_task(at, key, intent, &task, reason);
        let transition = task.transition.take();
        if let Some(transition) = &transition
            && let Some(document_key) = transition.document_key
        {
            let tenant_id = at.instance.tenant_id.clone();
            let intent = Intent::UpdateDenied;
            self.record_document(document_key, intent, at.key, tenant_id, true, &transition.variables);
        }
        let request_id = transition.and_then(|transition| transition.request_id);
        task.state = UserTaskState::Created;
        self.tables.user_tasks.put(key, task);
        let reason = format!("{what} of user task with key '{key}' was denied by a task listener: {reason}");
        self.answer_task_request(request_id, Err(Rejection::invalid_state(reason)));
    }

    /// The user task as the worker of one of its listeners sees it, and variables of the operation.
    pub fn task_of_listener(
        &mut self,
        job: &Job,
    ) -> Result<Option<(UserTaskProperties, protocol::Document)>, StateError> {
        let Some(row) = self.tables.element_instances.get(&job.element_instance_key)? else {
            return Ok(None);
        };
        let Some(key) = row.user_task_key else { return Ok(None) };
        let Some(task) = self.tables.user_tasks.get(&key)? else { return Ok(None) };
        let Some(transition) = &task.transition else { return Ok(None) };
        let attributes = &transition.attributes;
        let assignee = if transition.event == JobListenerEventType::Creating && attributes.assignee.is_empty()
        {
            Name::clone(&transition.assignee)
        } else {
            attributes.assignee.clone()
        };
        let properties = UserTaskProperties {
            user_task_key: key,
            action: transition.action.clone(),
            assignee,
            candidate_groups: attributes.candidate_groups.clone(),
            candidate_users: attributes.candidate_users.clone(),
            changed_attributes: transition.changed.clone(),
            due_date: attributes.due_date.clone(),
            follow_up_date: attributes.follow_up_date.clone(),
            form_key: attributes.form_key,
            priority: attributes.priority,
        };
        Ok(Some((properties, transition.variables.clone())))
    }
}
