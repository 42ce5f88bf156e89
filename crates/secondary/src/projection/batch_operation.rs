//! Batch operations and their items.

use json::write_string;
use protocol::{
    BatchOperationChunkRecord, BatchOperationCreationRecord, BatchOperationExecutionRecord,
    BatchOperationInitializationRecord, BatchOperationIntent, BatchOperationLifecycleRecord, Intent, Key,
    Name, Record,
};
use search::Value;
use search::model::{batch_operation as operation, batch_operation_item as item};

use crate::change::{Batch, RowId};

pub(super) fn creation(record: &Record, value: &BatchOperationCreationRecord, batch: &mut Batch) {
    if record.intent == Intent::Created {
        batch
            .insert(&operation::ENTITY, RowId::Key(value.batch_operation_key))
            .set(operation::STATE, "CREATED")
            .set(operation::TYPE, &value.batch_operation_type)
            .set(operation::ERRORS, "[]")
            .set(operation::ACTOR_TYPE, record.actor.as_ref().map(|actor| actor.actor_type.as_str()))
            .set(operation::ACTOR_ID, record.actor.as_ref().and_then(|actor| actor.id.as_ref()))
            .add(operation::TOTAL, 0)
            .add(operation::FAILED, 0)
            .add(operation::COMPLETED, 0);
    }
}

/// All items are known.
pub(super) fn initialization(record: &Record, value: &BatchOperationInitializationRecord, batch: &mut Batch) {
    if record.intent == Intent::Initialized {
        batch
            .update(&operation::ENTITY, RowId::Key(value.batch_operation_key))
            .set(operation::STATE, "ACTIVE")
            .set(operation::START, record.timestamp_ms);
    }
}

pub(super) fn chunk(_: &Record, value: &BatchOperationChunkRecord, batch: &mut Batch) {
    let id = RowId::Key(value.batch_operation_key);
    batch.update(&operation::ENTITY, id).add(operation::TOTAL, value.items.len() as i64);
    for one in &value.items {
        batch
            .insert(&item::ENTITY, item_id(value.batch_operation_key, one.item_key))
            .set(item::BATCH_KEY, value.batch_operation_key)
            .set(item::TYPE, Value::non_empty(&value.batch_operation_type))
            .set(item::ITEM_KEY, one.item_key)
            .set(item::INSTANCE_KEY, one.process_instance_key)
            .set(item::ROOT_INSTANCE_KEY, one.root_process_instance_key)
            .set(item::STATE, "ACTIVE");
    }
}

pub(super) fn execution(record: &Record, value: &BatchOperationExecutionRecord, batch: &mut Batch) {
    let id = RowId::Key(value.batch_operation_key);
    let row = batch.update(&operation::ENTITY, id);
    let count = value.item_keys.len() as i64;
    match &*value.state {
        // A removed instance needs no change.
        "COMPLETED" | "SKIPPED" => {
            row.add(operation::COMPLETED, count);
        }
        "FAILED" => {
            row.add(operation::FAILED, count);
        }
        _ => {}
    }
    for key in &value.item_keys {
        batch
            .update(&item::ENTITY, item_id(value.batch_operation_key, *key))
            .set(item::STATE, &value.state)
            .set(item::PROCESSED, record.timestamp_ms)
            .set(item::ERROR_MESSAGE, Value::non_empty(&value.error_message));
    }
}

pub(super) fn lifecycle(record: &Record, value: &BatchOperationLifecycleRecord, batch: &mut Batch) {
    let Some(intent) = BatchOperationIntent::of(record.intent) else { return };
    let (state, is_end) = match intent {
        BatchOperationIntent::Resumed => ("ACTIVE", false),
        BatchOperationIntent::Suspended => ("SUSPENDED", false),
        BatchOperationIntent::Completed => ("COMPLETED", true),
        BatchOperationIntent::Canceled => ("CANCELED", true),
        BatchOperationIntent::Failed => ("FAILED", true),
    };
    let row = batch.update(&operation::ENTITY, RowId::Key(value.batch_operation_key));
    row.set(operation::STATE, state);
    if is_end {
        row.set(operation::END, record.timestamp_ms);
    }
    if !value.errors.is_empty() {
        row.set(operation::ERRORS, errors(record, &value.errors));
    }
}

fn item_id(batch: Key, item: Key) -> RowId {
    RowId::Text(Name::from(format!("{batch}_{item}")))
}

fn errors(record: &Record, errors: &[Name]) -> String {
    let mut out = vec![b'['];
    for (at, error) in errors.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let partition = record.partition_id;
        out.extend_from_slice(
            format!("{{\"partitionId\":{partition},\"type\":\"QUERY_FAILED\",\"message\":").as_bytes(),
        );
        write_string(error, &mut out);
        out.push(b'}');
    }
    out.push(b']');
    String::from_utf8_lossy(&out).into_owned()
}
