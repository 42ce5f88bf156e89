//! Steps of process instances.

use std::sync::Arc;

use protocol::{
    Actor, ActorType, IncidentRecord, Intent, Json, Key, Name, ProcessInstanceMigrationRecord,
    ProcessInstanceModificationRecord, ProcessInstanceRecord, Record, VariableRecord, Word, testing,
};
use search::model::instance_step as step;
use secondary::Projection;

use super::{Nothing, record, rows_by};

fn element(position: u64, key: Key, kind: &'static str, intent: Intent) -> Record {
    let value = ProcessInstanceRecord {
        instance: Arc::new(testing::described(5)),
        element_id: Name::from("a"),
        flow_scope_key: Some(5),
        bpmn_element_type: Word::new(kind),
        bpmn_event_type: Word::new("UNSPECIFIED"),
    };
    record(position, key, intent, value)
}

fn variable(position: u64, intent: Intent, value: &str) -> Record {
    let value = VariableRecord {
        instance: Arc::new(testing::described(5)),
        name: Name::from("total"),
        value: Json::from_valid(value.to_owned()),
        scope_key: 5,
    };
    record(position, 8, intent, value)
}

fn incident(position: u64, intent: Intent) -> Record {
    let value = IncidentRecord {
        error_type: Name::from("JOB_NO_RETRIES"),
        error_message: Name::from("no"),
        bpmn_process_id: Name::from("p"),
        process_definition_key: 2,
        process_instance_key: 5,
        element_id: Name::from("a"),
        element_instance_key: 6,
        job_key: Some(9),
        variable_scope_key: 6,
        tenant_id: Name::default_tenant(),
        root_process_instance_key: 5,
        element_instance_path: Vec::new(),
        process_definition_path: Vec::new(),
        calling_element_path: Vec::new(),
    };
    record(position, 11, intent, value)
}

fn by_ann(record: Record) -> Record {
    let actor = Actor { actor_type: ActorType::User, id: Some(Name::from("ann")) };
    Record { actor: Some(actor), ..record }
}

#[test]
fn what_people_do_with_an_instance_is_a_step_with_their_name() {
    let modification = ProcessInstanceModificationRecord {
        process_instance_key: 5,
        activate_instructions: vec![],
        move_instructions: vec![],
        terminate_instructions: vec![],
        tenant_id: Name::default_tenant(),
        root_process_instance_key: 5,
    };
    let migration = ProcessInstanceMigrationRecord {
        process_instance_key: 5,
        root_process_instance_key: 5,
        target_process_definition_key: 3,
        bpmn_process_id: Name::from("p"),
        tenant_id: Name::default_tenant(),
        mapping_instructions: vec![],
    };
    let records = [
        by_ann(record(1, 20, Intent::Modified, modification)),
        by_ann(record(2, 21, Intent::Migrated, migration)),
        element(3, 5, "PROCESS", Intent::ElementMigrated),
        by_ann(element(4, 5, "PROCESS", Intent::Suspended)),
        element(5, 5, "PROCESS", Intent::Resumed),
        by_ann(element(6, 5, "PROCESS", Intent::ElementTerminating)),
        element(7, 6, "SERVICE_TASK", Intent::ElementTerminating),
        element(8, 5, "PROCESS", Intent::ElementTerminated),
        // It ends with the instance that called it.
        element(9, 5, "PROCESS", Intent::ElementTerminating),
    ];
    let rows = rows_by(projection(true), &step::ENTITY, &records);
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            assert_eq!(row["processInstanceKey"], "5");
            assert_eq!(row["subjectKey"], "5");
            (row["kind"].as_str(), row.get("value").map_or("", |value| value.as_str()))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("MODIFIED", "ann"),
            ("MIGRATED", "ann"),
            ("SUSPENDED", "ann"),
            ("RESUMED", ""),
            ("CANCELED", "ann"),
            ("ELEMENT_TERMINATED", ""),
        ]
    );
}

fn projection(steps: bool) -> Projection {
    Projection::new(Box::new(Nothing)).with_steps(steps)
}

#[test]
fn each_step_is_a_row_of_its_own() {
    let records = [
        element(1, 6, "SERVICE_TASK", Intent::ElementActivating),
        element(2, 7, "SEQUENCE_FLOW", Intent::SequenceFlowTaken),
        variable(3, Intent::Created, "1.50"),
        variable(4, Intent::Updated, "12345678901234567890"),
        incident(5, Intent::Created),
        incident(6, Intent::Resolved),
        element(7, 6, "SERVICE_TASK", Intent::ElementMigrated),
        element(8, 6, "SERVICE_TASK", Intent::ElementCompleted),
    ];
    let rows = rows_by(projection(true), &step::ENTITY, &records);
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            assert_eq!((&*row["processInstanceKey"], &*row["processDefinitionId"]), ("5", "p"));
            let value = row.get("value").map_or("", |value| value.as_str());
            (row["position"].as_str(), row["kind"].as_str(), row["name"].as_str(), value)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("1", "ELEMENT_ACTIVATED", "SERVICE_TASK", ""),
            ("3", "VARIABLE_SET", "total", "1.5"),
            ("4", "VARIABLE_SET", "total", "12345678901234567890"),
            ("5", "INCIDENT_CREATED", "JOB_NO_RETRIES", "no"),
            ("6", "INCIDENT_RESOLVED", "JOB_NO_RETRIES", "no"),
            ("8", "ELEMENT_COMPLETED", "SERVICE_TASK", ""),
        ]
    );
    assert_eq!((&*rows[0]["elementInstanceKey"], &*rows[1]["elementInstanceKey"]), ("6", "5"));
    assert_eq!(rows_by(projection(false), &step::ENTITY, &records).len(), 0);
}
