//! Instances as searches show them, running and ended.

use crate::models::SEEN_BPMN;
use crate::support::Server;

/// The value of the variable that a search finds by this filter, once it is this one.
fn await_value(server: &Server, filter: &str, value: &str) {
    let with_value = format!(r#"{{{filter},"value":{}}}"#, serde_json::Value::from(value));
    server.found(&["variables", "--filter", &with_value]);
}

#[test]
fn events_times_lists_and_compensation_are_seen() {
    let server = Server::start(&[]);
    server.deploy("seen.bpmn", SEEN_BPMN);
    server.ok(&["messages", "publish", "begin", "--variables", r#"{"order": 7}"#]);

    // The start event has a copy of what came by the message.
    let start = server.found(&["elements", "--filter", r#"{"elementId":"begun"}"#]);
    let scope = start["elementInstanceKey"].as_str().unwrap();
    await_value(&server, &format!(r#""scopeKey":"{scope}","name":"order""#), "7");
    let instance = start["processInstanceKey"].as_str().unwrap();
    await_value(&server, &format!(r#""scopeKey":"{instance}","name":"order""#), "7");

    // Seconds are written, though they are zero.
    assert_eq!(server.variable(instance, "at"), r#""2024-02-29T10:00:00""#);

    // The list is there before a value is, for searches and for jobs.
    let body = server.found(&[
        "elements",
        "--instance",
        instance,
        "--filter",
        r#"{"elementId":"each","type":"MULTI_INSTANCE_BODY"}"#,
    ]);
    let list = format!(r#""scopeKey":"{}","name":"results""#, body["elementInstanceKey"].as_str().unwrap());
    await_value(&server, &list, "[null,null,null]");
    let jobs = server.json(&["jobs", "activate", "work", "--count", "3"]);
    let key = |at: usize| jobs["jobs"][at]["jobKey"].as_str().unwrap();
    assert_eq!(jobs["jobs"][0]["variables"]["results"], serde_json::json!([null, null, null]));
    server.ok(&["jobs", "complete", key(1)]);
    await_value(&server, &list, "[null,20,null]");
    server.ok(&["jobs", "complete", key(0)]);
    server.ok(&["jobs", "complete", key(2)]);

    server.found(&["instances", "--instance", instance, "--state", "COMPLETED"]);
    await_value(&server, &format!(r#""scopeKey":"{instance}","name":"results""#), "[10,20,30]");

    // The boundary event whose handler ran is in the history.
    let event = server.found(&["elements", "--instance", instance, "--filter", r#"{"elementId":"undo"}"#]);
    assert_eq!((&event["type"], &event["state"]), (&"BOUNDARY_EVENT".into(), &"COMPLETED".into()));
    server.stop_clean();
}
