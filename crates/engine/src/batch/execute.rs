//! Doing the items of a batch operation.

use protocol::{
    BatchAction, BatchItemState, BatchOperationExecutionRecord, BatchOperationState, Command, DeleteHistory,
    Document, HistoryOwner, Intent, Key, MigrateInstance, ModifyInstance, Name, UpdateJob,
};

use super::row::{BatchItem, BatchOperation, BatchPlan};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::entity::JobState;

/// Attempts of an item whose instance is on the move.
const MAX_ATTEMPTS: u32 = 16;
/// The reason why an item is skipped.
pub(super) const IS_GONE: &str = "it has ended or been resolved meanwhile";
/// Items that one step cancels.
const CANCELED_PER_STEP: usize = 256;

/// An item of a batch operation whose command is to be performed, for the principal that created the operation.
pub(crate) struct ItemAtWork {
    key: Key,
    operation: BatchOperation,
    item_key: Key,
    item: BatchItem,
    pub command: Command,
}

impl CommandContext<'_> {
    /// Begins the next item; [`CommandContext::end_item`] follows on its command. A refusal of that undoes all of it;
    /// then [`CommandContext::fail_batch_item`] is called instead.
    pub(super) fn begin_item(
        &mut self,
        key: Key,
        mut operation: BatchOperation,
    ) -> Result<Option<ItemAtWork>, Failure> {
        let Some((item_key, item)) = self.next_item(key, &operation)? else {
            if operation.away.is_some() {
                self.wait_for_items(key, operation);
                return Ok(None);
            }
            self.end_batch(key, operation, BatchOperationState::Completed);
            return Ok(None);
        };
        let Some(plan) = self.tables.batch_plans.get(&key)? else { return Ok(None) };
        let instance_key = item.process_instance_key;
        self.origin.batch_operation_reference = Some(key);
        if self.is_elsewhere(item_key) {
            self.send_item(key, operation, item_key, &item, &plan)?;
            return Ok(None);
        }
        if self.is_gone(item_key, &plan)? {
            let message = Name::from(IS_GONE);
            self.finish_item(key, operation, item_key, item, BatchItemState::Skipped, Some(message));
            return Ok(None);
        }
        if matches!(plan.action, BatchAction::Migrate(_) | BatchAction::Modify(_))
            && operation.attempts < MAX_ATTEMPTS
            && self.has_pending_steps(instance_key)?
        {
            // They come before the next step of this one.
            operation.attempts += 1;
            let owner = self.tables.instances.get(&instance_key)?.map_or(key, |instance| instance.root_key);
            self.go_on_behind(owner, key, operation);
            return Ok(None);
        }
        let owner = item.owner.clone();
        let command =
            command_of(&plan.action, item_key, instance_key, owner, self.origin.operation_reference);
        if matches!(plan.action, BatchAction::Resolve) {
            self.leave_a_retry(item_key)?;
        }
        Ok(Some(ItemAtWork { key, operation, item_key, item, command }))
    }

    /// Notes the outcome of an item's command.
    pub fn end_item(&mut self, done: ItemAtWork) {
        let ItemAtWork { key, operation, item_key, item, .. } = done;
        self.finish_item(key, operation, item_key, item, BatchItemState::Completed, None);
    }

    /// Marks the next item as failed, or the search for items while they are not known.
    pub fn fail_batch_item(&mut self, key: Key, reason: &str) -> Result<(), Failure> {
        let Some(operation) = self.tables.batch_operations.get(&key)? else { return Ok(()) };
        let mut operation = (*operation).clone();
        let message = self.options.cut_message(reason);
        self.take_origin(key)?;
        if operation.state == BatchOperationState::Active
            && let Some((item_key, item)) = self.next_item(key, &operation)?
        {
            self.origin.batch_operation_reference = Some(key);
            self.finish_item(key, operation, item_key, item, BatchItemState::Failed, Some(message));
            return Ok(());
        }
        operation.error = Some(message);
        self.end_batch(key, operation, BatchOperationState::Failed);
        Ok(())
    }

    fn next_item(&self, key: Key, operation: &BatchOperation) -> Result<Option<(Key, BatchItem)>, Failure> {
        let next = self.tables.batch_items.first((key, operation.cursor + 1)..(key + 1, 0))?;
        Ok(next.map(|((_, item_key), item)| (item_key, (*item).clone())))
    }

    fn is_gone(&self, item_key: Key, plan: &BatchPlan) -> Result<bool, Failure> {
        Ok(match plan.action {
            BatchAction::Resolve => !self.tables.incidents.contains(&item_key)?,
            BatchAction::UpdateJobs(_) => !self.tables.jobs.contains(&item_key)?,
            BatchAction::Cancel
            | BatchAction::Suspend
            | BatchAction::Resume
            | BatchAction::Migrate(_)
            | BatchAction::Modify(_) => !self.tables.instances.contains(&item_key)?,
            // Secondary storage has it, and takes a second deletion as well.
            BatchAction::DeleteHistory(_) | BatchAction::DeleteWithResource(_) => false,
        })
    }

    fn finish_item(
        &mut self,
        key: Key,
        mut operation: BatchOperation,
        item_key: Key,
        item: BatchItem,
        state: BatchItemState,
        error_message: Option<Name>,
    ) {
        debug_assert!(operation.cursor < item_key, "items are done in the order of their keys");
        self.note_outcome(key, &mut operation, (item_key, item), state, error_message);
        operation.cursor = item_key;
        operation.attempts = 0;
        self.go_on_with_batch(key, operation);
    }

    /// Keeps the outcome of an item, and counts it.
    pub(super) fn note_outcome(
        &mut self,
        key: Key,
        operation: &mut BatchOperation,
        (item_key, mut item): (Key, BatchItem),
        state: BatchItemState,
        error_message: Option<Name>,
    ) {
        assert_eq!(item.state, BatchItemState::Active, "an item has one outcome");
        let kind = operation.kind;
        self.emit(key, Intent::Executed, |_| BatchOperationExecutionRecord {
            batch_operation_key: key,
            batch_operation_type: Name::from(kind.as_str()),
            item_keys: vec![item_key],
            state: Name::from(state.as_str()),
            error_message: error_message.clone().unwrap_or_default(),
        });
        item.state = state;
        item.processed_ms = Some(self.now_ms());
        item.error_message = error_message;
        self.tables.batch_items.put((key, item_key), item);
        match state {
            BatchItemState::Failed => operation.failed += 1,
            BatchItemState::Completed | BatchItemState::Skipped => operation.completed += 1,
            BatchItemState::Active | BatchItemState::Canceled => {
                unreachable!(
                    "an item that is done has an outcome, and those of a canceled operation are left"
                )
            }
        }
        debug_assert!(
            operation.completed + operation.failed <= operation.total,
            "{} items completed and {} failed of {}",
            operation.completed,
            operation.failed,
            operation.total
        );
    }

    /// Gives a retry to the job of an incident, which would only come back without one.
    pub(super) fn leave_a_retry(&mut self, incident_key: Key) -> Result<(), Failure> {
        let job_key = self.tables.incidents.get(&incident_key)?.and_then(|incident| incident.job_key);
        if let Some(job_key) = job_key
            && let Some(job) = self.tables.jobs.get(&job_key)?
            && job.retries <= 0
            && job.state == JobState::Failed
        {
            let mut job = (*job).clone();
            job.retries = 1;
            self.record_job(job_key, Intent::RetriesUpdated, &job, &Document::empty(), "", -1)?;
            self.tables.jobs.put(job_key, job);
        }
        Ok(())
    }

    /// Marks the items that a canceled batch operation leaves undone.
    pub(super) fn cancel_items(&mut self, key: Key, mut operation: BatchOperation) -> Result<(), Failure> {
        // Of a search that was not over, the cursor is that of the search.
        let from = if operation.is_scanned { operation.cursor } else { 0 };
        operation.is_scanned = true;
        let items = self.tables.batch_items.scan((key, from + 1)..(key + 1, 0), CANCELED_PER_STEP)?;
        let is_last = items.len() < CANCELED_PER_STEP;
        let item_keys: Vec<Key> = items.iter().map(|((_, item_key), _)| *item_key).collect();
        if !item_keys.is_empty() {
            let kind = operation.kind;
            self.emit(key, Intent::Executed, |_| BatchOperationExecutionRecord {
                batch_operation_key: key,
                batch_operation_type: Name::from(kind.as_str()),
                item_keys,
                state: Name::from(BatchItemState::Canceled.as_str()),
                error_message: Name::default(),
            });
        }
        for ((_, item_key), item) in items {
            operation.cursor = item_key;
            let state = BatchItemState::Canceled;
            let item = BatchItem { state, processed_ms: operation.ended_ms, ..(*item).clone() };
            self.tables.batch_items.put((key, item_key), item);
        }
        if is_last {
            self.tables.batch_operations.put(key, operation);
            self.leave_step_to(0, crate::core::step::Step::ForgetBatches);
        } else {
            self.go_on_with_batch(key, operation);
        }
        Ok(())
    }
}

/// The command of a client that does one item; `owner` is that of one that has ended.
pub(super) fn command_of(
    action: &BatchAction,
    item_key: Key,
    process_instance_key: Key,
    owner: Option<HistoryOwner>,
    operation_reference: Option<u64>,
) -> Command {
    match action {
        BatchAction::Cancel => Command::CancelInstance { process_instance_key, operation_reference },
        BatchAction::Suspend => Command::SuspendInstance { process_instance_key, operation_reference },
        BatchAction::Resume => Command::ResumeInstance { process_instance_key, operation_reference },
        BatchAction::UpdateJobs(change) => Command::UpdateJob(UpdateJob {
            job_key: item_key,
            retries: change.retries,
            timeout_ms: change.timeout_ms,
            priority: change.priority,
            lease: None,
            operation_reference,
        }),
        BatchAction::Resolve => Command::ResolveIncident { incident_key: item_key, operation_reference },
        BatchAction::Migrate(plan) => Command::MigrateInstance(MigrateInstance {
            process_instance_key,
            plan: plan.clone(),
            operation_reference,
        }),
        BatchAction::Modify(moves) => Command::ModifyInstance(ModifyInstance {
            moves: moves.clone(),
            operation_reference,
            ..ModifyInstance::of(process_instance_key)
        }),
        BatchAction::DeleteHistory(kind) | BatchAction::DeleteWithResource(kind) => {
            let owner = owner.unwrap_or_default();
            Command::DeleteHistory(DeleteHistory {
                kind: *kind,
                key: item_key,
                definition_id: owner.definition_id,
                tenant_id: owner.tenant_id,
                operation_reference,
            })
        }
    }
}
