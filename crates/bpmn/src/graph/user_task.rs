//! User tasks in the graph: as the engine runs them, and as job workers do.

use std::sync::Arc;

use super::{FormReference, Listener, Text};

/// A user task without a job worker.
#[derive(Debug)]
pub struct UserTask {
    pub details: TaskDetails,
    /// `zeebe:priorityDefinition`; default 50.
    pub priority: Option<Text>,
    pub form: Option<TaskForm>,
    /// `zeebe:taskHeaders` as a JSON object, made once.
    pub headers_json: Arc<str>,
    /// `zeebe:taskListeners`, in order.
    pub listeners: Vec<TaskListener>,
}

/// Assignment and schedule of a user task.
#[derive(Debug, Default)]
pub struct TaskDetails {
    /// `zeebe:assignmentDefinition assignee`.
    pub assignee: Option<Text>,
    /// `candidateUsers`: static text is a list with commas.
    pub candidate_users: Option<Text>,
    /// `candidateGroups`: static text is a list with commas.
    pub candidate_groups: Option<Text>,
    /// `zeebe:taskSchedule dueDate`.
    pub due_date: Option<Text>,
    /// `followUpDate`.
    pub follow_up_date: Option<Text>,
}

/// The form of a user task.
#[derive(Debug)]
pub enum TaskForm {
    /// Deployed on its own.
    Deployed(FormReference),
    /// `externalReference`: a name in an external form system.
    External(Text),
}

/// A listener of a user task.
#[derive(Debug)]
pub struct TaskListener {
    pub event: TaskEvent,
    pub listener: Listener,
}

/// The moments of a user task that have listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEvent {
    /// Before it is created.
    Creating,
    /// Before it is assigned.
    Assigning,
    /// Before it is updated.
    Updating,
    /// Before it is completed.
    Completing,
    /// Before it is canceled.
    Canceling,
}

/// Values of a job-based user task that are evaluated when its job is created. Static values are in its headers.
#[derive(Debug)]
pub struct WorkerUserTask {
    pub details: TaskDetails,
    /// The form, if it is deployed on its own.
    pub form: Option<FormReference>,
}
