//! Batch operations and their items.

use protocol::{
    BatchOperationChunkRecord, BatchOperationCreationRecord, BatchOperationExecutionRecord,
    BatchOperationLifecycleRecord, Intent, Key, Name, Record, write_json_string,
};

use crate::change::{Batch, RowId};
use crate::model::{batch_operation as operation, batch_operation_item as item};
use crate::value::Value;

pub(super) fn creation(record: &Record, value: &BatchOperationCreationRecord, batch: &mut Batch) {
    if record.intent == Intent::Created {
        batch
            .insert(&operation::ENTITY, RowId::Key(value.batch_operation_key))
            .set(operation::STATE, "CREATED")
            .set(operation::TYPE, &value.batch_operation_type)
            .set(operation::ERRORS, "[]")
            .add(operation::TOTAL, 0)
            .add(operation::FAILED, 0)
            .add(operation::COMPLETED, 0);
    }
}

pub(super) fn chunk(_: &Record, value: &BatchOperationChunkRecord, batch: &mut Batch) {
    let id = RowId::Key(value.batch_operation_key);
    batch.update(&operation::ENTITY, id).add(operation::TOTAL, value.items.len() as i64);
    for one in &value.items {
        batch
            .insert(&item::ENTITY, item_id(value.batch_operation_key, one.item_key))
            .set(item::BATCH_KEY, value.batch_operation_key)
            .set(item::ITEM_KEY, one.item_key)
            .set(item::INSTANCE_KEY, one.process_instance_key)
            .set(item::ROOT_INSTANCE_KEY, one.root_process_instance_key)
            .set(item::STATE, "ACTIVE");
    }
}

pub(super) fn execution(record: &Record, value: &BatchOperationExecutionRecord, batch: &mut Batch) {
    let counter = match &*value.state {
        "COMPLETED" => operation::COMPLETED,
        "FAILED" => operation::FAILED,
        _ => return,
    };
    let id = RowId::Key(value.batch_operation_key);
    batch.update(&operation::ENTITY, id).add(counter, value.item_keys.len() as i64);
    for key in &value.item_keys {
        batch
            .update(&item::ENTITY, item_id(value.batch_operation_key, *key))
            .set(item::STATE, &value.state)
            .set(item::PROCESSED, record.timestamp_ms)
            .set(item::ERROR_MESSAGE, Value::non_empty(&value.error_message));
    }
}

pub(super) fn lifecycle(record: &Record, value: &BatchOperationLifecycleRecord, batch: &mut Batch) {
    let (state, is_end) = match record.intent {
        Intent::Initialized | Intent::Resumed => ("ACTIVE", false),
        Intent::Suspended => ("SUSPENDED", false),
        Intent::Completed => ("COMPLETED", true),
        Intent::Canceled => ("CANCELED", true),
        Intent::Failed => ("FAILED", true),
        _ => return,
    };
    let row = batch.update(&operation::ENTITY, RowId::Key(value.batch_operation_key));
    row.set(operation::STATE, state);
    if record.intent == Intent::Initialized {
        row.set(operation::START, record.timestamp_ms);
    }
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
        write_json_string(error, &mut out);
        out.push(b'}');
    }
    out.push(b']');
    String::from_utf8_lossy(&out).into_owned()
}
