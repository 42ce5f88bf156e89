//! Items of a batch operation that were found in secondary storage.

use protocol::{
    AddBatchItems, BatchAction, BatchOperationItem, BatchOperationState, HistoryKind, HistoryOwner,
    PermissionType, Rejection, Response,
};
use state::StateError;

use super::has_ended;
use super::row::{BatchItem, BatchPlan};
use crate::core::context::CommandContext;
use crate::core::failure::Failure;

impl CommandContext<'_> {
    /// Takes over items. Those that are known already are passed over, so that handing over may be repeated.
    pub(super) fn add_batch_items(&mut self, add: &AddBatchItems) -> Result<Response, Failure> {
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
        self.take_origin(key)?;
        if let Some(error) = &add.error {
            operation.error = Some(self.options.cut_message(error));
            self.end_batch(key, operation, BatchOperationState::Failed);
            return Ok(Response::Done);
        }
        let Some(plan) = self.tables.batch_plans.get(&key)? else { return Ok(Response::Done) };
        let mut items = Vec::with_capacity(add.items.len());
        for (at, found) in add.items.iter().enumerate().filter(|(_, found)| found.item_key > operation.cursor)
        {
            let owner = add.owners.get(at);
            if !self.may_be_item(&plan, found, owner)? {
                continue;
            }
            let kept = owner.filter(|_| plan.action.is_of_history()).cloned();
            self.tables.batch_items.put((key, found.item_key), BatchItem::new(found, kept));
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

    /// Whether the principal of the batch operation may see an item. The search has no principal, and the number of
    /// items alone would tell of others' variables.
    fn may_be_item(
        &mut self,
        plan: &BatchPlan,
        found: &BatchOperationItem,
        owner: Option<&HistoryOwner>,
    ) -> Result<bool, StateError> {
        let Some(caller) = plan.caller.as_ref() else { return Ok(true) };
        match (&plan.action, owner) {
            (BatchAction::DeleteHistory(kind), Some(owner)) => {
                self.may_see_history(Some(caller), *kind, owner)
            }
            // Of a definition that is deleted, each that may not be is told of.
            (BatchAction::DeleteWithResource(_), Some(owner)) => self.knows_tenant(caller, &owner.tenant_id),
            (
                BatchAction::Cancel
                | BatchAction::Resolve
                | BatchAction::Migrate(_)
                | BatchAction::Modify(_)
                | BatchAction::Suspend
                | BatchAction::Resume
                | BatchAction::UpdateJobs(_),
                _,
            )
            | (BatchAction::DeleteHistory(_) | BatchAction::DeleteWithResource(_), None) => {
                if self.is_elsewhere(found.item_key) {
                    return match owner {
                        Some(owner) => {
                            self.may_see_history(Some(caller), HistoryKind::ProcessInstance, owner)
                        }
                        None => Ok(!caller.checks_tenants && !caller.checks_authorizations),
                    };
                }
                match self.tables.instances.get(&found.process_instance_key)? {
                    Some(instance) => {
                        self.may_on_instance(Some(caller), PermissionType::ReadProcessInstance, &instance)
                    }
                    // It has ended meanwhile, and whose it was is forgotten.
                    None => Ok(!caller.checks_tenants && !caller.checks_authorizations),
                }
            }
        }
    }
}
