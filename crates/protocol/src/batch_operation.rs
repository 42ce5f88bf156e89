//! Batch operations: one action on every process instance, or every incident, that a filter finds.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::intent::named;
use crate::{BatchOperationItem, Key, MigrationPlan, MoveElement, Name};

named! {
    /// Types of batch operations, as the API names them.
    BatchOperationType {
        CancelProcessInstance = 0 "CANCEL_PROCESS_INSTANCE", ResolveIncident = 1 "RESOLVE_INCIDENT",
        MigrateProcessInstance = 2 "MIGRATE_PROCESS_INSTANCE", ModifyProcessInstance = 3 "MODIFY_PROCESS_INSTANCE",
        DeleteProcessInstance = 4 "DELETE_PROCESS_INSTANCE", DeleteDecisionInstance = 5 "DELETE_DECISION_INSTANCE",
        DeleteProcessDefinition = 6 "DELETE_PROCESS_DEFINITION", DeleteDecisionDefinition = 7 "DELETE_DECISION_DEFINITION",
        SuspendProcessInstance = 8 "SUSPEND_PROCESS_INSTANCE", ResumeProcessInstance = 9 "RESUME_PROCESS_INSTANCE",
        UpdateJob = 10 "UPDATE_JOB",
    }
}

named! {
    /// Where a batch operation is in its life.
    BatchOperationState {
        Created = 0 "CREATED", Active = 1 "ACTIVE", Suspended = 2 "SUSPENDED", Completed = 3 "COMPLETED",
        Canceled = 4 "CANCELED", Failed = 5 "FAILED",
    }
}

named! {
    /// Where one item of a batch operation is in its life.
    BatchItemState {
        Active = 0 "ACTIVE", Completed = 1 "COMPLETED", Skipped = 2 "SKIPPED", Canceled = 3 "CANCELED", Failed = 4 "FAILED",
    }
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CreateBatchOperation {
    #[n(0)]
    pub action: BatchAction,
    /// Echoed in the records of this command.
    #[n(2)]
    pub operation_reference: Option<u64>,
    /// The filter as JSON. A search of secondary storage finds the items, and [`AddBatchItems`] brings them.
    #[n(3)]
    pub search: Option<Name>,
}

/// Hands over items of a batch operation that were found elsewhere, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct AddBatchItems {
    #[n(0)]
    pub batch_operation_key: Key,
    #[n(1)]
    pub items: Vec<BatchOperationItem>,
    /// Whether there are no more.
    #[n(2)]
    pub is_last: bool,
    /// Why they could not be found; it ends with that.
    #[n(3)]
    pub error: Option<Name>,
    /// Owners of the items, in the same order, where the engine has forgotten them: for deletions of history.
    #[cbor(n(4), default)]
    pub owners: Vec<HistoryOwner>,
}

/// The owner of an ended instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct HistoryOwner {
    /// ID of the process or the decision.
    #[n(0)]
    pub definition_id: Name,
    #[n(1)]
    pub tenant_id: Name,
}

/// The action on each item.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum BatchAction {
    /// Cancels root process instances.
    #[n(0)]
    Cancel,
    /// Resolves incidents of process instances.
    #[n(1)]
    Resolve,
    #[n(2)]
    Migrate(#[n(0)] MigrationPlan),
    /// Moves tokens of process instances, each from all instances of one element to another element.
    #[n(3)]
    Modify(#[n(0)] Vec<MoveElement>),
    /// Deletes what is kept of instances that have ended, or of evaluations.
    #[n(4)]
    DeleteHistory(#[n(0)] HistoryKind),
    /// Deletes what is kept of all that a resource had, which is deleted itself.
    #[n(5)]
    DeleteWithResource(#[n(0)] HistoryKind),
    /// Has process instances stand still.
    #[n(6)]
    Suspend,
    /// Lets suspended process instances go on.
    #[n(7)]
    Resume,
    /// Changes jobs.
    #[n(8)]
    UpdateJobs(#[n(0)] JobChangeset),
}

/// A change of a job; what is `None` stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct JobChangeset {
    #[n(0)]
    pub retries: Option<i32>,
    /// From the time of the batch on, milliseconds.
    #[n(1)]
    pub timeout_ms: Option<i64>,
    #[n(2)]
    pub priority: Option<i32>,
}

impl BatchAction {
    /// Whether its items have ended, so that the engine has forgotten their owners.
    pub const fn is_of_history(&self) -> bool {
        match self {
            Self::DeleteHistory(_) | Self::DeleteWithResource(_) => true,
            Self::Cancel
            | Self::Suspend
            | Self::Resume
            | Self::UpdateJobs(_)
            | Self::Resolve
            | Self::Migrate(_)
            | Self::Modify(_) => false,
        }
    }

    pub const fn kind(&self) -> BatchOperationType {
        match self {
            Self::Cancel => BatchOperationType::CancelProcessInstance,
            Self::Suspend => BatchOperationType::SuspendProcessInstance,
            Self::Resume => BatchOperationType::ResumeProcessInstance,
            Self::UpdateJobs(_) => BatchOperationType::UpdateJob,
            Self::Resolve => BatchOperationType::ResolveIncident,
            Self::Migrate(_) => BatchOperationType::MigrateProcessInstance,
            Self::Modify(_) => BatchOperationType::ModifyProcessInstance,
            Self::DeleteHistory(HistoryKind::ProcessInstance) => BatchOperationType::DeleteProcessInstance,
            Self::DeleteHistory(HistoryKind::DecisionInstance) => BatchOperationType::DeleteDecisionInstance,
            Self::DeleteWithResource(HistoryKind::ProcessInstance) => {
                BatchOperationType::DeleteProcessDefinition
            }
            Self::DeleteWithResource(HistoryKind::DecisionInstance) => {
                BatchOperationType::DeleteDecisionDefinition
            }
        }
    }
}

/// A change to a batch operation that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum BatchOperationChange {
    /// It stands still until it is resumed.
    #[n(0)]
    Suspend,
    #[n(1)]
    Resume,
    /// It ends; what it has not done yet is left undone.
    #[n(2)]
    Cancel,
}

impl BatchOperationChange {
    /// The name of the command.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
        }
    }
}

/// The answer to a creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BatchOperationCreated {
    #[n(0)]
    pub batch_operation_key: Key,
    #[n(1)]
    pub kind: BatchOperationType,
}

/// Kinds of instances whose history can be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum HistoryKind {
    /// A process instance; not those that it called.
    #[n(0)]
    ProcessInstance,
    /// The evaluation of a decision, with all that it required.
    #[n(1)]
    DecisionInstance,
}

impl HistoryKind {
    /// The name in records of a process definition that is to be forgotten as soon as nothing is kept of its instances.
    pub const PROCESS_DEFINITION: &str = "PROCESS_DEFINITION";

    /// Its name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProcessInstance => "PROCESS_INSTANCE",
            Self::DecisionInstance => "DECISION_INSTANCE",
        }
    }
}
