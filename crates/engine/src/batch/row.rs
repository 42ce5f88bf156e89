//! The rows of batch operations.
#![expect(missing_docs, reason = "fields are named by what they hold")]

use minicbor::{Decode, Encode};
use protocol::{
    Actor, BatchAction, BatchItemState, BatchOperationItem, BatchOperationState, BatchOperationType, Caller,
    HistoryOwner, Key, Name,
};
use state::minicbor_value;

/// A batch operation: what changes while it runs.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct BatchOperation {
    #[n(0)]
    pub kind: BatchOperationType,
    #[n(1)]
    pub state: BatchOperationState,
    /// Whether all its items are known.
    #[n(2)]
    pub is_scanned: bool,
    /// The last instance or incident that was looked at, then the last item that was done.
    #[n(3)]
    pub cursor: Key,
    /// Steps of an earlier life, before it was suspended, have a lower number and do nothing.
    #[n(4)]
    pub life: u32,
    /// How often the next item was put off.
    #[n(5)]
    pub attempts: u32,
    #[n(6)]
    pub total: u64,
    #[n(7)]
    pub completed: u64,
    #[n(8)]
    pub failed: u64,
    /// When its items were known, Unix milliseconds of the engine's clock.
    #[n(9)]
    pub started_ms: Option<i64>,
    #[n(10)]
    pub ended_ms: Option<i64>,
    /// Reason why the batch operation failed as a whole.
    #[n(11)]
    pub error: Option<Name>,
    /// Items that other partitions are doing; `None` while there are none.
    #[n(12)]
    pub away: Option<ItemsAway>,
}
minicbor_value!(BatchOperation);

/// Items of a batch operation that other partitions are doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct ItemsAway {
    /// How many; at least one.
    #[n(0)]
    pub count: u32,
    /// Whether the operation goes on when one of them is done.
    #[n(1)]
    pub is_awaited: bool,
}

/// Plan of a batch operation.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct BatchPlan {
    #[n(0)]
    pub action: BatchAction,
    #[n(2)]
    pub operation_reference: Option<u64>,
    #[n(3)]
    pub actor: Option<Actor>,
    /// Its caller, whose permissions are checked again for each item.
    #[cbor(n(4), default)]
    pub caller: Option<Caller>,
    /// The filter as JSON, if items are looked for outside.
    #[n(5)]
    pub search: Option<Name>,
    /// Position of the creation.
    #[cbor(n(6), default)]
    pub position: u64,
    /// The instance whose incidents are the items, if no search finds them.
    #[n(7)]
    pub incidents_of: Option<Key>,
}
minicbor_value!(BatchPlan, weight = |plan| plan.weight());

impl BatchPlan {
    fn weight(&self) -> usize {
        let mappings = match &self.action {
            BatchAction::Migrate(plan) => plan.mappings.len(),
            BatchAction::Modify(moves) => moves.len(),
            BatchAction::Cancel
            | BatchAction::Resolve
            | BatchAction::Suspend
            | BatchAction::Resume
            | BatchAction::UpdateJobs(_)
            | BatchAction::DeleteHistory(_)
            | BatchAction::DeleteWithResource(_) => 0,
        };
        let search = self.search.as_ref().map_or(0, |search| search.len());
        size_of::<Self>() + search + 128 * mappings
    }
}

/// One item of a batch operation.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct BatchItem {
    #[n(0)]
    pub process_instance_key: Key,
    #[n(1)]
    pub root_process_instance_key: Key,
    #[n(2)]
    pub state: BatchItemState,
    /// When it was done, Unix milliseconds of the engine's clock.
    #[n(3)]
    pub processed_ms: Option<i64>,
    /// Reason why the item failed.
    #[n(4)]
    pub error_message: Option<Name>,
    /// Its owner, if it has ended.
    #[n(5)]
    pub owner: Option<HistoryOwner>,
}
minicbor_value!(BatchItem, weight = |item| item.weight());

impl BatchItem {
    /// An item that is still to be done.
    pub fn new(found: &BatchOperationItem, owner: Option<HistoryOwner>) -> Self {
        Self {
            process_instance_key: found.process_instance_key,
            root_process_instance_key: found.root_process_instance_key,
            state: BatchItemState::Active,
            processed_ms: None,
            error_message: None,
            owner,
        }
    }

    fn weight(&self) -> usize {
        let owner = self.owner.as_ref().map_or(0, |owner| owner.definition_id.len() + owner.tenant_id.len());
        64 + owner + self.error_message.as_ref().map_or(0, |message| message.len())
    }
}
