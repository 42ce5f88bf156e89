//! Batch operations and their items.

use protocol::{
    Actor, BatchOperationChunkRecord, BatchOperationCreationRecord, BatchOperationExecutionRecord,
    BatchOperationInitializationRecord, BatchOperationItem, BatchOperationLifecycleRecord, Intent, Name,
    Record,
};
use search::model::{batch_operation, batch_operation_item};
use secondary::AuditSettings;

use super::{asked, record, rows};

const KEY: u64 = 5;
const KIND: &str = "CANCEL_PROCESS_INSTANCE";

fn created() -> Vec<Record> {
    let creation = BatchOperationCreationRecord {
        batch_operation_key: KEY,
        batch_operation_type: Name::from(KIND),
        migration_plan: None,
        partition_ids: vec![1],
        modification_plan: None,
    };
    let item = |item_key| BatchOperationItem {
        item_key,
        process_instance_key: item_key,
        root_process_instance_key: item_key,
    };
    let chunk = BatchOperationChunkRecord {
        batch_operation_key: KEY,
        items: (11..15).map(item).collect(),
        batch_operation_type: Name::from(KIND),
    };
    let initialization = BatchOperationInitializationRecord {
        batch_operation_key: KEY,
        batch_operation_type: Name::from(KIND),
    };
    vec![
        asked(&Actor::ANONYMOUS, record(1, KEY, Intent::Created, creation)),
        record(2, KEY, Intent::Created, chunk),
        record(3, KEY, Intent::Initialized, initialization),
    ]
}

fn executed(position: u64, item_key: u64, state: &str, why: &str) -> Record {
    let value = BatchOperationExecutionRecord {
        batch_operation_key: KEY,
        batch_operation_type: Name::from(KIND),
        item_keys: vec![item_key],
        state: Name::from(state),
        error_message: Name::from(why),
    };
    record(position, KEY, Intent::Executed, value)
}

fn operation(records: &[Record]) -> String {
    let found = rows(&batch_operation::ENTITY, &AuditSettings::none(), records);
    let [row] = &found[..] else { panic!("{found:?}") };
    let names = ["state", "startDate", "endDate", "actorType", "operationsTotalCount"];
    let counts = ["operationsCompletedCount", "operationsFailedCount"];
    let of = |name: &&str| row.get(name).map_or("-", String::as_str).to_owned();
    names.iter().chain(&counts).map(of).collect::<Vec<_>>().join(" ")
}

#[test]
fn it_is_active_once_its_items_are_known() {
    let mut records = created();
    assert_eq!(operation(&records[..2]), "CREATED - - ANONYMOUS +4 +0 +0");
    assert_eq!(operation(&records), "ACTIVE 1003 - ANONYMOUS +4 +0 +0");
    records.push(executed(4, 11, "COMPLETED", ""));
    records.push(executed(5, 12, "FAILED", "no"));
    records.push(executed(6, 13, "SKIPPED", "gone"));
    records.push(executed(7, 14, "CANCELED", ""));
    // Missing instances count as done, as in the engine.
    assert_eq!(operation(&records), "ACTIVE 1003 - ANONYMOUS +4 +2 +1");
    let end = BatchOperationLifecycleRecord {
        batch_operation_key: KEY,
        batch_operation_type: Name::from(KIND),
        errors: Vec::new(),
    };
    records.push(record(8, KEY, Intent::Canceled, end));
    assert_eq!(operation(&records), "CANCELED 1003 1008 ANONYMOUS +4 +2 +1");
}

#[test]
fn each_item_tells_what_became_of_it() {
    let mut records = created();
    records.push(executed(4, 11, "COMPLETED", ""));
    records.push(executed(5, 12, "FAILED", "no"));
    records.push(executed(6, 13, "SKIPPED", "gone"));
    records.push(executed(7, 14, "CANCELED", ""));
    let found = rows(&batch_operation_item::ENTITY, &AuditSettings::none(), &records);
    let shown: Vec<_> = found
        .iter()
        .map(|row| {
            assert_eq!(row["operationType"], KIND);
            let why = row.get("errorMessage").map_or("-", String::as_str);
            format!("{} {} {} {why}", row["itemKey"], row["state"], row["processedDate"])
        })
        .collect();
    assert_eq!(
        shown,
        ["11 COMPLETED 1004 -", "12 FAILED 1005 no", "13 SKIPPED 1006 gone", "14 CANCELED 1007 -"]
    );
}
