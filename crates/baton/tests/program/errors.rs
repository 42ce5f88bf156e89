//! Errors name their cause.

use rustix::process::Signal;

use crate::models::{STRAIGHT_BPMN, TASK_BPMN};
use crate::support::{Server, baton, failed, run, text};

#[test]
fn a_plain_port_behind_https_is_told() {
    let server = Server::start(&[]);
    for (protocol, port) in [("rest", "rest"), ("grpc", "grpc")] {
        let address = format!("https://{}", server.address(port));
        let arguments =
            ["status", "--protocol", protocol, "--rest-address", &address, "--grpc-address", &address];
        failed(&run(&arguments), 1, &["hint: the port seems to speak no TLS: write http://"]);
    }
    server.stop(Signal::TERM);
}

#[test]
fn a_data_directory_in_use_is_told() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_at(data.path(), &[]);
    let free = "127.0.0.1:0";
    let second = baton()
        .args(["start", "--rest", free, "--grpc", free, "--management", free, "--data-dir"])
        .arg(data.path())
        .output()
        .unwrap();
    failed(&second, 1, &["the data directory is in use", "hint: stop that server first"]);
    server.stop(Signal::TERM);
}

#[test]
fn the_time_out_that_ended_a_wait_is_told() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    for protocol in ["rest", "grpc"] {
        let arguments = ["run", "errand", "--await", "--timeout", "200ms", "--protocol", protocol];
        let waited = server.command(&arguments).output().unwrap();
        failed(&waited, 1, &["has not ended within --timeout (200ms)", "hint: it goes on"]);
    }
    // A server that takes the request and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let waits = ["--await", "--timeout", "100ms", "--request-timeout", "200ms", "--rest-address", &address];
    failed(
        &run(&[&["run", "errand"], &waits[..]].concat()),
        3,
        &["--timeout (100ms) and --request-timeout (200ms)"],
    );
    server.stop_clean();
}

#[test]
fn times_without_a_unit_and_cursors_that_are_none_are_refused() {
    failed(&run(&["status", "--request-timeout", "5"]), 2, &["'5' has no unit of time; write 5s"]);
    let garbage = run(&["search", "jobs", "--after", "garbage"]);
    failed(&garbage, 2, &["--after: 'garbage' is no cursor", "hint: a page that is not the last"]);
}

#[test]
fn files_that_nothing_runs_are_told_or_refused() {
    let server = Server::start(&[]);
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let misnamed = file("straight.bpm", STRAIGHT_BPMN);
    let strict = server.command(&["deploy", "--strict", &misnamed]).output().unwrap();
    failed(&strict, 2, &["straight.bpm is a generic resource", "a name that ends with .bpmn makes it one"]);
    assert!(server.ok(&["search", "processes"]).is_empty());
    let refused = server.command(&["deploy", &misnamed]).output().unwrap();
    failed(&refused, 1, &["straight.bpm", "the name does not end with '.bpmn'"]);
    let notes = file("notes.bpm", "bars per minute");
    let warned = server.command(&["deploy", &notes]).output().unwrap();
    assert!(warned.status.success() && text(&warned.stdout).contains("resource notes.bpm"), "{warned:?}");
    assert!(text(&warned.stderr).starts_with("warning: notes.bpm is a generic resource"), "{warned:?}");
    // Half a file is no resource.
    let half = file("half.bpmn", &STRAIGHT_BPMN[..STRAIGHT_BPMN.len() / 2]);
    failed(&server.command(&["deploy", &half]).output().unwrap(), 1, &["half.bpmn", "malformed XML"]);
    let whole = file("straight.bpmn", STRAIGHT_BPMN);
    let quiet = server.command(&["deploy", "--strict", &whole]).output().unwrap();
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{quiet:?}");
    server.stop_clean();
}

#[test]
fn answers_of_the_api_are_printed_as_they_are() {
    let server = Server::start(&[]);
    let status = server.json(&["status"]);
    for property in ["brokers", "clusterSize", "partitionsCount", "gatewayVersion", "lastCompletedChangeId"] {
        assert!(!status[property].is_null(), "{property} is not in {status}");
    }
    let over_grpc = server.json(&["status", "--protocol", "grpc"]);
    assert_eq!(over_grpc["clusterSize"], status["clusterSize"]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let started = server.json(&["run", "errand"]);
    assert!(started["processDefinitionKey"].is_string() && started["tags"].is_array(), "{started}");
    let key = started["processDefinitionKey"].as_str().unwrap();
    assert!(server.ok(&["run", key]).ends_with(" of errand version 1\n"), "a key names a definition");
    server.stop_clean();
}
