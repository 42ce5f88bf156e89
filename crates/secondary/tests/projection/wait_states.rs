//! Wait states of element instances.

use std::sync::Arc;

use protocol::{
    Document, Intent, JobRecord, MessageSubscriptionRecord, Name, Record, SignalSubscriptionRecord,
    TimerRecord, Word, testing,
};
use search::model::wait_state;
use secondary::AuditSettings;

use super::{record, rows};

fn job(retries: i32, is_uncaught: bool) -> JobRecord {
    JobRecord {
        instance: Arc::new(testing::described(5)),
        job_type: Name::from("pay"),
        worker: Name::default(),
        retries,
        deadline_ms: -1,
        timeout_ms: -1,
        custom_headers: Name::from("{}"),
        variables: Document::empty(),
        retry_backoff_ms: 0,
        recurring_time_ms: -1,
        error_message: Name::default(),
        error_code: Name::default(),
        element_id: Name::from("a"),
        element_instance_key: 6,
        tenant_id: Name::default_tenant(),
        job_kind: Word::new("BPMN_ELEMENT"),
        job_listener_event_type: Word::new("UNSPECIFIED"),
        changed_attributes: Vec::new(),
        result: None,
        is_job_to_user_task_migration: false,
        priority: 0,
        element_type: Some(Word::new("SERVICE_TASK")),
        is_uncaught,
    }
}

/// Identities and details of what is waited for after some records. Rows that end have no details.
fn waits(records: &[Record]) -> Vec<(String, Option<serde_json::Value>)> {
    let rows = rows(&wait_state::ENTITY, &AuditSettings::none(), records);
    let details = |text: &String| serde_json::from_str(text).unwrap();
    rows.iter().map(|row| (row["waitStateId"].clone(), row.get("details").map(details))).collect()
}

#[test]
fn a_job_is_waited_for_until_it_ends() {
    let created = record(1, 9, Intent::Created, job(3, false));
    let row = &rows(&wait_state::ENTITY, &AuditSettings::none(), std::slice::from_ref(&created))[0];
    for (name, value) in [
        ("waitStateId", "6_9"),
        ("elementInstanceKey", "6"),
        ("processInstanceKey", "5"),
        ("rootProcessInstanceKey", "5"),
        ("elementId", "a"),
        ("elementType", "SERVICE_TASK"),
        ("bpmnProcessId", "p"),
        ("tenantId", "<default>"),
        ("waitStateType", "JOB"),
    ] {
        assert_eq!(row[name], value, "{name}");
    }
    let details = |retries: i32| {
        serde_json::json!({"waitStateType": "JOB", "jobKey": "9", "jobType": "pay", "jobKind": "BPMN_ELEMENT",
            "listenerEventType": null, "retries": retries})
    };
    assert_eq!(waits(std::slice::from_ref(&created)), [("6_9".to_owned(), Some(details(3)))]);
    let failed = record(2, 9, Intent::Failed, job(0, false));
    assert_eq!(waits(&[created.clone(), failed])[0].1, Some(details(0)));
    for end in [Intent::Completed, Intent::Canceled, Intent::ErrorThrown] {
        let ended = record(2, 9, end, job(3, false));
        assert_eq!(waits(&[created.clone(), ended]), [("6_9".to_owned(), None)], "{end}");
    }
    let uncaught = record(2, 9, Intent::ErrorThrown, job(3, true));
    assert_eq!(waits(&[created, uncaught])[0].1, Some(details(3)));
}

#[test]
fn listeners_are_waited_for_by_their_elements() {
    let listener = JobRecord {
        job_kind: Word::new("EXECUTION_LISTENER"),
        job_listener_event_type: Word::new("START"),
        element_type: Some(Word::new("PROCESS")),
        ..job(3, false)
    };
    let row = waits(&[record(1, 9, Intent::Created, listener)]).remove(0);
    assert_eq!(row.1.unwrap()["listenerEventType"], "START");
}

fn timer(element_type: &'static str) -> TimerRecord {
    TimerRecord {
        element_instance_key: Some(6),
        process_instance_key: Some(5),
        process_definition_key: 3,
        due_date_ms: 77,
        target_element_id: Name::from("t"),
        repetitions: 1,
        tenant_id: Name::default_tenant(),
        element_type: Some(Word::new(element_type)),
        root_process_instance_key: Some(4),
        bpmn_process_id: Some(Name::from("p")),
    }
}

#[test]
fn catch_events_wait_and_others_do_not() {
    let details = serde_json::json!({"waitStateType": "TIMER", "dueDate": 77, "repetitions": 1});
    let created = |element_type| record(1, 9, Intent::Created, timer(element_type));
    assert_eq!(waits(&[created("INTERMEDIATE_CATCH_EVENT")]), [("6_9".to_owned(), Some(details))]);
    for other in ["BOUNDARY_EVENT", "EVENT_BASED_GATEWAY", "START_EVENT"] {
        assert!(waits(&[created(other)]).is_empty(), "{other}");
    }
    for end in [Intent::Triggered, Intent::Canceled] {
        let ended = record(2, 9, end, timer("INTERMEDIATE_CATCH_EVENT"));
        assert_eq!(waits(&[created("INTERMEDIATE_CATCH_EVENT"), ended])[0].1, None, "{end}");
    }
}

#[test]
fn messages_signals_and_people_are_waited_for() {
    let message = MessageSubscriptionRecord {
        business_id: None,
        process_instance_key: 5,
        element_instance_key: 6,
        message_key: None,
        message_name: Name::from("m"),
        correlation_key: Name::from("k"),
        bpmn_process_id: Name::from("p"),
        interrupting: true,
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
        element_id: Some(Name::from("r")),
        process_definition_key: 3,
        element_type: Some(Word::new("RECEIVE_TASK")),
        root_process_instance_key: Some(5),
    };
    let moved = MessageSubscriptionRecord { element_id: Some(Name::from("s")), ..message.clone() };
    let records = [record(1, 9, Intent::Created, message.clone()), record(2, 9, Intent::Migrated, moved)];
    let row = &rows(&wait_state::ENTITY, &AuditSettings::none(), &records)[0];
    assert_eq!((row["elementId"].as_str(), row["elementType"].as_str()), ("s", "RECEIVE_TASK"));
    let details = serde_json::json!({"waitStateType": "MESSAGE", "messageName": "m", "correlationKey": "k"});
    assert_eq!(waits(&records)[0].1, Some(details));
    let correlated = record(3, 9, Intent::Correlated, message);
    assert_eq!(waits(&[records[0].clone(), correlated])[0].1, None);

    let signal = SignalSubscriptionRecord {
        process_definition_key: 3,
        bpmn_process_id: Name::from("p"),
        signal_name: Name::from("s"),
        catch_event_id: Name::from("c"),
        catch_event_instance_key: Some(6),
        tenant_id: Name::default_tenant(),
        element_type: Some(Word::new("INTERMEDIATE_CATCH_EVENT")),
        process_instance_key: Some(5),
        root_process_instance_key: Some(5),
    };
    let details = serde_json::json!({"waitStateType": "SIGNAL", "signalName": "s"});
    assert_eq!(waits(&[record(1, 9, Intent::Created, signal)])[0].1, Some(details));
}
