//! `baton work`: a worker without code.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::models::TASK_BPMN;
use crate::support::{Server, failed, run};

fn server() -> Server {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    server
}

/// Runs the worker for the job of a new instance; gives the key of the instance and what was printed.
fn one(server: &Server, more: &[&str]) -> (String, String) {
    let instance = server.start_instance("errand", r#"{"price": 1.10, "count": 2}"#);
    let printed = server.ok(&[&["work", "errand", "--count", "1"], more].concat());
    (instance, printed)
}

#[test]
fn exit_codes_of_handlers_are_outcomes() {
    let server = server();
    let (instance, printed) =
        one(&server, &["--handler", "cat > /dev/null; echo \"{\\\"key\\\": \\\"$JOB_KEY\\\"}\""]);
    let key = server.variable(&instance, "key");
    let expected = format!("completed {} task of instance {instance}\n", key.trim_matches('"'));
    assert_eq!(printed, expected);
    server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);

    // Its input is the variables as they are; a handler that reads nothing is no trouble.
    let (instance, _) = one(&server, &["--handler", "sed 's/price/seen/'"]);
    assert_eq!(server.variable(&instance, "seen"), "1.1");
    let (instance, _) = one(&server, &["--handler", "true"]);
    server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);

    let (instance, printed) = one(&server, &["--handler", "echo SOLD_OUT; exit 100", "--json"]);
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["outcome"], &printed["message"]), (&"thrown".into(), &"SOLD_OUT".into()));
    server.found(&["elements", "--instance", &instance, "--filter", r#"{"elementId":"gone"}"#]);

    let handler = "echo so it goes >&2; exit 4";
    let (instance, printed) = one(&server, &["--handler", handler, "--backoff", "1h", "--protocol", "grpc"]);
    assert!(
        printed.starts_with("failed ") && printed.ends_with(": so it goes (2 retries left)\n"),
        "{printed}"
    );
    let job = server.found(&["jobs", "--instance", &instance, "--state", "FAILED"]);
    assert_eq!((&job["retries"], &job["errorMessage"]), (&2.into(), &"so it goes".into()));

    let (_, printed) = one(&server, &["--handler", "sleep 60", "--time-limit", "50ms", "--backoff", "1h"]);
    assert!(printed.contains("the handler ran longer than 50ms (2 retries left)"), "{printed}");
    server.stop_clean();
}

#[test]
fn without_a_handler_jobs_are_completed_as_they_are() {
    let server = server();
    let instances: Vec<_> = (0..5).map(|_| server.start_instance("errand", "{}")).collect();
    let printed =
        server.ok(&["work", "errand", "--count", "4", "--parallel", "2", "--variables", "{\"a\": 1.0}"]);
    assert_eq!(printed.lines().filter(|line| line.starts_with("completed ")).count(), 4, "{printed}");
    // The fifth is left.
    let left = server.json(&["jobs", "activate", "errand", "--count", "9"]);
    assert_eq!(left["jobs"].as_array().unwrap().len(), 1, "{left}");
    let done = instances.iter().find(|key| left["jobs"][0]["processInstanceKey"] != key.as_str()).unwrap();
    server.found(&["instances", "--instance", done, "--state", "COMPLETED"]);
    assert_eq!(server.variable(done, "a"), "1");
    server.stop_clean();
}

/// A worker whose handler says that it begins, and ends when a file is there.
struct Busy {
    worker: Child,
    errors: BufReader<std::process::ChildStderr>,
}

impl Busy {
    fn start(server: &Server, file: &std::path::Path) -> Self {
        let handler = format!(
            "echo begun >&2; until [ -e '{}' ]; do sleep 0.02; done; echo '{{\"a\": 1}}'",
            file.display()
        );
        let mut worker = server
            .command(&["work", "errand", "--handler", &handler, "--timeout", "2s"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut busy = Self { errors: BufReader::new(worker.stderr.take().unwrap()), worker };
        assert_eq!(busy.said(), "begun\n");
        busy
    }

    fn said(&mut self) -> String {
        let mut line = String::new();
        self.errors.read_line(&mut line).unwrap();
        line
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.worker), signal).unwrap();
    }

    /// The exit code and what was printed.
    fn end(mut self) -> (Option<i32>, String) {
        let mut printed = String::new();
        self.worker.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (self.worker.wait().unwrap().code(), printed)
    }
}

#[test]
fn a_worker_that_is_stopped_ends_what_it_has_begun() {
    let server = server();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("go");
    for signal in [Signal::INT, Signal::TERM] {
        let _ = std::fs::remove_file(&file);
        let instance = server.start_instance("errand", "{}");
        let mut busy = Busy::start(&server, &file);
        busy.signal(signal);
        assert!(busy.said().starts_with("stopping: jobs 'errand' in work are finished"));
        std::fs::write(&file, "").unwrap();
        let (code, printed) = busy.end();
        assert_eq!(code, Some(0));
        assert!(printed.starts_with("completed "), "{printed}");
        server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);
    }
    server.stop_clean();
}

#[test]
fn a_job_in_work_is_renewed_and_given_back_when_its_handler_is_killed() {
    let server = server();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("never");
    let instance = server.start_instance("errand", "{}");
    let mut busy = Busy::start(&server, &file);
    // Longer than its time-out, nobody else gets it.
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        let other = server.json(&["jobs", "activate", "errand", "--wait", "200ms"]);
        assert_eq!(other["jobs"], serde_json::json!([]));
    }
    busy.signal(Signal::INT);
    assert!(busy.said().starts_with("stopping"));
    busy.signal(Signal::INT);
    let (code, printed) = busy.end();
    assert_eq!(code, Some(1));
    assert!(printed.ends_with("the worker was stopped (3 retries left)\n"), "{printed}");
    let next = server.json(&["jobs", "activate", "errand", "--wait", "10s"]);
    assert_eq!(next["jobs"][0]["processInstanceKey"], instance.as_str());
    assert_eq!(next["jobs"][0]["retries"], 3);
    server.stop_clean();
}

#[test]
fn a_job_that_is_canceled_stops_its_handler() {
    let server = server();
    let directory = tempfile::tempdir().unwrap();
    let instance = server.start_instance("errand", "{}");
    let busy = Busy::start(&server, &directory.path().join("never"));
    server.ok(&["cancel", &instance]);
    let mut worker = busy.worker;
    let mut printed = String::new();
    BufReader::new(worker.stdout.as_mut().unwrap()).read_line(&mut printed).unwrap();
    assert!(printed.starts_with("lost ") && printed.contains("its handler was killed"), "{printed}");
    kill_process(Pid::from_child(&worker), Signal::TERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    server.stop_clean();
}

#[test]
fn a_worker_needs_no_reader() {
    let server = server();
    let instance = server.start_instance("errand", "{}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = server.command(&["work", "errand", "--count", "1", "--handler", "exec <&-; echo '{}'"]);
    assert!(command.stdout(writer.try_clone().unwrap()).stderr(writer).status().unwrap().success());
    server.found(&["instances", "--instance", &instance, "--state", "COMPLETED"]);
    server.stop_clean();
}

#[test]
fn a_worker_without_a_server_ends_at_once() {
    let help = run(&["work", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("100 throws a BPMN error"), "{help:?}");
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ended = run(&["work", "errand", "--rest-address", &nowhere]);
    failed(&ended, 3, &["cannot reach the server", "hint: is a server running there?"]);
    let wrong = run(&["work", "errand", "--timeout", "30"]);
    failed(&wrong, 2, &["'30' has no unit of time; write 30s"]);
}
