//! The system under test: a real server as a process of its own, in a directory and on ports of its own.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{RestClient, RestOptions};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::error::LabError;
use crate::http::{Answered, ask};
use crate::metrics::Metrics;
use crate::watch::Site;

/// How long a start may take, recovery included.
const READY_MAX: Duration = Duration::from_secs(120);
/// How long a stop may take.
const STOP_MAX: Duration = Duration::from_secs(30);
/// Lines of its log that are told when it does not start.
const LOG_LINES: usize = 3;
/// A server asks to be ended when the lab ends, however that does.
const ENDS_WITH_PARENT: &str = "BATON_ENDS_WITH_PARENT";
/// Requests of a client at a time.
const CONNECTIONS: usize = 64;
/// An answer that takes longer counts as failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Program, settings and environment of a server.
#[derive(Debug, Clone)]
pub(crate) struct ServerPlan {
    pub(crate) program: PathBuf,
    pub(crate) settings: Vec<String>,
    /// Further variables of its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Where its log is written to.
    pub(crate) log: PathBuf,
}

/// A server that runs.
pub(crate) struct Server {
    child: Child,
    plan: ServerPlan,
    data: TempDir,
    ready_line: String,
    /// From the start of the process until it says that it is ready.
    pub(crate) ready_after: Duration,
    /// Where the watch looks.
    site: Arc<Mutex<Option<Site>>>,
}

impl Server {
    pub(crate) async fn start(plan: ServerPlan, data: TempDir) -> Result<Self, LabError> {
        let child = spawn(&plan, data.path())?;
        let mut server = Self {
            child,
            plan,
            data,
            ready_line: String::new(),
            ready_after: Duration::ZERO,
            site: Arc::default(),
        };
        server.ready().await?;
        Ok(server)
    }

    async fn ready(&mut self) -> Result<(), LabError> {
        let began = Instant::now();
        let output = self.child.stdout.as_mut().expect("its output is a pipe");
        let mut output = BufReader::new(output);
        self.ready_line.clear();
        let read = tokio::time::timeout(READY_MAX, output.read_line(&mut self.ready_line)).await;
        self.ready_after = began.elapsed();
        if !(matches!(read, Ok(Ok(_))) && self.ready_line.starts_with("baton ready in ")) {
            let log = std::fs::read_to_string(&self.plan.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(LOG_LINES)..].join(" | ");
            return Err(LabError::Environment(format!(
                "{} does not start; its log {}: {last}",
                self.plan.program.display(),
                self.plan.log.display(),
            )));
        }
        *self.site.lock() = Some(Site {
            process: self.child.id().expect("it has just said that it is ready"),
            management: self.address("management").to_owned(),
        });
        Ok(())
    }

    /// `host:port` of its port `rest`, `grpc` or `management`.
    pub(crate) fn address(&self, name: &str) -> &str {
        let after = self.ready_line.split_once(&format!(" {name}=")).map(|(_, after)| after);
        after.and_then(|after| after.split_whitespace().next()).expect("its ready line has all addresses")
    }

    /// Where its watch looks, through all its lives.
    pub(crate) fn site(&self) -> Arc<Mutex<Option<Site>>> {
        Arc::clone(&self.site)
    }

    /// A client over REST.
    pub(crate) fn client(&self) -> Result<RestClient, LabError> {
        let options = RestOptions {
            address: format!("http://{}", self.address("rest")),
            connections: CONNECTIONS,
            request_timeout: PATIENCE,
            ..RestOptions::default()
        };
        RestClient::new(options).map_err(|error| LabError::environment("make a client", error))
    }

    /// The directory of its data.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// Its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.plan.log).unwrap_or_default()
    }

    /// A request to its management port.
    pub(crate) async fn manage(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answered, LabError> {
        ask(self.address("management"), method, path, body).await
    }

    /// A request to its REST API.
    pub(crate) async fn rest(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answered, LabError> {
        ask(self.address("rest"), method, path, body).await
    }

    /// Its metrics now.
    pub(crate) async fn metrics(&self) -> Result<Metrics, LabError> {
        let answer = self.manage("GET", "/actuator/prometheus", None).await?.good("read the metrics")?;
        Ok(Metrics(answer.body))
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// Resident memory now, bytes.
    pub(crate) fn resident_bytes(&self) -> f64 {
        crate::watch::resident_bytes(self.process()).unwrap_or(0.0)
    }

    /// CPU that it has used, seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        crate::watch::cpu_seconds(self.process()).unwrap_or(0.0)
    }

    /// SIGKILL, and a start on the same data; its ports are new ones.
    pub(crate) async fn kill_and_start(&mut self) -> Result<(), LabError> {
        *self.site.lock() = None;
        self.child.kill().await.map_err(|error| LabError::system("kill the server", error))?;
        self.child = spawn(&self.plan, self.data.path())?;
        self.ready().await
    }

    /// SIGTERM; it must end well.
    pub(crate) async fn stop(mut self) -> Result<(), LabError> {
        *self.site.lock() = None;
        let process = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let process = process.ok_or_else(|| LabError::System("the server has ended by itself".to_owned()))?;
        // It may end just now; waiting tells.
        let _ = kill_process(process, Signal::TERM);
        match tokio::time::timeout(STOP_MAX, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(LabError::System(format!("the server ended with {status}"))),
            Ok(Err(error)) => Err(LabError::system("stop the server", error)),
            Err(_) => {
                Err(LabError::System(format!("the server did not end within {} s", STOP_MAX.as_secs())))
            }
        }
    }
}

/// The command line of a server, for the report.
pub(crate) fn command_line(plan: &ServerPlan) -> String {
    let mut line = format!("{} start", plan.program.display());
    for setting in &plan.settings {
        line += " --set ";
        line += setting;
    }
    line
}

fn spawn(plan: &ServerPlan, data: &Path) -> Result<Child, LabError> {
    let log = OpenOptions::new().create(true).append(true).open(&plan.log);
    let log = log.map_err(|error| LabError::environment(&format!("write {}", plan.log.display()), error))?;
    let free = "127.0.0.1:0";
    let mut command = Command::new(&plan.program);
    // Nothing that is set for the servers of this machine.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command
        .arg("start")
        .arg("--data-dir")
        .arg(data.join("data"))
        .args(["--rest", free, "--grpc", free, "--management", free])
        .args(plan.settings.iter().flat_map(|setting| ["--set", setting]))
        .env(ENDS_WITH_PARENT, "1")
        .envs(plan.environment.iter().map(|(name, value)| (name, value)))
        // Ctrl-C reaches the lab alone, which stops what it has started.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true);
    let started = command.spawn();
    started.map_err(|error| LabError::environment(&format!("start {}", plan.program.display()), error))
}
