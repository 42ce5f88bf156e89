//! Items of a batch operation on other partitions: they are done where they are, and their outcomes counted here.

use protocol::{
    BatchAction, BatchItemState, BatchOperationState, Command, Key, Name, PartitionId, PartitionMessage,
    RemoteBatchItem, RemoteBatchOutcome, Subject, partition_of,
};

use super::execute::{IS_GONE, command_of};
use super::row::{BatchItem, BatchOperation, BatchPlan, ItemsAway};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::origin::CommandOrigin;
use crate::core::step::Step;

/// Items of a batch operation that are on their way at once.
const MAX_AWAY: u32 = 64;
/// Attempts of an item whose instance is on the move.
const MAX_ATTEMPTS: u32 = 16;

/// An item of a batch operation of another partition, whose command is to be performed.
pub(crate) struct RemoteItemAtWork {
    source: PartitionId,
    item: Box<RemoteBatchItem>,
    pub command: Command,
}

/// On the partition of the batch operation.
impl CommandContext<'_> {
    /// Whether an item is on another partition.
    pub(super) fn is_elsewhere(&self, item_key: Key) -> bool {
        self.has_others() && partition_of(item_key) != self.options.partition_id
    }

    /// Has the next item, which is on another partition, done there.
    pub(super) fn send_item(
        &mut self,
        key: Key,
        mut operation: BatchOperation,
        item_key: Key,
        item: &BatchItem,
        plan: &BatchPlan,
    ) -> Result<(), Failure> {
        let item = RemoteBatchItem {
            batch_operation_key: key,
            item_key,
            action: plan.action.clone(),
            caller: plan.caller.clone(),
            process_instance_key: item.process_instance_key,
            owner: item.owner.clone(),
            operation_reference: plan.operation_reference,
        };
        self.send(partition_of(item_key), PartitionMessage::BatchItem(Box::new(item)))?;
        operation.cursor = item_key;
        operation.attempts = 0;
        let count = operation.away.map_or(0, |away| away.count) + 1;
        operation.away = Some(ItemsAway { count, is_awaited: false });
        if count < MAX_AWAY {
            self.go_on_with_batch(key, operation);
        } else {
            self.wait_for_items(key, operation);
        }
        Ok(())
    }

    /// Goes on when an item that is away has its outcome.
    pub(super) fn wait_for_items(&mut self, key: Key, mut operation: BatchOperation) {
        let away = operation.away.as_mut().expect("a batch operation waits for items that are away");
        away.is_awaited = true;
        self.tables.batch_operations.put(key, operation);
    }

    /// Takes note of the outcome of an item that was away.
    pub(super) fn end_remote_item(&mut self, outcome: &RemoteBatchOutcome) -> Result<(), Failure> {
        let (key, item_key) = (outcome.batch_operation_key, outcome.item_key);
        // The batch operation may be forgotten meanwhile, or purged.
        let Some(operation) = self.tables.batch_operations.get(&key)? else { return Ok(()) };
        let Some(item) = self.tables.batch_items.get(&(key, item_key))? else { return Ok(()) };
        let mut operation = (*operation).clone();
        self.take_origin(key)?;
        self.origin.batch_operation_reference = Some(key);
        let away = operation.away.expect("an item that comes back was away");
        assert!(away.count > 0, "batch operation {key} has counted {away:?}");
        operation.away = (away.count > 1).then(|| ItemsAway { count: away.count - 1, is_awaited: false });
        let goes_on = away.is_awaited && operation.state == BatchOperationState::Active;
        let (state, message) = match &outcome.failure {
            Some(reason) => (BatchItemState::Failed, Some(reason.clone())),
            None if outcome.is_gone => (BatchItemState::Skipped, Some(Name::from(IS_GONE))),
            None => (BatchItemState::Completed, None),
        };
        self.note_outcome(key, &mut operation, (item_key, BatchItem::clone(&item)), state, message);
        if goes_on {
            self.go_on_with_batch(key, operation);
        } else {
            self.tables.batch_operations.put(key, operation);
        }
        Ok(())
    }
}

/// On the partition of the item.
impl CommandContext<'_> {
    /// Takes an item of a batch operation, which is done in a step of its own.
    pub(super) fn take_batch_item(&mut self, source: PartitionId, item: &RemoteBatchItem) {
        let step = Step::DoBatchItem { source, item: Box::new(item.clone()), attempts: 0 };
        // Keys of other partitions have no turn among those given out here.
        self.leave_step_to(0, step);
    }

    /// Begins an item; gives the command that does it, unless its subject is gone or on the move.
    pub fn begin_remote_item(
        &mut self,
        source: PartitionId,
        item: Box<RemoteBatchItem>,
        attempts: u32,
    ) -> Result<Option<RemoteItemAtWork>, Failure> {
        let RemoteBatchItem { action, item_key, process_instance_key, owner, .. } = &*item;
        let (owner, reference) = (owner.clone(), item.operation_reference);
        let command = command_of(action, *item_key, *process_instance_key, owner, reference);
        let asked = command.clone().asked_by(item.caller.clone());
        let batch_operation_reference = Some(item.batch_operation_key);
        self.origin = CommandOrigin { batch_operation_reference, ..CommandOrigin::of(&asked) };
        let subject = command.facts().subject;
        if let Some(subject) = subject
            && !self.tables.has(subject)?
        {
            self.answer_batch_item(source, &item, None, true)?;
            return Ok(None);
        }
        if matches!(action, BatchAction::Migrate(_) | BatchAction::Modify(_))
            && let Some(Subject::Instance(instance_key)) = subject
            && attempts < MAX_ATTEMPTS
            && self.has_pending_steps(instance_key)?
        {
            let owner = self.tables.instances.get(&instance_key)?.map_or(0, |instance| instance.root_key);
            self.leave_step_to(owner, Step::DoBatchItem { source, item, attempts: attempts + 1 });
            return Ok(None);
        }
        if matches!(action, BatchAction::Resolve) {
            self.leave_a_retry(*item_key)?;
        }
        Ok(Some(RemoteItemAtWork { source, item, command }))
    }

    /// Tells the outcome of an item whose command is performed.
    pub fn end_remote_command(&mut self, done: &RemoteItemAtWork) -> Result<(), Failure> {
        self.answer_batch_item(done.source, &done.item, None, false)
    }

    /// Tells the partition of the batch operation that an item has failed.
    pub fn fail_remote_item(
        &mut self,
        source: PartitionId,
        item: &RemoteBatchItem,
        reason: &str,
    ) -> Result<(), Failure> {
        let reason = self.options.cut_message(reason);
        self.answer_batch_item(source, item, Some(reason), false)
    }

    /// Tells the partition of the batch operation the outcome of an item.
    fn answer_batch_item(
        &mut self,
        source: PartitionId,
        item: &RemoteBatchItem,
        failure: Option<Name>,
        is_gone: bool,
    ) -> Result<(), Failure> {
        let (batch_operation_key, item_key) = (item.batch_operation_key, item.item_key);
        let outcome = RemoteBatchOutcome { batch_operation_key, item_key, failure, is_gone };
        self.send(source, PartitionMessage::BatchItemDone(Box::new(outcome)))?;
        Ok(())
    }
}
