//! Commands that deploy, run, look and mend.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::models::{STRAIGHT_BPMN, TASK_BPMN};
use crate::support::{Server, baton, failed, post, run, text};

#[test]
fn a_server_that_is_not_there_is_told() {
    // Bound and dropped: nobody listens there now.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for protocol in ["rest", "grpc"] {
        let arguments =
            ["status", "--protocol", protocol, "--rest-address", &address, "--grpc-address", &address];
        failed(&run(&arguments), 3, &[&address, "hint: is a server running there?"]);
    }
    // An address of one API chooses that API: the default server of the other one is not asked.
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
    assert_eq!(said["status"], "DOWN", "{said}");
    let disk = &said["components"]["disk"];
    assert!(disk["status"] == "DOWN" && disk["details"]["reason"].is_string(), "{said}");
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
        assert_eq!(
            deployed["deployments"][0]["processDefinition"]["processDefinitionId"], "straight",
            "{deployed}"
        );
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
    let foreign = run(&[&["search", "jobs", "--after", "abcd"], &to[..]].concat());
    failed(&foreign, 1, &["page.after", "hint: a page that is not the last"]);
    let nothing = run(&[&["search", "tasks"], &to[..]].concat());
    assert!(nothing.status.success() && nothing.stdout.is_empty(), "{nothing:?}");
    assert_eq!(text(&nothing.stderr), "no user tasks found\n");
    let (code, _, log) = server.stop(Signal::TERM);
    assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
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

#[test]
fn completions_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success() && text(&output.stdout).contains("BATON_COMPLETE"), "{shell}");
    }
}

#[test]
fn the_history_is_copied_while_a_server_runs() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_at(&data.path().join("data"), &[]);
    server.deploy("straight.bpmn", STRAIGHT_BPMN);
    server.found(&["processes"]);
    let (directory, copy) = (data.path().join("data"), data.path().join("copy"));
    let (directory, copy) = (directory.to_str().unwrap(), copy.to_str().unwrap());
    let said = server.ok(&["history", "copy", copy, "--data-dir", directory]);
    let bytes = std::fs::metadata(copy).unwrap().len();
    assert!(
        said.starts_with(&format!("{copy}: {bytes} bytes\npartition 1: everything up to position ")),
        "{said}"
    );
    let again = run(&["history", "copy", copy, "--data-dir", directory]);
    failed(&again, 1, &["cannot copy", "hint: name a file that is not there yet"]);
    server.stop_clean();
}
