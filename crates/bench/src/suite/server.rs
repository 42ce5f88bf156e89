//! Server processes of the suite: started on free ports, watched until ready, ended in order or killed.

use std::{
    net::{Ipv4Addr, TcpListener as StdListener},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use client::{Address, Resource, RestClient, RestOptions};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::Error;
use crate::cost::Probe;
use crate::http::get;

/// A server that takes longer to get ready is given up.
const READY_MAX: Duration = Duration::from_mins(2);
/// A server that does not say that it is ready is asked this often.
const ASK_INTERVAL: Duration = Duration::from_millis(5);
/// A server that takes longer to end is killed.
const STOP_MAX: Duration = Duration::from_secs(30);

pub(super) struct Server {
    child: Child,
    program: String,
    /// From the start of the process until it said that it is ready.
    pub(super) ready_after: Duration,
    pub(super) rest: String,
    pub(super) grpc: String,
    management: String,
}

impl Server {
    /// Starts `baton start` on `data` and waits until it is ready.
    pub(super) async fn start(program: &Path, data: &Path, more: &[String]) -> Result<Self, Error> {
        let [rest, grpc, management] = free_addresses(program)?;
        let mut command = Command::new(program);
        command.arg("start").arg("--data-dir").arg(data);
        command.args(["--rest", &rest, "--grpc", &grpc, "--management", &management]).args(more);
        Self::launch(program, command, rest, grpc, management).await
    }

    /// Starts the bare server of one protocol.
    pub(super) async fn start_reference(program: &Path, protocol: &str) -> Result<Self, Error> {
        let [address, other, _] = free_addresses(program)?;
        let mut command = Command::new(program);
        command.args([protocol, &address]);
        let (rest, grpc) = if protocol == "rest" { (address, other) } else { (other, address) };
        Self::launch(program, command, rest, grpc, String::new()).await
    }

    async fn launch(
        program: &Path,
        mut command: Command,
        rest: String,
        grpc: String,
        management: String,
    ) -> Result<Self, Error> {
        let name = program.display().to_string();
        let failed = |reason: String| Error::Server { program: name.clone(), reason };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let output = child.stdout.take().ok_or_else(|| failed("has no standard output".to_owned()))?;
        let mut lines = BufReader::new(output).lines();
        let address = Address::parse(&rest, 0).map_err(|error| failed(error.to_string()))?;
        tokio::select! {
            () = says_ready(&mut lines) => {}
            () = answers(&address) => {}
            status = child.wait() => {
                let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                return Err(failed(format!("ended before it was ready, {status}")));
            }
            () = tokio::time::sleep(READY_MAX) => {
                return Err(failed(format!("was not ready within {} s", READY_MAX.as_secs())));
            }
        }
        let ready_after = started.elapsed();
        // Its later output must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, program: name, ready_after, rest, grpc, management })
    }

    /// Cost of the process, from its management port and from the kernel.
    pub(super) fn probe(&self) -> Probe {
        Probe { management: Address::parse(&self.management, 0).ok(), process: self.child.id() }
    }

    /// Asks it to end and waits.
    pub(super) async fn stop(mut self) -> Result<(), Error> {
        if let Some(process) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // It may have ended already; then waiting tells.
            let _ = kill_process(process, Signal::TERM);
        }
        let failed = |reason| Error::Server { program: self.program.clone(), reason };
        match timeout(STOP_MAX, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(failed(format!("ended with {status}"))),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed(format!("did not end within {} s", STOP_MAX.as_secs()))),
        }
    }

    /// Kills it, as a crash would.
    pub(super) async fn kill(mut self) {
        // Only a process that is gone already cannot be killed.
        let _ = self.child.kill().await;
    }
}

/// A client of the REST API at an address, where a model is deployed.
pub(super) async fn deployed(
    address: String,
    request_timeout: Duration,
    name: &str,
    model: &str,
) -> Result<RestClient, Error> {
    let options = RestOptions { address, request_timeout, ..RestOptions::default() };
    let client = RestClient::new(options).map_err(Error::request("REST address"))?;
    let file = Resource { name, content: model.as_bytes() };
    client.deploy(&[file], None).await.map_err(Error::request("deploy the model"))?;
    Ok(client)
}

/// Returns when the server prints a line with the word "ready".
async fn says_ready(lines: &mut Lines<BufReader<ChildStdout>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        if line.to_ascii_lowercase().contains("ready") {
            return;
        }
    }
    // Its output has ended without: somebody else must tell.
    std::future::pending::<()>().await;
}

/// Returns when the server answers that it can process.
async fn answers(address: &Address) {
    while get(address, "/v2/status").await.is_none() {
        tokio::time::sleep(ASK_INTERVAL).await;
    }
}

/// Three addresses that nobody listens at.
fn free_addresses(program: &Path) -> Result<[String; 3], Error> {
    let bind = || {
        StdListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| Ok((listener.local_addr()?, listener)))
    };
    let all = || Ok([bind()?, bind()?, bind()?]);
    match all() {
        Ok(bound) => Ok(bound.map(|(address, _)| address.to_string())),
        Err(error) => {
            let error: std::io::Error = error;
            Err(Error::Server {
                program: program.display().to_string(),
                reason: format!("no free port: {error}"),
            })
        }
    }
}
