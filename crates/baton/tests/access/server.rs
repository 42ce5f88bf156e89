//! A server of its own for a test, and what asks it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use grpc::gateway_client::GatewayClient;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::Channel;

/// How long anything may take that a test waits for.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends with the test.
pub struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    ready: String,
    settings: Vec<String>,
    directory: tempfile::TempDir,
}

/// The server's answer over REST.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Name, in small letters, and value.
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// A request over REST, before it is sent.
pub struct Ask<'a> {
    server: &'a Server,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask<'_> {
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With an `Authorization` header.
    pub fn by(self, credentials: &str) -> Self {
        self.header("authorization", credentials)
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn body(mut self, media: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", media)
    }

    /// One part of a form, a file.
    pub fn file(self, field: &str, name: &str, content: &str) -> Self {
        let head = format!("form-data; name=\"{field}\"; filename=\"{name}\"");
        let body = format!("--x\r\ncontent-disposition: {head}\r\n\r\n{content}\r\n--x--\r\n");
        self.body("multipart/form-data; boundary=x", body)
    }

    pub async fn send(self) -> Answer {
        self.try_send().await.unwrap()
    }

    /// An error, if the server closed the connection without an answer.
    pub async fn try_send(self) -> Result<Answer, String> {
        let length = self.body.len();
        let mut head = format!("{} {} HTTP/1.1\r\nhost: localhost\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {length}\r\nconnection: close\r\n\r\n");
        self.server.raw(&[head.as_bytes(), &self.body].concat()).await
    }
}

impl Server {
    /// A server with settings as `--set` takes them.
    pub fn start(settings: &[String]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), settings.to_vec())
    }

    /// Starts a server with all ports at an address that others may reach.
    #[allow(dead_code, reason = "not all suites that share this do so")]
    pub fn start_at(address: &str, settings: &[String]) -> Self {
        Self::start_listening(address, tempfile::tempdir().unwrap(), settings.to_vec())
    }

    /// A server in a directory, whose folder `data` may have been prepared.
    pub fn start_in(directory: tempfile::TempDir, settings: Vec<String>) -> Self {
        Self::start_listening("127.0.0.1:0", directory, settings)
    }

    fn start_listening(free: &str, directory: tempfile::TempDir, settings: Vec<String>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_"))
        {
            command.env_remove(name);
        }
        let log = std::fs::File::create(directory.path().join("log")).unwrap();
        command
            .env("SECRET_OF_TESTS_DIR", "hidden")
            .arg("start")
            .arg("--data-dir")
            .arg(directory.path().join("data"))
            .args(["--rest", free, "--grpc", free, "--management", free])
            .args(settings.iter().flat_map(|setting| ["--set", setting]));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::from(log)).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, output, ready: String::new(), settings, directory };
        server.await_ready();
        server
    }

    /// Waits until the server says that it is ready, and where.
    pub fn await_ready(&mut self) {
        self.ready.clear();
        self.output.read_line(&mut self.ready).unwrap();
        assert!(!self.ready.is_empty(), "{}", self.log());
    }

    /// Stops the server as an operator does and starts it anew with the same data and settings.
    pub fn restart(self) -> Self {
        self.restart_with(&[])
    }

    /// Stops the server as an operator does and starts it anew with the same data and more settings.
    pub fn restart_with(mut self, more: &[String]) -> Self {
        self.settings.extend_from_slice(more);
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        Self::start_in(directory, std::mem::take(&mut self.settings))
    }

    /// Stops the server as an operator does; its directory is left.
    #[allow(dead_code, reason = "not all suites that share this stop it")]
    pub fn stop(mut self) -> tempfile::TempDir {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap())
    }

    /// Kills the server and starts it anew with the same data and settings.
    #[allow(dead_code, reason = "not all suites that share this kill it")]
    pub fn restart_after_kill(mut self) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        Self::start_in(directory, std::mem::take(&mut self.settings))
    }

    /// Where its data are.
    #[allow(dead_code, reason = "not all suites that share this look there")]
    pub fn data(&self) -> std::path::PathBuf {
        self.directory.path().join("data")
    }

    /// Its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap()
    }

    pub fn address(&self, name: &str) -> String {
        let (_, after) = self.ready.split_once(&format!(" {name}=")).unwrap();
        after.split_whitespace().next().unwrap().trim_start_matches("http://").to_owned()
    }

    pub fn ask(&self, method: &str, path: &str) -> Ask<'_> {
        Ask { server: self, method: method.to_owned(), path: path.to_owned(), headers: vec![], body: vec![] }
    }

    pub fn get(&self, path: &str) -> Ask<'_> {
        self.ask("GET", path)
    }

    pub fn post(&self, path: &str, body: &Value) -> Ask<'_> {
        self.ask("POST", path).json(body)
    }

    /// Sends bytes to the REST port and reads the answer to them.
    pub async fn raw(&self, bytes: &[u8]) -> Result<Answer, String> {
        exchange(&self.address("rest"), bytes).await
    }

    /// Sends bytes to another port, such as `grpc`, and reads the answer to them.
    pub async fn raw_to(&self, port: &str, bytes: &[u8]) -> Result<Answer, String> {
        exchange(&self.address(port), bytes).await
    }

    /// Asks the management port, as nobody.
    pub async fn manage(&self, method: &str, path: &str) -> Answer {
        self.manage_by(method, path, "").await
    }

    /// Asks the management port, with credentials if there are any.
    pub async fn manage_by(&self, method: &str, path: &str, credentials: &str) -> Answer {
        let authorization = match credentials {
            "" => String::new(),
            text => format!("authorization: {text}\r\n"),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\n{authorization}content-length: 0\r\nconnection: close\r\n\r\n"
        );
        exchange(&self.address("management"), request.as_bytes()).await.unwrap()
    }

    /// A count that the metrics tell, over all labels.
    pub async fn metric(&self, name: &str) -> u64 {
        let answer = self.manage("GET", "/metrics").await;
        let lines = answer.text.lines().filter(|line| line.starts_with(name));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// A client of the gRPC port.
    pub async fn grpc(&self) -> GatewayClient<Channel> {
        GatewayClient::connect(format!("http://{}", self.address("grpc"))).await.unwrap()
    }

    /// How much memory the process had at the most, in bytes.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that was restarted has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub async fn exchange(address: &str, bytes: &[u8]) -> Result<Answer, String> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut input, mut output) = stream.into_split();
    let mut answer = vec![];
    // A server that refuses by the head alone answers before everything is sent.
    let (sent, read) = tokio::time::timeout(PATIENCE, async {
        tokio::join!(output.write_all(bytes), input.read_to_end(&mut answer))
    })
    .await
    .map_err(|_| "no answer in time".to_owned())?;
    let text = String::from_utf8_lossy(&answer);
    let Some((head, text)) = text.split_once("\r\n\r\n") else {
        return Err(format!("{sent:?} {read:?}"));
    };
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Ok(Answer { status: status.ok_or_else(|| head.to_owned())?, headers, text: text.to_owned() })
}

/// The credentials of a user.
pub fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// A call over gRPC with credentials.
pub fn call<T>(message: T, credentials: &str) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("authorization", credentials.parse().unwrap());
    request
}

/// Waits until `check` gives something.
pub async fn eventually<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Settings of a server that knows users by their passwords, and the file with who is there from the start.
pub fn with_users(file: &Path, more: &[&str]) -> Vec<String> {
    let mut settings = vec![
        "security.authentication.method=basic".to_owned(),
        format!("security.initialization={}", file.display()),
    ];
    settings.extend(more.iter().map(ToString::to_string));
    settings
}

/// A file that is gone with the test.
pub fn file(content: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    file
}
