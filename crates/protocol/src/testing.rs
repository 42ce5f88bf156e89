//! Records, for the tests of those who take them.

use std::sync::Arc;

use crate::{
    ActivatedJob, Document, Intent, JobKind, JobListenerEventType, Json, Key, Name, ProcessInstanceRecord,
    Record, RecordValue, RecordedInstance, VariableRecord, Word,
};

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

/// A job that a worker has for ever.
pub fn job(key: Key) -> ActivatedJob {
    ActivatedJob {
        key,
        job_type: Name::from("t"),
        process_instance_key: 2,
        root_process_instance_key: 2,
        process_id: Name::from("p"),
        process_definition_version: 1,
        process_definition_key: 3,
        element_id: Name::from("e"),
        element_instance_key: 4,
        custom_headers_json: "{}".into(),
        worker: Name::from("w"),
        retries: 3,
        deadline_ms: i64::MAX,
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        kind: JobKind::BpmnElement,
        listener_event_type: JobListenerEventType::Unspecified,
        tags: vec![],
        user_task: None,
        business_id: None,
        priority: 0,
        lease: None,
    }
}

/// A process instance of version 1, called by no other.
pub fn described(process_instance_key: Key) -> RecordedInstance {
    RecordedInstance {
        bpmn_process_id: Name::from("p"),
        version: 1,
        process_definition_key: 3,
        process_instance_key,
        root_process_instance_key: process_instance_key,
        tenant_id: Name::default_tenant(),
        ..RecordedInstance::default()
    }
}

/// A process instance, called by no other, is activated.
pub fn instance(position: u64, key: Key) -> Record {
    let value = ProcessInstanceRecord {
        instance: Arc::new(described(key)),
        element_id: Name::from("p"),
        flow_scope_key: None,
        bpmn_element_type: Word::new("PROCESS"),
        bpmn_event_type: Word::new("UNSPECIFIED"),
    };
    Record { key, ..record(position, Intent::ElementActivating, value) }
}

/// A variable of so many digits is created.
pub fn variable(position: u64, digits: usize) -> Record {
    let value = VariableRecord {
        instance: Arc::new(RecordedInstance { version: 0, ..described(2) }),
        name: Name::from("a"),
        value: Json::from_valid(vec![b'1'; digits]),
        scope_key: 2,
    };
    record(position, Intent::Created, value)
}
