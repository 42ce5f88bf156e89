//! Start, stop, log and profile of a server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::models::TASK_BPMN;
use crate::support::{Server, baton, failed, run, text};

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

/// Shorter than requests may take to end when the server stops.
const STOP_MAX: Duration = Duration::from_secs(4);

#[test]
fn whoever_waits_for_a_result_is_told_that_the_server_stops() {
    let server = Server::start(&[]);
    server.deploy("errand.bpmn", TASK_BPMN);
    let address = server.address("rest");
    let waiting = std::thread::spawn(move || {
        let body = r#"{"processDefinitionId":"errand","awaitCompletion":true,"requestTimeout":60000}"#;
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "POST /v2/process-instances HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    server.found(&["instances", "--process", "errand"]);
    let began = Instant::now();
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && began.elapsed() < STOP_MAX, "{:?}: {log}", began.elapsed());
    assert!(!log.contains("cut off"), "{log}");
    let answer = waiting.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 504 ") && answer.contains("the broker is stopping"), "{answer}");
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
