//! Items of a batch operation that were found in secondary storage.

use protocol::{AddBatchItems, BatchOperationState, Rejection, Response};

use super::has_ended;
use super::row::BatchItem;
use crate::failure::Failure;
use crate::work::Work;

impl Work<'_> {
    /// Takes over items. Those that are known already are passed over, so that handing over may be repeated.
    pub fn add_batch_items(&mut self, add: &AddBatchItems) -> Result<Response, Failure> {
        let key = add.batch_operation_key;
        let Some(operation) = self.tables.batch_operations.get(&key)? else {
            return Err(Rejection::not_found(format!(
                "Expected to add items to a batch operation with key '{key}', but no such batch operation was found"
            ))
            .into());
        };
        let mut operation = (*operation).clone();
        if operation.is_scanned || has_ended(operation.state) {
            return Err(Rejection::invalid_state(format!(
                "Expected to add items to a batch operation with key '{key}', but its items are known or it has ended"
            ))
            .into());
        }
        self.note_operation(key)?;
        if let Some(error) = &add.error {
            operation.error = Some(self.cut_message(error));
            self.end_batch(key, operation, BatchOperationState::Failed);
            return Ok(Response::Done);
        }
        let caller = self.tables.batch_plans.get(&key)?.and_then(|plan| plan.caller.clone());
        let mut items = Vec::with_capacity(add.items.len());
        for (at, found) in add.items.iter().enumerate().filter(|(_, found)| found.item_key > operation.cursor)
        {
            let owner = add.owners.get(at);
            // Whoever searched for them did so for nobody in particular.
            let living = self.tables.instances.get(&found.process_instance_key)?;
            let tenant_id = living
                .map(|instance| instance.tenant_id.clone())
                .or(owner.map(|owner| owner.tenant_id.clone()));
            if let Some(tenant_id) = tenant_id
                && !self.knows_tenant(caller.as_ref(), &tenant_id)?
            {
                continue;
            }
            self.tables.batch_items.put((key, found.item_key), BatchItem::new(found, owner.cloned()));
            items.push(found.clone());
        }
        operation.total += items.len() as u64;
        operation.cursor =
            add.items.last().map_or(operation.cursor, |last| last.item_key.max(operation.cursor));
        self.note_items(key, &mut operation, items, add.is_last);
        if operation.state == BatchOperationState::Active {
            self.go_on_with_batch(key, operation);
        } else {
            self.tables.batch_operations.put(key, operation);
        }
        Ok(Response::Done)
    }
}
