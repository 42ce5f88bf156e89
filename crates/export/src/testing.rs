//! Records for tests.

use bytes::Bytes;
use protocol::{Intent, Json, Name, Record, VariableRecord};

/// A record at a position.
pub(crate) fn record(position: u64) -> Record {
    record_with_payload(position, 8)
}

/// A record at a position with a value of so many digits.
pub(crate) fn record_with_payload(position: u64, bytes: usize) -> Record {
    Record {
        position,
        source_position: position - 1,
        key: position + 1000,
        timestamp_ms: 1_700_000_000_000,
        partition_id: 1,
        intent: Intent::Created,
        operation_reference: None,
        batch_operation_reference: None,
        actor: None,
        value: VariableRecord {
            name: Name::from("a"),
            value: Json::from_valid(Bytes::from(vec![b'1'; bytes])),
            scope_key: 2,
            process_instance_key: 2,
            process_definition_key: 3,
            bpmn_process_id: Name::from("p"),
            tenant_id: Name::default_tenant(),
            root_process_instance_key: 2,
        }
        .into(),
    }
}
