//! A batch that stops a partition, and the way out: the probes name it, also at the next start, and `baton
//! partition skip` sets it aside. Needs a build with debug assertions, in which the engine can be made to stand
//! still.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// One process for everybody, and one that stands still behind its job.
const MODEL: &str = r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test"><bpmn:process id="PROCESS" isExecutable="true"><bpmn:startEvent id="s"/><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="work"/><bpmn:serviceTask id="work"><bpmn:extensionElements><zeebe:taskDefinition type="PROCESS"/></bpmn:extensionElements></bpmn:serviceTask><bpmn:sequenceFlow id="g" sourceRef="work" targetRef="END"/><bpmn:endEvent id="END"/></bpmn:process></bpmn:definitions>"#;

fn baton() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn partition(data: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    said(&baton().arg("partition").args(arguments).arg("--data-dir").arg(data).output().unwrap())
}

/// One request; an error while nobody listens.
fn ask(address: &str, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| std::io::Error::other(answer.clone()))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let start = body.find(['{', '[']).unwrap_or(body.len());
    let end = body.rfind(['}', ']']).map_or(start, |end| end + 1);
    Ok((status.unwrap_or(0), serde_json::from_str(&body[start..end.max(start)]).unwrap_or_default()))
}

struct Server {
    child: Child,
    management: String,
    rest: String,
}

impl Server {
    /// Begins to start it; the management port answers from then on.
    fn begin(data: &Path, stalls: bool) -> Self {
        // Free a moment ago: before it is ready, the server does not tell which port it has taken.
        let management = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mut command = baton();
        command
            .args(["start", "--rest", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--management", &management])
            .args(["--set", "secondary_storage.kind=none", "--set", "partition.max_apply_time=300ms"])
            // State reaches the disk at the end only: everything is applied again.
            .args(["--set", "state.flush_interval=1h", "--log-level", "info", "--data-dir"])
            .arg(data);
        if stalls {
            command.env("STALL_BATON_AT", "stall");
        }
        let child = command.stderr(Stdio::inherit()).spawn().unwrap();
        Self { child, management, rest: String::new() }
    }

    fn start(data: &Path, stalls: bool) -> Self {
        let mut server = Self::begin(data, stalls);
        let mut ready = String::new();
        BufReader::new(server.child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let (_, after) = ready.split_once(" rest=").unwrap();
        after.split_whitespace().next().unwrap().clone_into(&mut server.rest);
        server
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = ask(&self.rest, "POST", path, body).unwrap();
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    fn create(&self, process: &str) -> String {
        let created = self.post("/v2/process-instances", &json!({ "processDefinitionId": process }));
        created["processInstanceKey"].as_str().unwrap().to_owned()
    }

    fn activate(&self, job_type: &str) -> Vec<String> {
        let request =
            json!({ "type": job_type, "timeout": 3_600_000, "maxJobsToActivate": 10, "worker": "w" });
        let answer = self.post("/v2/jobs/activation", &request);
        let jobs = answer["jobs"].as_array().unwrap();
        jobs.iter().map(|job| job["jobKey"].as_str().unwrap().to_owned()).collect()
    }

    fn manage(&self, path: &str) -> std::io::Result<(u16, Value)> {
        ask(&self.management, "GET", path, &Value::Null)
    }

    /// Waits until the liveness probe fails, and gives its reason.
    fn dead(&self) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok((503, answer)) = self.manage("/actuator/health/liveness") {
                return answer["components"]["partition-1"]["details"]["reason"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < deadline, "it lives");
            std::thread::sleep(LOOK);
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn deploy(server: &Server, directory: &Path) {
    for (process, end) in [("good", "end"), ("bad", "stall")] {
        let file = directory.join(format!("{process}.bpmn"));
        std::fs::write(&file, MODEL.replace("PROCESS", process).replace("END", end)).unwrap();
        let output =
            baton().arg("deploy").arg(&file).args(["--rest-address", &server.rest]).output().unwrap();
        let (code, text) = said(&output);
        assert_eq!(code, Some(0), "{text}");
    }
}

/// The number after a word.
fn number_after<'a>(text: &'a str, word: &str) -> &'a str {
    let (_, after) = text.split_once(word).unwrap_or_else(|| panic!("no '{word}' in {text}"));
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    &after[..end]
}

#[test]
fn a_batch_that_stops_a_partition_is_named_and_set_aside() {
    let (data, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = data.path();
    let server = Server::start(data, true);
    deploy(&server, models.path());
    let (good, bad) = (server.create("good"), server.create("bad"));
    let good_job = server.activate("good").remove(0);
    let bad_job = server.activate("bad").remove(0);
    assert_eq!(server.manage("/actuator/health/liveness").unwrap().0, 200);
    let rest = server.rest.clone();
    // This request gets no answer.
    let waiting = std::thread::spawn(move || {
        ask(&rest, "POST", &format!("/v2/jobs/{bad_job}/completion"), &json!({})).map(|(status, _)| status)
    });
    let reason = server.dead();
    assert!(reason.starts_with("partition 1 has been applying the batch at position "), "{reason}");
    assert_eq!(number_after(&reason, "process instance "), bad);
    let position = number_after(&reason, "position ").to_owned();
    assert_eq!(server.manage("/actuator/health/readiness").unwrap().0, 503);
    let partitions = server.manage("/actuator/partitions").unwrap().1;
    assert_eq!(partitions["1"]["health"], "DEAD", "{partitions}");

    // Noted a moment later than the probe tells it.
    let deadline = Instant::now() + PATIENCE;
    while !data.join("slow-batch.json").exists() {
        assert!(Instant::now() < deadline, "the batch is not noted");
        std::thread::sleep(LOOK);
    }
    let (code, text) = partition(data, &["skip", &position]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("already open") && text.contains("a server has it open"), "{text}");
    server.kill();
    assert_ne!(waiting.join().unwrap().ok(), Some(204));

    // The start finds it in the log, and says so while it stands there.
    let server = Server::begin(data, true);
    let again = server.dead();
    assert_eq!(number_after(&again, "position "), position);
    assert_eq!(server.manage("/actuator/health/startup").unwrap().0, 503);
    server.kill();

    let other = (position.parse::<u64>().unwrap() - 1).to_string();
    let (code, text) = partition(data, &["skip", &other]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(&format!("is that at position {position}, not {other}")), "{text}");
    let (code, text) = partition(data, &["skip", &position]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&format!("set aside: position {position}, 1 commands of ")), "{text}");
    assert!(text.contains(&bad) && text.contains("baton banned"), "{text}");
    let (code, text) = partition(data, &["skip", &position]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("set aside already"), "{text}");
    let (_, text) = partition(data, &["skipped"]);
    assert_eq!(text.lines().count(), 1, "{text}");
    let (_, text) = partition(data, &["skipped", &position]);
    assert!(text.contains("CompleteJob"), "{text}");

    // From here on the same again, after each kind of end.
    for round in 0..2 {
        let server = Server::start(data, true);
        assert_eq!(server.manage("/actuator/health/liveness").unwrap().0, 200);
        let banned = server.manage("/actuator/bannedInstances").unwrap().1;
        let text = banned.to_string();
        assert!(text.contains(&bad) && !text.contains(&good), "{text}");
        if round == 0 {
            server.post(&format!("/v2/jobs/{good_job}/completion"), &json!({}));
        }
        server.create("good");
        for job in server.activate("good") {
            server.post(&format!("/v2/jobs/{job}/completion"), &json!({}));
        }
        server.kill();
    }
    assert!(!data.join("slow-batch.json").exists(), "the note is gone with the batch");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// The server after its log is applied: the banned instances, as text.
fn banned_after_start(data: &Path) -> String {
    let server = Server::start(data, false);
    let banned = server.manage("/actuator/bannedInstances").unwrap().1.to_string();
    server.create("good");
    assert!(!server.activate("good").is_empty(), "the partition works");
    server.kill();
    banned
}

#[test]
fn setting_a_batch_aside_happens_whole_or_not_at_all_wherever_it_is_killed() {
    let (origin, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(origin.path(), false);
    deploy(&server, models.path());
    let instance = server.create("good");
    let job = server.activate("good").remove(0);
    server.post(&format!("/v2/jobs/{job}/completion"), &json!({}));
    server.kill();
    let (_, text) = partition(origin.path(), &["skip", "1000000", "--force"]);
    let position = number_after(&text, "last entry is at ");
    let (mut steps, mut whole) = (0, 0);
    loop {
        let data = tempfile::tempdir().unwrap();
        copy(origin.path(), data.path());
        let mut skip = baton();
        skip.args(["partition", "skip", position, "--force", "--data-dir"]).arg(data.path());
        let output = skip.env("END_BATON_AT_WRITE", (steps + 1).to_string()).output().unwrap();
        let is_killed = output.status.code().is_none();
        assert!(is_killed || output.status.success(), "{}", said(&output).1);
        let again = tempfile::tempdir().unwrap();
        copy(data.path(), again.path());

        // The server starts with what is there: the order, or nothing.
        let (code, listed) = partition(data.path(), &["skipped"]);
        assert_eq!(code, Some(0), "{listed}");
        let is_whole = listed.contains(&format!("position {position}"));
        assert!(is_whole || listed.is_empty(), "{listed}");
        let banned = banned_after_start(data.path());
        assert_eq!(banned.contains(&instance), is_whole, "killed at step {}: {banned}", steps + 1);

        // The same once more ends what was begun.
        let (code, text) = partition(again.path(), &["skip", position, "--force"]);
        assert_eq!(code, Some(i32::from(is_whole)), "{text}");
        assert!(text.contains(if is_whole { "set aside already" } else { "set aside: position" }), "{text}");
        let (_, shown) = partition(again.path(), &["skipped", position]);
        assert!(shown.contains("CompleteJob"), "{shown}");
        let banned = banned_after_start(again.path());
        assert!(banned.contains(&instance), "killed at step {}, and repeated: {banned}", steps + 1);
        whole += u32::from(is_whole && is_killed);
        if !is_killed {
            break;
        }
        steps += 1;
    }
    // Each of two files in six steps, the directory, and its name. From the order's new name on it has happened.
    assert_eq!((steps, whole), (14, 2));
}
