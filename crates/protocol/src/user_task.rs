//! User tasks and the listeners that may have a say in them: operations, results of listener jobs.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Document, Key, Name};

/// See [`crate::Command::UserTask`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct UserTaskCommand {
    #[n(0)]
    pub user_task_key: Key,
    #[n(1)]
    pub operation: UserTaskOperation,
    /// Name of the operation for listeners and records; empty for the usual one.
    #[n(2)]
    pub action: Name,
    /// Number that the leader gave the waiting request; comes back with the response.
    #[n(3)]
    pub request_id: Option<u64>,
}

/// Actions on a user task.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum UserTaskOperation {
    /// Gives it to somebody.
    #[n(0)]
    Assign {
        /// The new assignee; empty for nobody.
        #[n(0)]
        assignee: Name,
        /// Whether it may be taken from another assignee.
        #[n(1)]
        allow_override: bool,
    },
    /// Changes some of its attributes.
    #[n(1)]
    Update(#[n(0)] UserTaskChanges),
    #[n(2)]
    Complete {
        #[n(0)]
        variables: Document,
    },
}

/// New attributes of a user task: absent ones stay, empty ones are cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct UserTaskChanges {
    #[n(0)]
    pub candidate_users: Option<Vec<Name>>,
    /// Groups whose members may take it.
    #[n(1)]
    pub candidate_groups: Option<Vec<Name>>,
    /// When it should be done, ISO 8601.
    #[n(2)]
    pub due_date: Option<Name>,
    /// When to look at it, ISO 8601.
    #[n(3)]
    pub follow_up_date: Option<Name>,
    /// 0 to 100.
    #[n(4)]
    pub priority: Option<i32>,
    /// Assignee; only listeners may correct it together with the rest.
    #[n(5)]
    pub assignee: Option<Name>,
}

/// Results of a job beyond its variables.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum JobResult {
    /// Of a user task listener.
    #[n(0)]
    UserTask {
        /// Whether the operation is refused.
        #[n(0)]
        denied: bool,
        #[n(1)]
        denied_reason: Name,
        #[n(2)]
        corrections: UserTaskChanges,
    },
    /// Of the job of an ad-hoc sub-process.
    #[n(1)]
    AdHocSubProcess {
        /// Elements to activate, each with local variables.
        #[n(0)]
        activate_elements: Vec<ActivateElement>,
        /// Whether the sub-process is done.
        #[n(1)]
        is_completion_condition_fulfilled: bool,
        /// Whether what still runs inside is terminated then.
        #[n(2)]
        is_cancel_remaining_instances: bool,
    },
}

impl JobResult {
    /// Whether it says the same as no result.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::UserTask { denied, denied_reason, corrections } => {
                !denied && denied_reason.is_empty() && *corrections == UserTaskChanges::default()
            }
            Self::AdHocSubProcess {
                activate_elements,
                is_completion_condition_fulfilled,
                is_cancel_remaining_instances,
            } => {
                activate_elements.is_empty()
                    && !is_completion_condition_fulfilled
                    && !is_cancel_remaining_instances
            }
        }
    }
}

/// An element of an ad-hoc sub-process that somebody wants to be activated.
#[derive(Debug, Clone, PartialEq, Encode, Decode, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivateElement {
    #[n(0)]
    pub element_id: Name,
    #[n(1)]
    pub variables: Document,
}

/// A user task as the worker of one of its listeners sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserTaskProperties {
    pub user_task_key: Key,
    /// Name of the operation under way.
    pub action: Name,
    /// Assignee; empty if unassigned.
    pub assignee: Name,
    /// Groups whose members may take it.
    pub candidate_groups: Vec<Name>,
    pub candidate_users: Vec<Name>,
    /// Names of the attributes that the operation or its listeners have changed.
    pub changed_attributes: Vec<Name>,
    /// When it should be done; empty if that is open.
    pub due_date: Name,
    /// When to look at it; empty if that is open.
    pub follow_up_date: Name,
    pub form_key: Option<Key>,
    /// 0 to 100.
    pub priority: i32,
}
