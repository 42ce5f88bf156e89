//! Finding the items of a batch operation.

use protocol::{
    BatchAction, BatchOperationChunkRecord, BatchOperationInitializationRecord, BatchOperationItem,
    BatchOperationState, InstanceField, InstanceFilter, Intent, Key, Name, Operand, PermissionType, Test,
};
use state::StateError;

use super::row::{BatchItem, BatchOperation};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;

/// Something that may become an item.
struct Candidate {
    key: Key,
    process_instance_key: Key,
}

impl CommandContext<'_> {
    /// Looks at the next slice of what was there when the batch operation was created.
    pub(super) fn scan_for_items(&mut self, key: Key, mut operation: BatchOperation) -> Result<(), Failure> {
        let Some(plan) = self.tables.batch_plans.get(&key)? else { return Ok(()) };
        if plan.search.is_some() {
            // They are handed over.
            return Ok(());
        }
        let limit = self.options.max_batch_scan_per_step;
        let candidates = self.candidates(key, operation.cursor, &plan.action, &plan.filter, limit)?;
        let is_last = candidates.len() < limit;
        let mut items = Vec::new();
        for candidate in candidates {
            operation.cursor = candidate.key;
            let instance_key = candidate.process_instance_key;
            let Some((instance, process)) = self.instance(instance_key)? else { continue };
            // A called instance ends with its caller.
            if matches!(plan.action, BatchAction::Cancel) && instance.parent.is_some() {
                continue;
            }
            if !self.may_on_instance(plan.caller.as_ref(), PermissionType::ReadProcessInstance, &instance)? {
                continue;
            }
            if !self.is_match(instance_key, &instance, &process, &plan.filter)? {
                continue;
            }
            let item = BatchOperationItem {
                item_key: candidate.key,
                process_instance_key: instance_key,
                root_process_instance_key: instance.root_key,
            };
            self.tables.batch_items.insert((key, candidate.key), BatchItem::new(&item, None));
            items.push(item);
        }
        self.blame(0);
        operation.total += items.len() as u64;
        self.note_items(key, &mut operation, items, is_last);
        self.go_on_with_batch(key, operation);
        Ok(())
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

    /// Candidates behind the cursor. Fewer than `limit` are the last.
    fn candidates(
        &self,
        key: Key,
        cursor: Key,
        action: &BatchAction,
        filter: &InstanceFilter,
        limit: usize,
    ) -> Result<Vec<Candidate>, StateError> {
        // Keys grow, so what has a higher one came later.
        let range = cursor + 1..key;
        if matches!(action, BatchAction::Resolve) {
            let incidents = self.tables.incidents.scan(range, limit)?;
            return Ok(incidents
                .into_iter()
                .map(|(key, incident)| Candidate { key, process_instance_key: incident.process_instance_key })
                .collect());
        }
        let keys = match named_instances(filter) {
            Some(named) => {
                let from = named.partition_point(|named| *named < range.start);
                named[from..].iter().copied().take_while(|named| *named < range.end).take(limit).collect()
            }
            None => self.tables.instances.keys(range, limit)?,
        };
        Ok(keys.into_iter().map(|key| Candidate { key, process_instance_key: key }).collect())
    }
}

/// The instances that a filter names one by one, in order. Nobody else can meet it.
fn named_instances(filter: &InstanceFilter) -> Option<Vec<Key>> {
    let key = |operand: &Operand| match operand {
        Operand::Integer(key) => Key::try_from(*key).ok(),
        Operand::Text(_) => None,
    };
    filter.all.iter().filter(|condition| condition.field == InstanceField::ProcessInstanceKey).find_map(
        |condition| match &condition.test {
            Test::Equal(operand) => Some(key(operand).into_iter().collect()),
            Test::In(operands) => Some(operands.iter().filter_map(key).collect()),
            _ => None,
        },
    )
}
