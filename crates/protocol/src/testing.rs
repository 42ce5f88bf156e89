//! Records, for the tests of those who take them.

use crate::{Intent, Json, Key, Name, ProcessInstanceRecord, Record, RecordValue, VariableRecord};

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

/// A process instance, called by no other, is activated.
pub fn instance(position: u64, key: Key) -> Record {
    let value = ProcessInstanceRecord {
        bpmn_process_id: Name::from("p"),
        version: 1,
        process_definition_key: 3,
        process_instance_key: key,
        element_id: Name::from("p"),
        flow_scope_key: None,
        bpmn_element_type: Name::from("PROCESS"),
        bpmn_event_type: Name::from("UNSPECIFIED"),
        parent_process_instance_key: None,
        parent_element_instance_key: None,
        root_process_instance_key: key,
        tenant_id: Name::default_tenant(),
        tags: Vec::new(),
        business_id: None,
    };
    Record { key, ..record(position, Intent::ElementActivating, value) }
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
