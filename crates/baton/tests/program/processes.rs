//! Commands that processes and people notice: messages, signals, variables, user tasks, decisions, expressions.

use crate::models::{DISH_DMN, WAITING_BPMN};
use crate::support::{Server, failed, post, run, text};

#[test]
fn an_instance_is_brought_to_its_end_by_messages_signals_and_people() {
    let server = Server::start(&[]);
    server.deploy("waiting.bpmn", WAITING_BPMN);
    let instance = server.start_instance("waiting", r#"{"order": "o-1"}"#);

    let nobody = server.command(&["messages", "correlate", "paid", "--key", "other"]).output().unwrap();
    failed(&nobody, 1, &["cannot correlate message 'paid'", "NOT_FOUND", "`baton messages publish paid`"]);
    let variables = ["--variables", r#"{"amount": 12.50}"#];
    let correlated =
        server.ok(&[&["messages", "correlate", "paid", "--key", "o-1"], &variables[..]].concat());
    assert_eq!(correlated, format!("correlated message 'paid' with instance {instance}\n"));

    let broadcast = server.ok(&["signals", "broadcast", "open"]);
    assert!(broadcast.starts_with("broadcast signal ") && broadcast.ends_with(" 'open'\n"), "{broadcast}");

    let task = server.found(&["tasks", "--instance", &instance]);
    let key = task["userTaskKey"].as_str().unwrap();
    let listed = server.ok(&["tasks", "list", "--unassigned", "--process", "waiting"]);
    assert!(listed.contains(key) && listed.contains("Look"), "{listed}");
    assert_eq!(server.ok(&["tasks", "assign", key, "ann"]), format!("assigned {key}\n"));
    let taken = server.command(&["tasks", "assign", key, "bob", "--no-override"]).output().unwrap();
    failed(&taken, 1, &["cannot assign user task"]);
    assert!(server.ok(&["tasks", "list", "--assignee", "ann"]).contains(key));
    assert_eq!(server.json(&["tasks", "assign", key, "--nobody"])[0]["unassigned"], true);
    let completed = server.ok(&["tasks", "complete", key, "--variables", r#"{"fine": true}"#]);
    assert_eq!(completed, format!("completed {key}\n"));
    server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);
    assert_eq!(server.variable(&instance, "amount"), "12.5");
    assert_eq!(server.variable(&instance, "fine"), "true");
    server.stop_clean();
}

#[test]
fn a_published_message_waits_for_its_instance() {
    let server = Server::start(&[]);
    server.deploy("waiting.bpmn", WAITING_BPMN);
    let published =
        server.ok(&["messages", "publish", "paid", "--key", "o-2", "--id", "m-1", "--ttl", "10m"]);
    assert!(published.starts_with("published message ") && published.ends_with(" 'paid'\n"), "{published}");
    let again =
        server.command(&["messages", "publish", "paid", "--key", "o-2", "--id", "m-1"]).output().unwrap();
    failed(&again, 1, &["cannot publish message 'paid'", "m-1"]);
    let key = server.json(&["messages", "publish", "other"])["messageKey"].clone();
    assert!(key.is_string(), "{key}");
    let instance = server.start_instance("waiting", r#"{"order": "o-2"}"#);
    let waits =
        server.found(&["elements", "--instance", &instance, "--filter", r#"{"elementId":"until-open"}"#]);
    assert_eq!(waits["state"], "ACTIVE");
    server.stop_clean();
}

#[test]
fn variables_are_set_and_shown_as_they_are() {
    let server = Server::start(&[]);
    server.deploy("waiting.bpmn", WAITING_BPMN);
    let instance = server.start_instance("waiting", r#"{"order": "o-3"}"#);
    let set = server.ok(&["variables", "set", &instance, "total=1.10", "who=\"Ann\"", "list=[1, null]"]);
    assert_eq!(set, format!("set variables of {instance}\n"));
    let shown = server.ok(&["variables", "get", &instance]);
    let rows: Vec<Vec<_>> = shown.lines().map(|line| line.splitn(2, ' ').map(str::trim).collect()).collect();
    assert_eq!(rows[0], ["name", "value"]);
    assert!(rows.contains(&vec!["total", "1.1"]) && rows.contains(&vec!["who", "\"Ann\""]), "{shown}");
    assert_eq!(server.variable(&instance, "who"), "\"Ann\"");
    // Long values are whole.
    let long = format!("{{\"long\": \"{}\"}}", "x".repeat(20_000));
    server.ok(&["variables", "set", &instance, "--variables", &long]);
    assert_eq!(server.variable(&instance, "long").len(), 20_002);
    let answer = server.json(&["variables", "get", &instance, "total"]);
    assert_eq!(answer["items"][0]["value"], "1.1", "{answer}");
    let missing = server.command(&["variables", "get", &instance, "nothing"]).output().unwrap();
    failed(&missing, 1, &["has no variable 'nothing'"]);
    let text = server.command(&["variables", "set", &instance, "who=Ann"]).output().unwrap();
    failed(&text, 2, &["the value of 'who' is not JSON", "hint: a text stands in quotes"]);
    server.stop_clean();
}

#[test]
fn decisions_are_evaluated_by_id_and_by_key() {
    let server = Server::start(&[]);
    server.deploy("dinner.dmn", DISH_DMN);
    let evaluate = ["decisions", "evaluate", "dish", "--variables", r#"{"season": "Winter"}"#];
    let said = server.ok(&evaluate);
    let lines: Vec<_> = said.lines().collect();
    let row: Vec<_> = lines[1].split_whitespace().collect();
    assert_eq!((row.as_slice(), lines[2]), (&["dish", "1", "1", "\"Roast\""][..], "\"Roast\""), "{said}");
    let answer = server.json(&evaluate);
    let key = answer["decisionDefinitionKey"].as_str().unwrap();
    let other = server.ok(&["decisions", "evaluate", key, "--variables", r#"{"season": "Fall"}"#]);
    assert!(other.ends_with("\"Salad\"\n"), "{other}");
    let unknown = server.command(&["decisions", "evaluate", "dash"]).output().unwrap();
    failed(&unknown, 1, &["cannot evaluate decision 'dash'"]);
    server.stop_clean();
}

#[test]
fn expressions_are_evaluated_here_and_at_the_server() {
    let here = run(&["feel", "=a + b * 2", "--variables", r#"{"a": 1.5, "b": 2}"#]);
    assert_eq!((text(&here.stdout).as_str(), here.status.code()), ("5.5\n", Some(0)));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "for x in [1, 2] return x * x\n").unwrap();
    let of_file = run(&["feel", &format!("@{}", file.path().display()), "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&of_file.stdout).unwrap();
    assert_eq!(
        (&answer["result"], &answer["warnings"]),
        (&serde_json::json!([1, 4]), &serde_json::json!([]))
    );
    failed(&run(&["feel", "1 +"]), 2, &["the expression is not FEEL", "line 1, column"]);
    let cluster = run(&["feel", "camunda.vars.cluster.tax"]);
    assert_eq!(text(&cluster.stdout), "null\n");
    assert!(text(&cluster.stderr).contains("--server evaluates the expression there"), "{cluster:?}");

    let server = Server::start(&[]);
    post(&server.address("rest"), "/v2/cluster-variables/global", r#"{"name": "tax", "value": 19}"#);
    let there = ["feel", "--server", "camunda.vars.cluster.tax + 1"];
    assert_eq!(server.ok(&there), "20\n");
    let answer = server.json(&there);
    assert_eq!(answer["expression"], "=camunda.vars.cluster.tax + 1");
    let wrong = server.command(&["feel", "--server", "1 +"]).output().unwrap();
    failed(&wrong, 1, &["cannot evaluate the expression"]);
    server.stop_clean();
}
