//! Items of a batch operation that resolves the incidents of one instance and of those that it called.

use protocol::{
    BatchOperationChunkRecord, BatchOperationInitializationRecord, BatchOperationItem, BatchOperationState,
    Intent, Key, Name, PermissionType,
};

use state::StateError;

use super::row::{BatchItem, BatchOperation};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// Looks at the next slice of the incidents that were there when the batch operation was created.
    pub(super) fn scan_for_items(&mut self, key: Key, mut operation: BatchOperation) -> Result<(), Failure> {
        let Some(plan) = self.tables.batch_plans.get(&key)? else { return Ok(()) };
        if plan.search.is_some() {
            // They are handed over.
            return Ok(());
        }
        let Some(instance_key) = plan.incidents_of else {
            operation.error =
                Some(Name::from("an earlier release created it without secondary storage; create it again"));
            self.end_batch(key, operation, BatchOperationState::Failed);
            return Ok(());
        };
        let limit = self.options.max_batch_scan_per_step;
        // Keys grow, so a later incident has a higher one than the batch operation.
        let incidents = self.tables.incidents.scan(operation.cursor + 1..key, limit)?;
        let is_last = incidents.len() < limit;
        operation.cursor = incidents.last().map_or(operation.cursor, |(last, _)| *last);
        let mut items = Vec::new();
        for (item_key, incident) in &incidents {
            let holder = incident.process_instance_key;
            let Some(instance) = self.tables.instances.get(&holder)? else { continue };
            if self.is_called_by(holder, instance_key)?
                && self.may_on_instance(
                    plan.caller.as_ref(),
                    PermissionType::ReadProcessInstance,
                    &instance,
                )?
            {
                items.push(BatchOperationItem {
                    item_key: *item_key,
                    process_instance_key: holder,
                    root_process_instance_key: instance.root_key,
                });
            }
        }
        for item in &items {
            self.tables.batch_items.insert((key, item.item_key), BatchItem::new(item, None));
        }
        operation.total += items.len() as u64;
        self.note_items(key, &mut operation, items, is_last);
        self.go_on_with_batch(key, operation);
        Ok(())
    }

    /// Whether a process instance is another one, or was called by it, however far below.
    fn is_called_by(&self, key: Key, caller: Key) -> Result<bool, StateError> {
        let mut next = Some(key);
        while let Some(key) = next {
            if key == caller {
                return Ok(true);
            }
            let instance = self.tables.instances.get(&key)?;
            let parent = instance.and_then(|row| row.parent).map(|parent| parent.process_instance_key);
            assert!(
                parent.is_none_or(|parent| parent < key),
                "a caller is older than the instances that it calls"
            );
            next = parent.filter(|parent| *parent >= caller);
        }
        Ok(false)
    }

    /// Tells of items that were found, and of the end of the search.
    pub(super) fn note_items(
        &mut self,
        key: Key,
        operation: &mut BatchOperation,
        items: Vec<BatchOperationItem>,
        is_last: bool,
    ) {
        let kind = Name::from(operation.kind.as_str());
        if !items.is_empty() {
            self.emit(key, Intent::Created, |_| BatchOperationChunkRecord {
                batch_operation_key: key,
                items,
                batch_operation_type: kind.clone(),
            });
        }
        if is_last {
            self.emit(key, Intent::Initialized, |_| BatchOperationInitializationRecord {
                batch_operation_key: key,
                batch_operation_type: kind,
            });
            operation.is_scanned = true;
            operation.cursor = 0;
            if operation.state == BatchOperationState::Created {
                operation.state = BatchOperationState::Active;
            }
            operation.started_ms = Some(self.now_ms());
        }
    }
}
