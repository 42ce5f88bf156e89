//! Assigns, changes or completes a user task.

use protocol::{
    Intent, JobListenerEventType, Key, Name, Rejection, Response, UserTaskChanges, UserTaskCommand,
    UserTaskOperation,
};

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::failure::Failure;
use crate::user_task::change;
use crate::user_task::row::{Transition, UserTask, UserTaskState};

impl CommandContext<'_> {
    /// The answer comes when the listeners of the operation are done.
    pub(crate) fn change_user_task(
        &mut self,
        command: &UserTaskCommand,
    ) -> Result<Option<Response>, Failure> {
        let key = command.user_task_key;
        let (usual, intent) = match &command.operation {
            UserTaskOperation::Assign { assignee, .. } if assignee.is_empty() => {
                ("unassign", Intent::Assigning)
            }
            UserTaskOperation::Assign { allow_override: false, .. } => ("claim", Intent::Claiming),
            UserTaskOperation::Assign { .. } => ("assign", Intent::Assigning),
            UserTaskOperation::Update(_) => ("update", Intent::Updating),
            UserTaskOperation::Complete { .. } => ("complete", Intent::Completing),
        };
        let (at, task) = self.find_user_task(key, usual)?;
        let action = if command.action.is_empty() { usual } else { command.action.as_str() };
        let mut transition = Transition::new(JobListenerEventType::Updating, task.attributes.clone(), action);
        transition.request_id = command.request_id;
        transition.actor = self.origin.actor();
        let changes = match &command.operation {
            UserTaskOperation::Assign { assignee, allow_override } => {
                let current = &task.attributes.assignee;
                if !allow_override && !current.is_empty() && current != assignee {
                    return Err(Rejection::invalid_state(format!(
                        "Expected to claim user task with key '{key}', but it is assigned already"
                    ))
                    .into());
                }
                transition.event = JobListenerEventType::Assigning;
                UserTaskChanges { assignee: Some(assignee.clone()), ..UserTaskChanges::default() }
            }
            UserTaskOperation::Update(changes) => UserTaskChanges { assignee: None, ..changes.clone() },
            UserTaskOperation::Complete { variables } => {
                self.refuse_completion_without_room(at.key, variables)?;
                transition.event = JobListenerEventType::Completing;
                transition.variables = variables.clone();
                UserTaskChanges::default()
            }
        };
        transition.changed = change(&mut transition.attributes, &changes).map_err(|reason| {
            Rejection::invalid_argument(format!(
                "Expected to {usual} user task with key '{key}', but {reason}"
            ))
        })?;
        self.begin_transition(&at, key, task, transition, intent)?;
        Ok(None)
    }

    /// The user task that a command means, which nothing else may be under way with.
    fn find_user_task(&mut self, key: Key, purpose: &str) -> Result<(ActiveElement, UserTask), Failure> {
        let missing = || {
            Rejection::not_found(format!(
                "Expected to {purpose} user task with key '{key}', but no such user task was found"
            ))
        };
        let task = self.tables.user_tasks.get(&key)?.ok_or_else(missing)?;
        let refuse = |what: String| {
            let text = format!("Expected to {purpose} user task with key '{key}', but {what}");
            Failure::Rejected(Rejection::invalid_state(text))
        };
        let (at, row) = self.at(task.element_instance_key)?.ok_or_else(missing)?;
        if let Some(halt) = self.tables.halt_of(task.process_instance_key)? {
            return Err(refuse(format!("its process instance '{}' is {halt}", task.process_instance_key)));
        }
        if task.state != UserTaskState::Created || row.pending_event.is_some() {
            return Err(refuse(format!("it is in state '{}'", task.state.as_str())));
        }
        Ok((at, (*task).clone()))
    }

    /// Sets variables in the scope of a user task, which its listeners may deny.
    pub(crate) fn set_task_variables(
        &mut self,
        key: Key,
        set: &protocol::SetVariables,
    ) -> Result<Option<Response>, Failure> {
        let (at, task) = self.find_user_task(key, "update")?;
        let document_key = self.next_key();
        let tenant_id = at.instance.tenant_id.clone();
        self.record_document(document_key, Intent::Updating, at.key, tenant_id, true, &set.variables);
        let transition = Transition {
            changed: vec![Name::from("variables")],
            variables: set.variables.clone(),
            document_key: Some(document_key),
            request_id: set.request_id,
            operation_reference: set.operation_reference,
            actor: self.origin.actor(),
            ..Transition::new(JobListenerEventType::Updating, task.attributes.clone(), "update")
        };
        self.begin_transition(&at, key, task, transition, Intent::Updating)?;
        Ok(None)
    }
}
