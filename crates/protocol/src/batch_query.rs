//! Queries about batch operations.

#![expect(missing_docs, reason = "names say what is held")]

use crate::{Actor, BatchItemState, BatchOperationState, BatchOperationType, Key, Name, PartitionId};

/// A batch operation that runs, or is kept after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOperationView {
    pub key: Key,
    pub kind: BatchOperationType,
    /// Where it is in its life.
    pub state: BatchOperationState,
    /// When its items were known, Unix milliseconds.
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    pub total: u64,
    /// Those that were done, or were gone already.
    pub completed: u64,
    /// Those that could not be done.
    pub failed: u64,
    pub actor: Option<Actor>,
    /// Why it failed as a whole.
    pub error: Option<(PartitionId, Name)>,
}

/// An item of a batch operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItemView {
    pub batch_operation_key: Key,
    pub kind: BatchOperationType,
    /// Key of the process instance or incident.
    pub item_key: Key,
    pub process_instance_key: Key,
    /// The instance at the top of its call hierarchy.
    pub root_process_instance_key: Key,
    /// Where it is in its life.
    pub state: BatchItemState,
    /// When it was done, Unix milliseconds.
    pub processed_ms: Option<i64>,
    /// Why it was not.
    pub error_message: Option<Name>,
}

/// A batch operation whose items are looked for outside the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchSearch {
    /// Key of the batch operation. Instances with higher keys came later and are none of its items.
    pub key: Key,
    pub kind: BatchOperationType,
    /// The filter for process instances, as JSON.
    pub filter: Name,
    /// Key of the last item that is known; those that follow have higher ones.
    pub found_up_to: Key,
    /// Position of its creation: what happened before belongs to what it may find.
    pub position: u64,
}
