//! The program, started as a user starts it, and servers of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) fn baton() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    // A directory without profiles.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    baton().args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts how a command failed and returns what it said.
pub(crate) fn failed(output: &Output, code: i32, mentions: &[&str]) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for mention in mentions {
        assert!(said.contains(mention), "{said}\ndoes not mention {mention}");
    }
}

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) output: BufReader<ChildStdout>,
    pub(crate) ready: String,
    pub(crate) _data: Option<tempfile::TempDir>,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let server = Self::start_at(data.path(), arguments);
        Self { _data: Some(data), ..server }
    }

    pub(crate) fn start_at(data: &Path, arguments: &[&str]) -> Self {
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

    /// A command that talks to this server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = baton();
        command
            .args(arguments)
            .env("BATON_REST_ADDRESS", self.address("rest"))
            .env("BATON_GRPC_ADDRESS", self.address("grpc"))
            .env("BATON_MANAGEMENT_ADDRESS", self.address("management"));
        command
    }

    /// The output of such a command, which must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The JSON that a command writes with `--json`; it must succeed.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Deploys a model.
    pub(crate) fn deploy(&self, name: &str, model: &str) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(name);
        std::fs::write(&file, model).unwrap();
        self.ok(&["deploy", file.to_str().unwrap()]);
    }

    /// Starts an instance and returns its key.
    pub(crate) fn start_instance(&self, process: &str, variables: &str) -> String {
        let started = self.json(&["run", process, "--variables", variables]);
        started["processInstanceKey"].as_str().unwrap().to_owned()
    }

    /// The first entity that a search finds, now or soon.
    pub(crate) fn found(&self, arguments: &[&str]) -> Value {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let answer = self.json(&[&["search"], arguments].concat());
            match answer["items"].get(0) {
                Some(item) => return item.clone(),
                None => assert!(Instant::now() < end, "{arguments:?}: {answer}"),
            }
        }
    }

    /// The variables of an instance.
    pub(crate) fn variable(&self, instance: &str, name: &str) -> String {
        self.ok(&["variables", "get", instance, name]).trim().to_owned()
    }

    /// Asserts that nothing went wrong in the server, and stops it.
    pub(crate) fn stop_clean(self) {
        let (code, _, log) = self.stop(Signal::TERM);
        assert!(code == Some(0) && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
    }

    /// Asks the management port.
    pub(crate) fn manage(&self, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
        let mut stream = TcpStream::connect(self.address("management")).unwrap();
        let length = body.len();
        write!(stream, "{method} /actuator{path} HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    pub(crate) fn address(&self, name: &str) -> String {
        let (_, after) = self.ready.split_once(&format!(" {name}=")).unwrap();
        after.split_whitespace().next().unwrap().to_owned()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address("management")).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal; returns the exit code, the rest of the output, and the log.
    pub(crate) fn stop(mut self, signal: Signal) -> (Option<i32>, String, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let (mut rest, mut log) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), rest, log)
    }
}

pub(crate) fn post(address: &str, path: &str, body: &str) -> String {
    let answer = ask(address, path, body);
    assert!(answer.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{answer}");
    answer
}

pub(crate) fn ask(address: &str, path: &str, body: &str) -> String {
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
