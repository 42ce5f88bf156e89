//! Records, for the tests of those who take them.

use crate::{Intent, Json, Name, Record, RecordValue, VariableRecord};

/// A record of partition 1 that nobody asked for.
pub fn record(position: u64, intent: Intent, value: impl Into<RecordValue>) -> Record {
    Record {
        position,
        source_position: position - 1,
        key: position + 1000,
        timestamp_ms: 1_700_000_000_000,
        partition_id: 1,
        intent,
        operation_reference: None,
        batch_operation_reference: None,
        actor: None,
        value: value.into(),
    }
}

/// A variable of so many digits is created.
pub fn variable(position: u64, digits: usize) -> Record {
    let value = VariableRecord {
        name: Name::from("a"),
        value: Json::from_valid(vec![b'1'; digits]),
        scope_key: 2,
        process_instance_key: 2,
        process_definition_key: 3,
        bpmn_process_id: Name::from("p"),
        tenant_id: Name::default_tenant(),
        root_process_instance_key: 2,
    };
    record(position, Intent::Created, value)
}
