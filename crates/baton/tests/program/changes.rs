//! Commands that change instances and resources, watch them, and carry them to other servers.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::models::{STRAIGHT_BPMN, TASK_BPMN, WAITING_BPMN};
use crate::support::{Server, failed, run, text};

#[test]
fn instances_are_modified_and_migrated() {
    let server = Server::start(&[]);
    server.deploy("waiting.bpmn", WAITING_BPMN);
    let instance = server.start_instance("waiting", r#"{"order": "o-1"}"#);
    let moved = ["--move", "until-paid:look", "--variables", r#"{"late": 1.0}"#];
    let said = server.ok(&[&["instances", "modify", &instance], &moved[..]].concat());
    assert_eq!(said, format!("modified {instance}\n"));
    server.found(&["tasks", "--instance", &instance]);
    assert_eq!(server.variable(&instance, "late"), "1");
    server.ok(&["instances", "modify", &instance, "--activate", "until-open", "--terminate", "look"]);
    let at = |element: &str, state: &str| {
        let filter = json!({ "elementId": element, "state": state }).to_string();
        server.found(&["elements", "--instance", &instance, "--filter", &filter])
    };
    at("look", "TERMINATED");
    at("until-open", "ACTIVE");
    let wrong =
        server.command(&["instances", "modify", &instance, "--activate", "nowhere"]).output().unwrap();
    failed(&wrong, 1, &["cannot modify process instance", "nowhere"]);

    // In the second version, an element has another name.
    server.deploy("waiting.bpmn", &WAITING_BPMN.replace("\"until-open\"", "\"open-door\""));
    let migrate = ["instances", "migrate", &instance, "--to", "waiting"];
    let unmapped = server.command(&migrate).output().unwrap();
    failed(&unmapped, 1, &["cannot migrate process instance", "until-open"]);
    assert_eq!(
        server.ok(&[&migrate[..], &["--map", "until-open:open-door"]].concat()),
        format!("migrated {instance}\n")
    );
    let migrated = server.found(&[
        "instances",
        "--instance",
        &instance,
        "--filter",
        r#"{"processDefinitionVersion":2}"#,
    ]);
    assert_eq!(migrated["state"], "ACTIVE");
    // Back again, with the version in the name and elements of the same name.
    server.ok(&["instances", "migrate", &instance, "--to", "waiting:1", "--map", "open-door:until-open"]);
    let nowhere = server.command(&["instances", "migrate", &instance, "--to", "waiting:9"]).output().unwrap();
    failed(&nowhere, 1, &["there is no process 'waiting:9'"]);
    server.stop_clean();
}

#[test]
fn resources_and_histories_are_deleted() {
    let server = Server::start(&[]);
    server.deploy("straight.bpmn", STRAIGHT_BPMN);
    server.deploy("straight.bpmn", &STRAIGHT_BPMN.replace("\"flow\"", "\"line\""));
    let processes = || server.json(&["search", "processes", "--process", "straight"])["items"].clone();
    assert_eq!(processes().as_array().unwrap().len(), 2);
    let ambiguous = server.command(&["delete", "resources", "straight"]).output().unwrap();
    failed(&ambiguous, 2, &["'straight' may be any of", "process version 1", "--all-versions"]);

    let instance = server.start_instance("straight", "{}");
    let ended = server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);
    let definition = ended["processDefinitionKey"].as_str().unwrap();
    assert_eq!(server.ok(&["delete", "instances", &instance]), format!("deleted {instance}\n"));

    let said = server.ok(&["delete", "resources", "straight:1"]);
    assert!(said.starts_with("deleted ") && said != format!("deleted {definition}\n"), "{said}");
    let answer = server.json(&["delete", "resources", definition]);
    assert_eq!(answer[0]["resourceKey"], definition, "{answer}");
    let unknown = server.command(&["delete", "resources", "order"]).output().unwrap();
    failed(&unknown, 1, &["there is no process and there are no decision requirements 'order'\n"]);

    server.deploy("errand.bpmn", TASK_BPMN);
    let alive = server.start_instance("errand", "{}");
    let refused = server.command(&["delete", "instances", &alive]).output().unwrap();
    failed(&refused, 1, &["cannot delete process instance", &format!("hint: `baton cancel {alive}`")]);
    server.stop_clean();
}

#[test]
fn an_instance_is_watched_until_it_ends() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let instance = server.start_instance("errand", "{}");
    let mut watch = server.command(&["watch", &instance]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap());
    let mut next = |word: &str, what: &str| {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let mut parts = line.splitn(2, "  ");
        let (time, rest) = (parts.next().unwrap(), parts.next().unwrap());
        assert!(time.ends_with('Z'), "{line}");
        assert!(rest.starts_with(word) && rest.contains(what), "{line} is not {word} {what}");
    };
    next("entered", "begin (START_EVENT)");
    next("left", "begin (START_EVENT)");
    next("entered", "task (SERVICE_TASK)");
    let job = server.json(&["jobs", "activate", "errand"])["jobs"][0]["jobKey"].as_str().unwrap().to_owned();
    server.ok(&["jobs", "fail", &job, "--retries", "0", "--message", "no shoes"]);
    next("incident", "at task: JOB_NO_RETRIES: no shoes");
    server.ok(&["retry", &job]);
    next("resolved", "at task");
    server.ok(&["work", "errand", "--count", "1"]);
    next("left", "task (SERVICE_TASK)");
    next("completed", &format!("process instance {instance}"));
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), watch.wait().unwrap().code()), ("", Some(0)));

    // Later on, it is told from its beginning, too.
    let all = server.ok(&["watch", &instance, "--json"]);
    let events: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["event"], "entered");
    assert_eq!(events.last().unwrap()["item"]["state"], "COMPLETED");

    let canceled = server.start_instance("errand", "{}");
    let slow = server.command(&["watch", &canceled, "--timeout", "300ms"]).output().unwrap();
    failed(&slow, 1, &["has not ended within --timeout (300ms)"]);
    server.ok(&["cancel", &canceled]);
    let ended = server.command(&["watch", &canceled]).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "it was terminated");
    assert!(text(&ended.stdout).contains("terminated  task (SERVICE_TASK)"), "{ended:?}");
    failed(&server.command(&["watch", "7"]).output().unwrap(), 1, &["NOT_FOUND"]);
    server.stop_clean();
}

#[test]
fn many_instances_are_changed_at_once() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    server.deploy("waiting.bpmn", WAITING_BPMN);
    let errands: Vec<_> = (0..3).map(|_| server.start_instance("errand", "{}")).collect();
    let waiting = server.start_instance("waiting", r#"{"order": "o-1"}"#);
    server.found(&["instances", "--instance", &waiting]);

    let all = server.command(&["batch", "create", "cancel"]).output().unwrap();
    failed(&all, 2, &["the filter is empty", "--all"]);
    let create = ["batch", "create", "cancel", "--process", "errand"];
    assert_eq!(server.ok(&[&create[..], &["--dry-run"]].concat()), "3 process instances\n");
    let done = server.ok(&[&create[..], &["--wait"]].concat());
    for line in ["batchOperationType", "CANCEL_PROCESS_INSTANCE", "operationsCompletedCount", "COMPLETED"] {
        assert!(done.contains(line), "{done}");
    }
    for key in &errands {
        server.found(&["instances", "--instance", key, "--state", "TERMINATED"]);
    }

    let modified =
        ["batch", "create", "modify", "--process", "waiting", "--move", "until-paid:look", "--wait"];
    assert_eq!(server.json(&modified)["state"], "COMPLETED");
    server.found(&["tasks", "--instance", &waiting]);
    server.deploy("waiting.bpmn", &WAITING_BPMN.replace("\"Look\"", "\"Look closely\""));
    let migrated = ["batch", "create", "migrate", "--process", "waiting", "--to", "waiting:2", "--wait"];
    assert_eq!(server.json(&migrated)["operationsCompletedCount"], 1);
    server.found(&["instances", "--instance", &waiting, "--filter", r#"{"processDefinitionVersion":2}"#]);

    let created = server.ok(&["batch", "create", "delete", "--process", "errand"]);
    let key = created.split_whitespace().nth(2).unwrap();
    assert!(created.ends_with(" DELETE_PROCESS_INSTANCE\n"), "{created}");
    server.found(&["batches", "--filter", &json!({ "batchOperationKey": key }).to_string()]);
    assert!(server.ok(&["batch", "list"]).contains(key));
    assert!(server.ok(&["batch", "get", key]).contains("DELETE_PROCESS_INSTANCE"));
    assert_eq!(server.json(&["batch", "get", key])["batchOperationKey"], key);
    for (verb, word) in [("cancel", "cancel"), ("suspend", "suspend"), ("resume", "resume")] {
        let unknown = server.command(&["batch", verb, "7"]).output().unwrap();
        failed(&unknown, 1, &[&format!("cannot {word} batch operation 7"), "NOT_FOUND"]);
    }
    server.stop_clean();
}

#[test]
fn a_batch_operation_is_suspended_resumed_and_canceled() {
    let server = Server::start(&["--set", "secondary_storage.fresh_timeout=30s"]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let instance = server.start_instance("errand", "{}");
    server.found(&["instances"]);
    // It waits for secondary storage to be fresh before it looks for instances.
    assert!(server.manage("POST", "/exporting/pause", "").0 < 300);
    let created = server.json(&["batch", "create", "cancel", "--process", "errand"]);
    let key = created["batchOperationKey"].as_str().unwrap();
    for (verb, word) in [("suspend", "suspended"), ("resume", "resumed"), ("cancel", "canceled")] {
        assert_eq!(server.ok(&["batch", verb, key]), format!("{word} {key}\n"));
    }
    assert!(server.manage("POST", "/exporting/resume", "").0 < 300);
    let filter = json!({ "batchOperationKey": key }).to_string();
    server.found(&["batches", "--state", "CANCELED", "--filter", &filter]);
    server.found(&["instances", "--instance", &instance, "--state", "ACTIVE"]);
    server.stop_clean();
}

#[test]
fn entities_are_exported_and_brought_to_another_server() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let instance = server.start_instance("errand", r#"{"total": 1.10, "who": "ann"}"#);
    server.found(&["variables", "--instance", &instance]);
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    for kind in ["processes", "instances"] {
        let output = server.command(&["export", kind, "--whole", "--output", &file(kind)]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stderr).starts_with("exported 1 process "), "{output:?}");
    }
    let there = server.command(&["export", "jobs", "--output", &file("instances")]).output().unwrap();
    failed(&there, 2, &["--output: cannot make"]);
    let jobs = server.ok(&["export", "jobs", "--state", "CREATED"]);
    let job: Value = serde_json::from_str(jobs.trim()).unwrap();
    assert_eq!(job["processInstanceKey"], instance.as_str());
    failed(&server.command(&["export", "jobs", "--whole"]).output().unwrap(), 2, &["--whole"]);

    let other = Server::start(&[]);
    assert_eq!(other.ok(&["import", "processes", &file("processes")]), "deployed process errand version 1\n");
    let started = other.ok(&["import", "instances", &file("instances")]);
    let copy = started.strip_prefix("started instance ").unwrap().split(' ').next().unwrap();
    other.found(&["jobs", "--instance", copy]);
    assert_eq!(other.variable(copy, "total"), "1.1");

    // Variables go back to where they were, edited on the way.
    let lines = other.ok(&["export", "variables", "--instance", copy]);
    let edited = file("variables");
    std::fs::write(&edited, lines.replace(r#""value":"1.1""#, r#""value":"2.20""#)).unwrap();
    other.ok(&["import", "variables", &edited]);
    assert_eq!(other.variable(copy, "total"), "2.2");

    std::fs::write(&edited, "{\"name\": \"a\"}\nnonsense\n").unwrap();
    let wrong = other.command(&["import", "variables", &edited]).output().unwrap();
    failed(
        &wrong,
        2,
        &["line 1: the property scopeKey, name or value is missing", "line 2: no line of `baton export`"],
    );
    failed(&run(&["import", "jobs"]), 2, &["jobs cannot be imported"]);
    server.stop_clean();
    other.stop_clean();
}

#[test]
fn an_export_ends_when_nobody_reads() {
    let server = Server::start(&[]);
    server.deploy("straight.bpmn", STRAIGHT_BPMN);
    server.start_instance("straight", "{}");
    server.found(&["elements"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = server.command(&["export", "elements"]).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
    server.stop_clean();
}
