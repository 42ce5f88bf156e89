//! The program, started as a user starts it, and servers of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) fn baton() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
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

pub(crate) const STRAIGHT_BPMN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="straight" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="flow" sourceRef="start" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>"#;

pub(crate) const TASK_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="errand" isExecutable="true">
    <startEvent id="begin"/>
    <sequenceFlow id="to-task" sourceRef="begin" targetRef="task"/>
    <serviceTask id="task">
      <extensionElements><zeebe:taskDefinition type="errand"/></extensionElements>
    </serviceTask>
  </process>
</definitions>"#;

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
