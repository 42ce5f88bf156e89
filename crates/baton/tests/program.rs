//! The program as a user runs it.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

fn baton() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    baton().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts how a command failed and returns what it said.
fn failed(output: &Output, code: i32, mentions: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for mention in mentions {
        assert!(said.contains(mention), "{said}\ndoes not mention {mention}");
    }
}

struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    ready: String,
    _data: Option<tempfile::TempDir>,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let server = Self::start_at(data.path(), arguments);
        Self { _data: Some(data), ..server }
    }

    fn start_at(data: &Path, arguments: &[&str]) -> Self {
        let free = "127.0.0.1:0";
        let mut child = baton()
            .arg("start")
            .arg("--data-dir")
            .arg(data)
            .args(["--rest", free, "--grpc", free, "--management", free])
            .args(arguments)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        output.read_line(&mut ready).unwrap();
        Self { child, output, ready, _data: None }
    }

    /// Asks the management port.
    fn manage(&self, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
        let mut stream = TcpStream::connect(self.address("management")).unwrap();
        let length = body.len();
        write!(stream, "{method} /actuator{path} HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    fn address(&self, name: &str) -> String {
        let (_, after) = self.ready.split_once(&format!(" {name}=")).unwrap();
        after.split_whitespace().next().unwrap().to_owned()
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address("management")).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal; returns the exit code, the rest of the output, and the log.
    fn stop(mut self, signal: Signal) -> (Option<i32>, String, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut rest, mut log) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), rest, log)
    }
}

#[test]
fn a_server_says_once_that_it_is_ready_and_stops_when_told() {
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start(&[]);
        assert!(server.ready.starts_with("baton ready in "), "{}", server.ready);
        assert!(server.get("/actuator/health/liveness").starts_with("HTTP/1.0 200"));
        let metrics = server.get("/actuator/prometheus");
        assert!(metrics.contains("process_cpu_seconds_total"), "{metrics}");
        TcpStream::connect(server.address("rest")).unwrap();
        TcpStream::connect(server.address("grpc")).unwrap();
        let (code, rest, log) = server.stop(signal);
        assert_eq!((code, rest.as_str()), (Some(0), ""), "{log}");
        assert!(log.contains("stopped"), "{log}");
        assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }
}

/// A figure of a process from the kernel, in KiB.
fn kernel_says(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Takes a profile; asserts that the server takes no more memory for it than this, and gives it back.
fn profile(server: &Server, query: &str, growth_max_kib: u64) -> String {
    let process = server.child.id();
    let before = kernel_says(process, "VmRSS");
    // Forgets the highest figure so far.
    std::fs::write(format!("/proc/{process}/clear_refs"), "5").unwrap();
    let answer = server.get(&format!("/actuator/profile?{query}"));
    let (peak, after) = (kernel_says(process, "VmHWM"), kernel_says(process, "VmRSS"));
    assert!(peak < before + growth_max_kib, "{before} KiB before, {peak} KiB at the most");
    assert!(after < before + growth_max_kib, "{before} KiB before, {after} KiB afterwards");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer:.1000}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn a_profile_names_functions_and_takes_little_memory() {
    let server = Server::start(&[]);
    assert!(profile(&server, "seconds=3", 24 << 10).contains("<svg"));
    // Messages that nobody waits for: work for all parts, and nothing is kept.
    let rest = server.address("rest");
    let (is_over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let (rest, is_over, sent) = (rest.clone(), Arc::clone(&is_over), Arc::clone(&sent));
            std::thread::spawn(move || {
                let body = r#"{"name":"m","correlationKey":"k","timeToLive":0,"variables":{"a":[1,2,3]}}"#;
                let length = body.len();
                while !is_over.load(Ordering::Relaxed) {
                    let mut stream = TcpStream::connect(&rest).unwrap();
                    write!(
                        stream,
                        "POST /v2/messages/publication HTTP/1.0\r\ncontent-type: application/json\r\n\
                         content-length: {length}\r\n\r\n{body}"
                    )
                    .unwrap();
                    let mut answer = String::new();
                    stream.read_to_string(&mut answer).unwrap();
                    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let deadline = Instant::now() + Duration::from_secs(60);
    while sent.load(Ordering::Relaxed) < 300 {
        assert!(Instant::now() < deadline && clients.iter().all(|client| !client.is_finished()));
        std::thread::yield_now();
    }
    // Its caches fill up meanwhile.
    let stacks = profile(&server, "format=collapsed&seconds=3", 96 << 10);
    let picture = profile(&server, "seconds=2", 96 << 10);
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().unwrap();
    }
    for name in ["gateway::rest::", "engine::", "tokio::runtime::"] {
        assert!(stacks.contains(name), "{name} is not in {stacks:.3000}");
    }
    let named = stacks.lines().filter(|line| line.contains("::")).count();
    assert!(named * 2 > stacks.lines().count(), "most stacks have names: {stacks:.3000}");
    assert!(
        stacks
            .lines()
            .all(|line| line.rsplit_once(' ').is_some_and(|(_, count)| count.parse::<u64>().is_ok()))
    );
    assert!(picture.contains("<svg") && picture.contains("gateway::rest::"), "{picture:.500}");
    let (code, _, log) = server.stop(Signal::TERM);
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn log_lines_can_be_objects() {
    let (_, _, log) = Server::start(&["--log-format", "json"]).stop(Signal::TERM);
    // Ready, stopping, stopped: a start that goes well is not worth more.
    assert_eq!(log.lines().count(), 3, "{log}");
    for line in log.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["start", "--rest", &address, "--grpc", "127.0.0.1:0", "--management", "127.0.0.1:0"]);
    failed(&output, 1, &[&address, "rest.listen", "--rest HOST:PORT"]);
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_wrong_configuration_stops_the_start_with_its_place() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "rest:\n  listen: 8080\nstat:\n  flush_bytes: 1MiB\n").unwrap();
    let path = file.path().to_str().unwrap();
    let place = format!("{path}:2:3: expected an address");
    failed(
        &run(&["start", "--config", path]),
        2,
        &[&place, "did you mean 'state.flush_bytes'?", "baton config"],
    );
    failed(&run(&["config", "--check", path]), 2, &[&place]);
    failed(
        &run(&["start", "--set", "clock.controlled=maybe"]),
        2,
        &["flag --set clock.controlled", "'maybe'"],
    );
    let output = baton().arg("start").env("BATON_REST_LISTENN", "x").output().unwrap();
    failed(&output, 2, &["environment variable BATON_REST_LISTENN", "did you mean 'BATON_REST_LISTEN'?"]);
    failed(&run(&["start", "--config", "/nowhere.yaml"]), 2, &["/nowhere.yaml: cannot be read"]);
}

#[test]
fn the_printed_configuration_is_valid() {
    let printed = run(&["config"]);
    assert!(printed.status.success());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &printed.stdout).unwrap();
    let checked = run(&["config", "--check", file.path().to_str().unwrap()]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
}

#[test]
fn a_server_that_is_not_there_is_told() {
    // Bound and dropped: nobody listens there now.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for protocol in ["rest", "grpc"] {
        let arguments =
            ["status", "--protocol", protocol, "--rest-address", &address, "--grpc-address", &address];
        failed(&run(&arguments), 3, &[&address, "hint: is a server running there?"]);
    }
    // Nobody means the other API of another server.
    failed(&run(&["status", "--grpc-address", &address]), 3, &[&address]);
    failed(&run(&["run", "p", "--variables", "[1]"]), 2, &["--variables is not a JSON object"]);
    failed(&run(&["deploy", "/nowhere.bpmn"]), 2, &["cannot read /nowhere.bpmn"]);
}

#[test]
fn whoever_reads_may_stop_early() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for (arguments, code) in
        [(&["config"][..], 0), (&["completions", "bash"], 0), (&["status", "--rest-address", &address], 3)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = baton();
        command.args(arguments).stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(code), "{arguments:?}");

        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = baton().args(arguments).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let (code, reason) =
            if code == 0 { (1, "cannot write the result: No space left") } else { (code, "refused") };
        failed(&output, code, &[reason]);
    }
}

#[test]
fn how_a_server_is_decides_the_exit_code() {
    let server = Server::start(&["--set", "security.authentication.method=basic"]);
    let to = ["--management-address", &server.address("management")];
    let up = run(&[&["health"], &to[..]].concat());
    // Probes need no credentials.
    assert_eq!(up.status.code(), Some(0), "{}", text(&up.stderr));
    let said = text(&up.stdout);
    assert!(said.lines().any(|line| line.split_whitespace().eq(["partition-1", "UP", "-"])), "{said}");
    server.stop(Signal::TERM);

    let server = Server::start(&["--set", "data.min_free_bytes=1000TiB"]);
    let to = ["--management-address", &server.address("management"), "--json"];
    let down = run(&[&["health"], &to[..]].concat());
    assert_eq!(down.status.code(), Some(1), "{}", text(&down.stderr));
    let said: serde_json::Value = serde_json::from_slice(&down.stdout).unwrap();
    assert_eq!(said["isUp"], false, "{said}");
    let disk = said["parts"].as_array().unwrap().iter().find(|part| part["name"] == "disk").unwrap();
    assert!(disk["isUp"] == false && disk["reason"].is_string(), "{said}");
    server.stop(Signal::TERM);

    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    failed(&run(&["health", "--management-address", &address]), 3, &[&address, "another address"]);
}

#[test]
fn without_secondary_storage_commands_do_what_they_can() {
    let server = Server::start(&["--set", "secondary_storage.kind=none"]);
    let rest = server.address("rest");
    let to = ["--rest-address", rest.as_str()];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("errand.bpmn");
    std::fs::write(&file, TASK_BPMN).unwrap();
    assert!(run(&[&["deploy", file.to_str().unwrap()], &to[..]].concat()).status.success());
    let started = run(&[&["run", "errand", "--json"], &to[..]].concat());
    let started: serde_json::Value = serde_json::from_slice(&started.stdout).unwrap();
    let key = started["processInstanceKey"].as_str().unwrap();
    // It lives, so the engine knows it; its elements and variables are nowhere.
    let shown = run(&[&["show", "instance", key], &to[..]].concat());
    assert!(text(&shown.stdout).contains("ACTIVE"), "{shown:?}");
    failed(&shown, 1, &["cannot search element-instances", "FORBIDDEN"]);

    let jobs = r#"{"type":"errand","timeout":60000,"maxJobsToActivate":1}"#;
    let activated = post(&rest, "/v2/jobs/activation", jobs);
    let (_, job) = activated.split_once("\"jobKey\":\"").unwrap();
    let job = job.split('"').next().unwrap();
    failed(
        &run(&[&["retry", job], &to[..]].concat()),
        1,
        &[&format!("job {job} has retries again, but cannot search incidents")],
    );
    server.stop(Signal::TERM);
}

#[test]
fn exporting_stays_as_operators_left_it_over_restarts() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("errand.bpmn");
    std::fs::write(&file, TASK_BPMN).unwrap();
    let start = || Server::start_at(&data.path().join("data"), &["--set", "export.ndjson.enabled=true"]);
    let exporter = |server: &Server, id: &str| {
        let (status, all) = server.manage("GET", "/exporters", "");
        assert_eq!(status, 200);
        all.as_array().unwrap().iter().find(|one| one["exporterId"] == id).unwrap().clone()
    };
    let partition = |server: &Server| server.manage("GET", "/partitions", "").1["1"].clone();
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_so() {
            assert!(Instant::now() < end, "not in time: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };

    let server = start();
    let commands = |server: &Server, arguments: &[&str]| {
        let output = run(&[arguments, &["--rest-address", &server.address("rest")]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    commands(&server, &["deploy", file.to_str().unwrap()]);
    assert_eq!(server.manage("POST", "/exporting/pause", "").1["status"], 204);
    commands(&server, &["run", "errand"]);
    server.stop(Signal::TERM);

    let server = start();
    assert_eq!(partition(&server)["exporterPhase"], "PAUSED");
    assert!(exporter(&server, "secondary-storage")["backlogRecords"].as_u64().unwrap() > 5);
    until("it is told how long records wait", &|| {
        exporter(&server, "secondary-storage")["backlogSeconds"].as_f64().unwrap() > 0.0
    });
    assert!(!commands(&server, &["search", "instances"]).contains("errand"));
    assert_eq!(server.manage("POST", "/exporting/resume", "").1["status"], 204);
    until("the pause is over", &|| exporter(&server, "secondary-storage")["backlogRecords"] == 0);
    assert!(commands(&server, &["search", "instances"]).contains("errand"));

    for id in ["ndjson", "secondary-storage"] {
        let (status, answer) = server.manage("POST", &format!("/exporters/{id}/disable"), "");
        assert_eq!((status, answer["status"].as_str()), (202, Some("DISABLED")));
    }
    // Nobody is there to export anything, so nothing waits.
    let told = partition(&server);
    assert_eq!(told["exportedPosition"], told["processedPosition"], "{told}");
    server.stop(Signal::TERM);

    let server = start();
    assert_eq!(exporter(&server, "ndjson")["status"], "DISABLED");
    // Only one that is not configured any more can be removed.
    let (status, refused) = server.manage("DELETE", "/exporters/ndjson", "");
    assert_eq!(status, 400, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("it is configured"), "{refused}");
    assert_eq!(server.manage("DELETE", "/exporters/nobody", "").0, 404);
    let enable = |id: &str, from: &str| {
        let body = format!("{{\"initializeFrom\":\"{from}\"}}");
        server.manage("POST", &format!("/exporters/{id}/enable"), &body)
    };
    // Where one is that is off says nothing of what the other one missed.
    let (status, refused) = enable("ndjson", "secondary-storage");
    assert_eq!(status, 400, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("'secondary-storage' is disabled"), "{refused}");
    assert_eq!(exporter(&server, "ndjson")["status"], "DISABLED");
    assert_eq!(server.manage("POST", "/exporters/secondary-storage/enable", "").0, 202);
    assert_eq!(enable("ndjson", "secondary-storage").0, 202);
    assert_eq!(exporter(&server, "ndjson")["status"], "ENABLED");
    let exported = |id: &str| exporter(&server, id)["exportedPosition"].as_u64().unwrap();
    let before = exported("ndjson").max(exported("secondary-storage"));
    commands(&server, &["run", "errand"]);
    until("both export again", &|| exported("ndjson").min(exported("secondary-storage")) > before);
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn processing_is_paused_and_state_written_at_the_management_port() {
    let server = Server::start(&[]);
    let partition = |(code, partitions): (u16, serde_json::Value)| {
        assert_eq!(code, 200, "{partitions}");
        partitions["1"].clone()
    };
    let post = |action: &str| partition(server.manage("POST", &format!("/partitions/{action}"), ""));
    let publish = || ask(&server.address("rest"), "/v2/messages/publication", r#"{"name":"m"}"#);
    publish();
    let before = partition(server.manage("GET", "/partitions", ""));
    let after = post("prepareUpgrade");
    assert_eq!(
        (&before["streamProcessorPhase"], &after["streamProcessorPhase"]),
        (&"PROCESSING".into(), &"PAUSED".into())
    );
    let snapshot =
        |status: &serde_json::Value| status["snapshotId"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(snapshot(&after) > snapshot(&before), "{before} {after}");
    let refused = publish();
    assert!(refused.contains("503") && refused.contains("processing is paused"), "{refused}");
    assert_eq!(post("resumeProcessing")["streamProcessorPhase"], "PROCESSING");
    assert!(!publish().contains("paused"));
    assert_eq!(post("softPauseExporting")["exporterPhase"], "SOFT_PAUSED");
    assert_eq!(post("resumeExporting")["exporterPhase"], "EXPORTING");
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn banned_instances_are_asked_for_at_the_management_port() {
    let server = Server::start(&[]);
    let to = ["--management-address", &server.address("management"), "--json"];
    let none = run(&[&["banned"], &to[..]].concat());
    assert!(none.status.success(), "{}", text(&none.stderr));
    assert_eq!(text(&none.stdout).trim(), "[]");
    for action in ["--release", "--cancel"] {
        let unknown = run(&[&["banned", action, "7"], &to[..]].concat());
        failed(&unknown, 1, &["7", "NOT_FOUND"]);
    }
    failed(&run(&["banned", "--release", "1", "--cancel", "2"]), 2, &["--cancel"]);
    server.stop(Signal::TERM);
}

const STRAIGHT_BPMN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="straight" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="flow" sourceRef="start" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>"#;

#[test]
fn a_process_is_deployed_and_run_from_the_command_line() {
    let server = Server::start(&[]);
    let (rest, grpc) = (server.address("rest"), server.address("grpc"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("straight.bpmn");
    std::fs::write(&file, STRAIGHT_BPMN).unwrap();
    let file = file.to_str().unwrap();
    for protocol in ["rest", "grpc"] {
        let to = ["--protocol", protocol, "--rest-address", &rest, "--grpc-address", &grpc, "--json"];
        let json = |arguments: &[&str]| {
            let output = run(&[arguments, &to].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        };
        let status = json(&["status"]);
        assert_eq!(status["brokers"][0]["partitions"][0]["role"], "leader", "{status}");
        let deployed = json(&["deploy", file]);
        assert_eq!(deployed["deployed"][0]["id"], "straight", "{deployed}");
        let ended = json(&["run", "straight", "--await", "--variables", "{\"a\": 1}"]);
        assert_eq!(ended["variables"], serde_json::json!({ "a": 1 }), "{ended}");
        let unknown = run(&[&["run", "unknown"], &to[..]].concat());
        failed(
            &unknown,
            1,
            &["unknown", "NOT_FOUND", "hint: deploy it first"]
                .map(|m| if protocol == "grpc" && m == "NOT_FOUND" { "NotFound" } else { m }),
        );
    }
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn a_search_that_lags_says_so() {
    let server = Server::start(&["--set", "secondary_storage.fresh_timeout=50ms"]);
    let rest = server.address("rest");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("straight.bpmn");
    std::fs::write(&file, STRAIGHT_BPMN).unwrap();
    let command = |arguments: &[&str]| {
        let output = run(&[arguments, &["--rest-address", &rest]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    command(&["deploy", file.to_str().unwrap()]);
    // A busy machine may take longer than the timeout; then the answer lags, too.
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut found, mut said) = command(&["search", "processes"]);
    while !said.is_empty() && Instant::now() < deadline {
        (found, said) = command(&["search", "processes"]);
    }
    assert!(found.contains("straight") && said.is_empty(), "{found}{said}");

    let (status, answer) = server.manage("POST", "/exporting/pause", "");
    assert!(status < 300, "{status} {answer}");
    command(&["run", "straight"]);
    let (found, said) = command(&["search", "instances"]);
    assert!(found.is_empty(), "{found}");
    assert!(
        said.contains("note: the answer lags by ") && said.contains("no process instances found"),
        "{said}"
    );
    server.stop(Signal::TERM);
}

#[test]
fn tenants_are_named_on_the_command_line() {
    let server = Server::start(&["--set", "multi_tenancy.enabled=true"]);
    let (rest, grpc) = (server.address("rest"), server.address("grpc"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("straight.bpmn");
    std::fs::write(&file, STRAIGHT_BPMN).unwrap();
    for protocol in ["rest", "grpc"] {
        let to = ["--protocol", protocol, "--rest-address", &rest, "--grpc-address", &grpc];
        for command in [["deploy", file.to_str().unwrap()], ["run", "straight"]] {
            failed(&run(&[&command, &to[..]].concat()), 1, &["tenant"]);
            let output = run(&[&command, &["--tenant", "<default>"], &to[..]].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
    }
    server.stop(Signal::TERM);
}

const TASK_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="errand" isExecutable="true">
    <startEvent id="begin"/>
    <sequenceFlow id="to-task" sourceRef="begin" targetRef="task"/>
    <serviceTask id="task">
      <extensionElements><zeebe:taskDefinition type="errand"/></extensionElements>
    </serviceTask>
  </process>
</definitions>"#;

#[test]
fn what_happened_is_found_and_mended_from_the_command_line() {
    let server = Server::start(&[]);
    let rest = server.address("rest");
    let to = ["--rest-address", rest.as_str()];
    let json = |arguments: &[&str]| {
        let output = run(&[arguments, &to, &["--json"]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let found = |arguments: &[&str]| {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let answer = json(&[&["search"], arguments].concat());
            match answer["items"].get(0) {
                Some(item) => return item.clone(),
                None => assert!(Instant::now() < end, "{arguments:?}: {answer}"),
            }
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("errand.bpmn");
    std::fs::write(&file, TASK_BPMN).unwrap();
    json(&["deploy", file.to_str().unwrap()]);
    let instance = json(&["run", "errand", "--variables", "{\"who\": \"ann\"}"]);
    let instance = instance["processInstanceKey"].as_str().unwrap();

    let job = found(&["jobs", "--process", "errand", "--instance", instance, "--state", "CREATED"]);
    let key = job["jobKey"].as_str().unwrap();
    post(&rest, "/v2/jobs/activation", r#"{"type":"errand","timeout":60000,"maxJobsToActivate":1}"#);
    post(&rest, &format!("/v2/jobs/{key}/failure"), r#"{"retries":0,"errorMessage":"no shoes"}"#);
    let incident = found(&["incidents", "--state", "ACTIVE", "--instance", instance]);
    assert_eq!(incident["errorMessage"], "no shoes");
    let shown = run(&[&["show", "instance", instance], &to[..]].concat());
    let shown = text(&shown.stdout);
    for part in ["processDefinitionId", "errand", "SERVICE_TASK", "who", "no shoes"] {
        assert!(shown.contains(part), "{shown}");
    }
    let listed = run(&[&["search", "instances", "--state", "ACTIVE"], &to[..]].concat());
    assert!(text(&listed.stdout).starts_with("processInstanceKey"), "{}", text(&listed.stdout));

    assert_eq!(json(&["retry", key, "--retries", "2"]), serde_json::json!([{ "key": key, "retried": true }]));
    let incident = incident["incidentKey"].as_str().unwrap();
    found(&["incidents", "--filter", &format!("{{\"incidentKey\":\"{incident}\"}}"), "--state", "RESOLVED"]);
    assert_eq!(json(&["show", "job", key])["retries"], 2);
    failed(&run(&[&["resolve", incident], &to[..]].concat()), 1, &["cannot resolve incident", "NOT_FOUND"]);
    json(&["cancel", instance]);
    let ended = found(&["instances", "--instance", instance, "--state", "TERMINATED"]);
    assert_eq!(ended["processInstanceKey"], instance);
    failed(&run(&[&["show", "job", "7"], &to[..]].concat()), 1, &["there is no job with key 7"]);
    let nothing = run(&[&["search", "tasks"], &to[..]].concat());
    assert!(nothing.status.success() && nothing.stdout.is_empty(), "{nothing:?}");
    assert_eq!(text(&nothing.stderr), "no user tasks found\n");
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

fn post(address: &str, path: &str, body: &str) -> String {
    let answer = ask(address, path, body);
    assert!(answer.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{answer}");
    answer
}

fn ask(address: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_demonstration_compares_both_protocols() {
    let output = run(&["demo", "--rate", "20", "--duration", "1s", "--warm-up", "0s", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (report, title) in reports.as_array().unwrap().iter().zip(["gRPC", "REST"]) {
        assert_eq!(report["title"], title);
        assert!(report["completed"].as_u64().unwrap() > 0, "{report}");
    }
    assert_eq!(reports.as_array().unwrap().len(), 2);
}

/// Certificates of an authority, signed for `localhost` and for a client, in files.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Self {
        use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let write = |name: &str, pem: String| std::fs::write(directory.path().join(name), pem).unwrap();
        for (name, host) in [("server", "localhost"), ("client", "robot")] {
            let pair = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
            write(&format!("{name}.pem"), params.signed_by(&pair, &authority).unwrap().pem());
            write(&format!("{name}-key.pem"), pair.serialize_pem());
        }
        write("authority.pem", authority.pem());
        Self(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn commands_speak_tls_and_show_certificates_where_they_are_asked_for() {
    let certificates = Certificates::new();
    let [authority, chain, key] =
        ["authority.pem", "client.pem", "client-key.pem"].map(|name| certificates.path(name));
    let users = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(users.path(), "users: [{username: ann, password: right}]").unwrap();
    let mut settings = vec![
        "security.authentication.method=basic".to_owned(),
        format!("security.initialization={}", users.path().display()),
        "management.authentication=true".to_owned(),
    ];
    for port in ["rest", "grpc", "management"] {
        settings.push(format!("{port}.tls.certificate_chain={}", certificates.path("server.pem")));
        settings.push(format!("{port}.tls.private_key={}", certificates.path("server-key.pem")));
        if port != "management" {
            settings.push(format!("{port}.tls.client_certificates=required"));
            settings.push(format!("{port}.tls.client_authorities={authority}"));
        }
    }
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let server = Server::start(&settings);
    let address = |port: &str, scheme: &str, host: &str| {
        format!("{scheme}://{host}:{}", server.address(port).rsplit(':').next().unwrap())
    };
    let ask = |arguments: &[&str]| {
        baton().args(arguments).env("BATON_USERNAME", "ann").env("BATON_PASSWORD", "right").output().unwrap()
    };
    for (protocol, option) in [("rest", "--rest-address"), ("grpc", "--grpc-address")] {
        let status = |scheme: &str, host: &str, more: &[&str]| {
            let address = address(protocol, scheme, host);
            let arguments =
                ["status", "--json", "--request-timeout", "5s", "--protocol", protocol, option, &address];
            ask(&[&arguments, more].concat())
        };
        let trusted = ["--authorities", authority.as_str()];
        let known = [&trusted[..], &["--certificate-chain", &chain, "--private-key", &key]].concat();
        let output = status("https", "localhost", &known);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["brokers"][0]["partitions"][0]["role"], "leader", "{answer}");
        let nobody = [&known[..], &["--username", "bob"]].concat();
        let hint = "hint: give credentials: --username";
        failed(&status("https", "localhost", &nobody), 1, &["user name or password is wrong", hint]);
        // Neither an authority that is not known, nor another name, nor nobody's certificate, nor without TLS.
        failed(&status("https", "localhost", &known[2..]), 1, &[]);
        failed(&status("https", "127.0.0.1", &known), 1, &[]);
        // The server ends these; whether the request was sent by then is chance.
        for refused in [status("https", "localhost", &trusted), status("http", "localhost", &known)] {
            assert!(matches!(refused.status.code(), Some(1 | 3)), "{refused:?}");
            assert!(refused.stdout.is_empty(), "{refused:?}");
        }
        failed(&status("https", "localhost", &["--certificate-chain", &chain]), 2, &["--private-key"]);
        failed(&status("https", "localhost", &["--authorities", "/nowhere.pem"]), 2, &["/nowhere.pem"]);
        failed(&status("https", "localhost", &["--authorities", &key]), 2, &[&key, "certificate"]);
    }
    let management = address("management", "https", "localhost");
    let banned = ["banned", "--json", "--management-address", &management, "--authorities", &authority];
    let output = ask(&banned);
    assert!(output.status.success(), "{}", text(&output.stderr));
    failed(&run(&banned), 1, &["credentials are missing"]);
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("ERROR"), "{log}");
}

#[test]
fn completions_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success() && text(&output.stdout).contains("data-dir"), "{shell}");
    }
}
