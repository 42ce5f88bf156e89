//! User tasks: their life from creation to completion or cancellation.
//!
//! Each operation is a [`Transition`]: it begins, its listeners run one after the other (`listener.rs`), and it ends
//! or is denied. The requester gets the answer at its end.

mod attributes;
mod command;
mod global_listener;
pub(crate) mod headers;
mod listener;
pub mod row;

use bpmn::graph::ElementKind;
use protocol::{
    Document, Intent, JobListenerEventType, Key, Name, Rejection, Response, UserTaskRecord, ValueType,
};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::core::origin::{Attribution, CommandOrigin};
use crate::core::step::Step;
use crate::user_task::row::{TaskAttributes, Transition, UserTask, UserTaskState};

pub(crate) use attributes::change;

impl Transition {
    /// An operation that changes nothing yet.
    pub(crate) fn new(event: JobListenerEventType, attributes: TaskAttributes, action: &str) -> Self {
        Self {
            event,
            index: 0,
            attributes,
            changed: Vec::new(),
            action: Name::from(action),
            variables: Document::empty(),
            document_key: None,
            assignee: Name::default(),
            request_id: None,
            before: Vec::new(),
            after: Vec::new(),
            operation_reference: None,
            actor: None,
        }
    }

    /// The origin of its work: of the command that began it, within the current one.
    fn origin(&self, current: &CommandOrigin) -> CommandOrigin {
        let subjects: &[ValueType] = match self.document_key {
            Some(_) => &[ValueType::Variable],
            None => &[ValueType::UserTask],
        };
        CommandOrigin {
            operation_reference: self.operation_reference.or(current.operation_reference),
            attribution: self.actor.clone().map(|actor| Attribution { actor, subjects }),
            ..current.clone()
        }
    }
}

impl CommandContext<'_> {
    /// Creates the user task of an element instance.
    pub fn create_user_task(
        &mut self,
        at: &ActiveElement,
        mut attributes: TaskAttributes,
        created_ms: i64,
    ) -> Result<(), Failure> {
        let key = self.next_key();
        let assignee = std::mem::take(&mut attributes.assignee);
        let task = UserTask {
            element_instance_key: at.key,
            process_instance_key: at.process_instance_key,
            created_ms,
            state: UserTaskState::Creating,
            attributes: attributes.clone(),
            transition: None,
        };
        self.tables.element_instances.update(&at.key, |row| row.user_task_key = Some(key))?;
        let transition =
            Transition { assignee, ..Transition::new(JobListenerEventType::Creating, attributes, "") };
        self.begin_transition(at, key, task, transition, Intent::Creating)
    }

    /// Begins an operation; without listeners it ends at once.
    pub(super) fn begin_transition(
        &mut self,
        at: &ActiveElement,
        key: Key,
        task: UserTask,
        transition: Transition,
        intent: Intent,
    ) -> Result<(), Failure> {
        if self.announce_transition(at, key, task, transition, intent)? {
            self.steps.push_back(Step::ListenTask { key: at.key, index: 0 });
            return Ok(());
        }
        self.end_transition(at, key)
    }

    /// Notes what is about to happen to a task. Gives whether listeners want to know of it.
    fn announce_transition(
        &mut self,
        at: &ActiveElement,
        key: Key,
        mut task: UserTask,
        mut transition: Transition,
        intent: Intent,
    ) -> Result<bool, Failure> {
        debug_assert!(task.transition.is_none(), "user task {key} has one operation at a time");
        task.state = match transition.event {
            JobListenerEventType::Creating => UserTaskState::Creating,
            JobListenerEventType::Assigning => UserTaskState::Assigning,
            JobListenerEventType::Completing => UserTaskState::Completing,
            JobListenerEventType::Canceling => UserTaskState::Canceling,
            _ => UserTaskState::Updating,
        };
        self.gather_global_listeners(&mut transition)?;
        let waits = transition.listener(at, 0).is_some();
        task.transition = Some(Box::new(transition));
        self.record_user_task(at, key, intent, &task, "");
        self.tables.user_tasks.put(key, task);
        Ok(waits)
    }

    /// Ends an operation that nobody denied.
    pub(super) fn end_transition(&mut self, at: &ActiveElement, key: Key) -> Result<(), Failure> {
        let task = self.tables.user_tasks.get(&key)?;
        let Some(transition) = task.as_ref().and_then(|task| task.transition.as_ref()) else { return Ok(()) };
        let origin = transition.origin(&self.origin);
        self.on_behalf_of(origin, |work| work.take_transition(at, key))
    }

    fn take_transition(&mut self, at: &ActiveElement, key: Key) -> Result<(), Failure> {
        let Some(found) = self.tables.user_tasks.get(&key)? else { return Ok(()) };
        let mut task = (*found).clone();
        let Some(mut transition) = task.transition.take() else { return Ok(()) };
        let assignee = match transition.event {
            JobListenerEventType::Creating if transition.attributes.assignee.is_empty() => {
                transition.assignee.clone()
            }
            JobListenerEventType::Creating => std::mem::take(&mut transition.attributes.assignee),
            _ => Name::default(),
        };
        let shown = UserTask { transition: Some(transition.clone()), ..task.clone() };
        let intent = match transition.event {
            JobListenerEventType::Creating => Intent::Created,
            JobListenerEventType::Assigning => Intent::Assigned,
            JobListenerEventType::Completing => Intent::Completed,
            JobListenerEventType::Canceling => Intent::Canceled,
            _ => Intent::Updated,
        };
        self.record_user_task(at, key, intent, &shown, "");
        if matches!(transition.event, JobListenerEventType::Completing | JobListenerEventType::Canceling) {
            self.remove_user_task(at.key, key)?;
            if transition.event == JobListenerEventType::Completing {
                self.steps.push_back(Step::Complete { key: at.key, variables: transition.variables.clone() });
            }
            self.answer_task_request(transition.request_id, Ok(Response::Done));
            return Ok(());
        }
        task.state = UserTaskState::Created;
        task.attributes = transition.attributes.clone();
        self.tables.user_tasks.put(key, task.clone());
        if let Some(document_key) = transition.document_key {
            self.set_locals(at.key, at.process_instance_key, &transition.variables)?;
            let tenant_id = at.instance.tenant_id.clone();
            self.record_document(
                document_key,
                Intent::Updated,
                at.key,
                tenant_id,
                true,
                &transition.variables,
            );
            let response = Response::VariablesSet { key: document_key };
            self.answer_task_request(transition.request_id, Ok(response));
        } else {
            self.answer_task_request(transition.request_id, Ok(Response::Done));
        }
        if assignee.is_empty() {
            return Ok(());
        }
        let attributes = TaskAttributes { assignee, ..task.attributes.clone() };
        let mut assignment = Transition::new(JobListenerEventType::Assigning, attributes, "");
        assignment.changed.push(Name::from(attributes::ASSIGNEE));
        self.begin_transition(at, key, task, assignment, Intent::Assigning)
    }

    /// Ends the user task of an element instance that is terminated. False if its listeners must run before.
    pub fn cancel_user_task(&mut self, at: &ActiveElement, key: Key) -> Result<bool, Failure> {
        let Some(found) = self.tables.user_tasks.get(&key)? else { return Ok(true) };
        let mut task = (*found).clone();
        self.give_up_transition(key, &mut task);
        let transition = Transition::new(JobListenerEventType::Canceling, task.attributes.clone(), "cancel");
        let withdrawn = self.tables.element_instances.get(&at.key)?.is_some_and(|row| row.withdrawn);
        if withdrawn || at.instance.is_erased {
            // A modification asks nobody, nor does the end of what the engine failed on.
            self.announce_transition(at, key, task, transition, Intent::Canceling)?;
            self.end_transition(at, key)?;
            return Ok(true);
        }
        self.begin_transition(at, key, task, transition, Intent::Canceling)?;
        Ok(!self.tables.user_tasks.contains(&key)?)
    }

    fn give_up_transition(&mut self, key: Key, task: &mut UserTask) {
        if let Some(transition) = task.transition.take() {
            let reason = format!("User task with key '{key}' was canceled before the operation was done");
            self.answer_task_request(transition.request_id, Err(Rejection::invalid_state(reason)));
        }
    }

    fn remove_user_task(&mut self, element_instance_key: Key, key: Key) -> Result<(), state::StateError> {
        self.tables.user_tasks.delete(&key);
        self.tables.element_instances.update(&element_instance_key, |row| row.user_task_key = None)?;
        Ok(())
    }

    /// Answers who asked for an operation.
    pub(super) fn answer_task_request(
        &mut self,
        request_id: Option<u64>,
        outcome: Result<Response, Rejection>,
    ) {
        if let Some(request_id) = request_id {
            self.effects.late_responses.push((request_id, outcome));
        }
    }

    /// A step in the life of a user task, with its attributes as they will be.
    pub(crate) fn record_user_task(
        &mut self,
        at: &ActiveElement,
        key: Key,
        intent: Intent,
        task: &UserTask,
        denied_reason: &str,
    ) {
        self.emit(key, intent, |_| {
            let transition = task.transition.as_ref();
            let attributes = transition.map_or(&task.attributes, |transition| &transition.attributes);
            UserTaskRecord {
                user_task_key: key,
                assignee: attributes.assignee.clone(),
                candidate_groups_list: attributes.candidate_groups.clone(),
                candidate_users_list: attributes.candidate_users.clone(),
                due_date: attributes.due_date.clone(),
                follow_up_date: attributes.follow_up_date.clone(),
                form_key: attributes.form_key,
                external_form_reference: attributes.external_form_reference.clone(),
                variables: transition.map(|transition| transition.variables.clone()).unwrap_or_default(),
                custom_headers: match &at.element().kind {
                    ElementKind::UserTask(definition) => Name::from(&definition.headers_json),
                    _ => Name::from("{}"),
                },
                changed_attributes: transition
                    .map(|transition| transition.changed.clone())
                    .unwrap_or_default(),
                action: transition.map(|transition| transition.action.clone()).unwrap_or_default(),
                creation_timestamp_ms: task.created_ms,
                priority: attributes.priority,
                denied_reason: Name::from(denied_reason),
                element_id: Name::from(&at.element().id),
                element_instance_key: at.key,
                bpmn_process_id: at.instance.process_id.clone(),
                process_definition_version: at.instance.version,
                process_definition_key: at.instance.definition_key,
                process_instance_key: at.process_instance_key,
                root_process_instance_key: at.instance.root_key,
                tenant_id: at.instance.tenant_id.clone(),
                tags: at.instance.tags.clone(),
                business_id: at.instance.business_id.clone(),
            }
        });
    }
}
