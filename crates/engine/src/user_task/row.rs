//! The rows of user tasks.
#![expect(missing_docs, reason = "fields are named by what they hold")]

use minicbor::{Decode, Encode};
use protocol::{Actor, Document, JobListenerEventType, Key, Name};
use state::minicbor_value;

/// A user task that lives.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct UserTask {
    #[n(0)]
    pub element_instance_key: Key,
    #[n(1)]
    pub process_instance_key: Key,
    /// When it was created, Unix milliseconds of the engine's clock.
    #[n(2)]
    pub created_ms: i64,
    #[n(3)]
    pub state: UserTaskState,
    /// As they are without the operation under way.
    #[n(4)]
    pub attributes: TaskAttributes,
    /// The operation under way.
    #[n(5)]
    pub transition: Option<Box<Transition>>,
}
minicbor_value!(
    UserTask,
    weight = |task| {
        512 + task.transition.as_ref().map_or(0, |transition| 256 + transition.variables.json_len())
    }
);

/// Attributes of a user task, and its form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct TaskAttributes {
    #[n(0)]
    pub assignee: Name,
    #[n(1)]
    pub candidate_users: Vec<Name>,
    #[n(2)]
    pub candidate_groups: Vec<Name>,
    /// Empty if that is open.
    #[n(3)]
    pub due_date: Name,
    /// Empty if that is open.
    #[n(4)]
    pub follow_up_date: Name,
    #[n(5)]
    pub priority: i32,
    #[n(6)]
    pub form_key: Option<Key>,
    #[n(7)]
    pub external_form_reference: Name,
}

/// Where a user task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum UserTaskState {
    #[n(0)]
    Creating,
    #[n(1)]
    Created,
    #[n(2)]
    Assigning,
    #[n(3)]
    Updating,
    #[n(4)]
    Completing,
    #[n(5)]
    Canceling,
}

impl UserTaskState {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Created => "CREATED",
            Self::Assigning => "ASSIGNING",
            Self::Updating => "UPDATING",
            Self::Completing => "COMPLETING",
            Self::Canceling => "CANCELING",
        }
    }
}

/// An operation on a user task that its listeners have a say in.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Transition {
    #[n(0)]
    pub event: JobListenerEventType,
    /// The listener whose job runs.
    #[n(1)]
    pub index: u32,
    /// As they will be.
    #[n(2)]
    pub attributes: TaskAttributes,
    /// Names of those that differ.
    #[n(3)]
    pub changed: Vec<Name>,
    #[n(4)]
    pub action: Name,
    /// The result of the task, or variables to set in its scope.
    #[n(5)]
    pub variables: Document,
    /// Set if variables are set in the scope of the task: the key of that.
    #[n(6)]
    pub document_key: Option<Key>,
    /// Assignee of the task once it is created.
    #[n(7)]
    pub assignee: Name,
    /// Request that waits for the end of the operation.
    #[n(8)]
    pub request_id: Option<u64>,
    /// Listeners of all tasks that come before those of the model.
    #[n(9)]
    pub before: Vec<ListenerJob>,
    /// And those that come after.
    #[n(10)]
    pub after: Vec<ListenerJob>,
    /// Echoed in the records of its end.
    #[n(11)]
    pub operation_reference: Option<u64>,
    #[n(12)]
    pub actor: Option<Actor>,
}

/// The job of a listener of all tasks.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ListenerJob {
    #[n(0)]
    pub job_type: Name,
    #[n(1)]
    pub retries: i32,
}
