//! Instances as searches show them, running and ended.

use std::path::Path;

use rustix::process::Signal;

use crate::models::SEEN_BPMN;
use crate::support::{Server, ask, failed};

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

/// Work that lasts, and a question behind it.
const WORK_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="lasting" name="Lasting" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="work"/>
    <serviceTask id="work" name="Do it"><extensionElements><zeebe:taskDefinition type="lasting"/></extensionElements></serviceTask>
    <sequenceFlow id="g" sourceRef="work" targetRef="ask"/>
    <userTask id="ask"><extensionElements><zeebe:userTask/></extensionElements></userTask>
  </process>
</definitions>"#;

fn remove_store(data: &Path) {
    for entry in std::fs::read_dir(data).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("secondary-storage.sqlite") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// The store is removed right after the last write: the gap is told until somebody accepts it, and what there is comes
/// back with that.
#[test]
fn a_removed_history_is_told_and_begins_again_with_what_there_is() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_at(data.path(), &[]);
    server.deploy("lasting.bpmn", WORK_BPMN);
    let waits = server.start_instance("lasting", r#"{"order": 7}"#);
    let asks = server.start_instance("lasting", "{}");
    let jobs = server.json(&["jobs", "activate", "lasting", "--count", "2"]);
    let of = |instance: &str| {
        let mut jobs = jobs["jobs"].as_array().unwrap().iter();
        jobs.find(|job| job["processInstanceKey"] == *instance).unwrap()["jobKey"].as_str().unwrap()
    };
    server.ok(&["jobs", "complete", of(&asks)]);
    let (code, _, log) = server.stop(Signal::TERM);
    assert_eq!(code, Some(0), "{log}");
    remove_store(data.path());

    let server = Server::start_at(data.path(), &[]);
    let search = |server: &Server| ask(&server.address("rest"), "/v2/process-instances/search", "{}");
    let history = |server: &Server| server.manage("GET", "/health", "");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let told = loop {
        let told = search(&server);
        if told.contains("baton-gap: 0-") {
            break told;
        }
        assert!(std::time::Instant::now() < end, "{told}");
    };
    assert!(told.starts_with("HTTP/1.0 200") && !told.contains(&waits), "{told}");
    let (code, health) = history(&server);
    assert_eq!((code, &health["components"]["history"]["status"]), (200, &"DEGRADED".into()), "{health}");
    // It is told after another start, too, and what happens now is found.
    let (_, _, log) = server.stop(Signal::TERM);
    assert!(log.contains("baton history begin"), "{log}");
    let server = Server::start_at(data.path(), &[]);
    let late = server.start_instance("lasting", "{}");
    server.found(&["instances", "--instance", &late]);
    assert!(search(&server).contains("baton-gap: 0-"));

    server.ok(&["history", "begin"]);
    let instance = server.found(&["instances", "--instance", &waits]);
    assert_eq!(
        (&instance["state"], &instance["processDefinitionName"]),
        (&"ACTIVE".into(), &"Lasting".into())
    );
    server.found(&["variables", "--filter", r#"{"name":"order","value":"7"}"#]);
    server.found(&["elements", "--instance", &waits, "--filter", r#"{"elementId":"work"}"#]);
    server.found(&["jobs", "--filter", &format!(r#"{{"processInstanceKey":"{waits}"}}"#)]);
    server.found(&["tasks", "--filter", &format!(r#"{{"processInstanceKey":"{asks}","state":"CREATED"}}"#)]);
    server.found(&["processes", "--filter", r#"{"processDefinitionId":"lasting"}"#]);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while search(&server).contains("baton-gap") {
        assert!(std::time::Instant::now() < end, "the gap is accepted");
    }
    assert!(history(&server).1["components"]["history"].is_null());
    let again = server.command(&["history", "begin"]).output().unwrap();
    failed(&again, 1, &["nothing is missing"]);
    // An instance that was put in goes on as if it had always been there.
    server.ok(&["jobs", "complete", of(&waits)]);
    server.found(&[
        "elements",
        "--instance",
        &waits,
        "--filter",
        r#"{"elementId":"work","state":"COMPLETED"}"#,
    ]);
    server.stop(Signal::TERM);
}
