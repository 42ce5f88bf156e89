//! Batch operations and their items.

use std::ops::ControlFlow;

use protocol::{BatchItemView, BatchOperationView, BatchSearch, Key, QueryReply};

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View, not_found};
use crate::batch::has_ended;
use crate::batch::row::{BatchOperation, BatchPlan};

fn view_of(key: Key, operation: &BatchOperation, plan: Option<&BatchPlan>) -> BatchOperationView {
    BatchOperationView {
        key,
        kind: operation.kind,
        state: operation.state,
        started_ms: operation.started_ms,
        ended_ms: operation.ended_ms,
        total: operation.total,
        completed: operation.completed,
        failed: operation.failed,
        actor: plan.and_then(|plan| plan.actor.clone()),
        error: operation.error.clone().map(|error| (protocol::partition_of(key), error)),
    }
}

pub(super) fn read(view: &View<'_>, key: Key) -> Result<QueryReply, ReadError> {
    let operation =
        view.tables.batch_operations.get(&key)?.ok_or_else(|| not_found("Batch operation", key))?;
    let plan = view.tables.batch_plans.get(&key)?;
    Ok(QueryReply::BatchOperation(view_of(key, &operation, plan.as_deref())))
}

/// All there are: their number is limited.
pub(super) fn read_all(view: &View<'_>) -> Result<QueryReply, ReadError> {
    let mut found = Vec::new();
    view.tables.batch_operations.visit(.., |key, operation| {
        found.push((*key, operation.clone()));
        ControlFlow::Continue(())
    })?;
    let mut all = Vec::with_capacity(found.len());
    for (key, operation) in found {
        let plan = view.tables.batch_plans.get(&key)?;
        all.push(view_of(key, &operation, plan.as_deref()));
    }
    Ok(QueryReply::BatchOperations(all))
}

/// Those that wait for items from outside.
pub(super) fn read_searches(view: &View<'_>) -> Result<QueryReply, ReadError> {
    let mut open = Vec::new();
    view.tables.batch_operations.visit(.., |key, operation| {
        if !operation.is_scanned && !has_ended(operation.state) {
            open.push((*key, operation.clone()));
        }
        ControlFlow::Continue(())
    })?;
    let mut searches = Vec::new();
    for (key, operation) in open {
        let Some(plan) = view.tables.batch_plans.get(&key)? else { continue };
        let (Some(filter), position) = (plan.search.clone(), plan.position) else { continue };
        let found_up_to = operation.cursor;
        searches.push(BatchSearch { key, kind: operation.kind, filter, found_up_to, position });
    }
    Ok(QueryReply::BatchSearches(searches))
}

/// Items of one batch operation or of all, in the order of their keys, up to a limit.
pub(super) fn read_items(batch_operation_key: Option<Key>, limit: usize) -> Read {
    let (from, end) = match batch_operation_key {
        Some(key) => ((key, 0), (key + 1, 0)),
        None => ((0, 0), (Key::MAX, Key::MAX)),
    };
    Read::More(Box::new(Items { from, end, limit, found: Vec::new() }))
}

struct Items {
    from: (Key, Key),
    end: (Key, Key),
    limit: usize,
    found: Vec<BatchItemView>,
}

impl Scan for Items {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let rows = view.tables.batch_items.scan(self.from..self.end, room)?;
        let is_last = rows.len() < room;
        for ((operation_key, item_key), item) in rows {
            self.from = (operation_key, item_key + 1);
            // The batch operation goes last, so it is there.
            let Some(operation) = view.tables.batch_operations.get(&operation_key)? else { continue };
            self.found.push(BatchItemView {
                batch_operation_key: operation_key,
                kind: operation.kind,
                item_key,
                process_instance_key: item.process_instance_key,
                root_process_instance_key: item.root_process_instance_key,
                state: item.state,
                processed_ms: item.processed_ms,
                error_message: item.error_message.clone(),
            });
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::BatchItems { items: self.found, has_more }))
    }
}
