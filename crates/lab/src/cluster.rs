//! Brokers of one cluster on this machine, each a process of its own, as `baton dev-cluster` starts them.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::error::LabError;
use crate::http::ask;
use crate::until::until;

/// How long all brokers may take to be ready.
const READY_MAX: Duration = Duration::from_secs(120);
/// How long it may take until one of them leads.
const LEADS_MAX: Duration = Duration::from_secs(60);
const PORTS_PER_BROKER: u16 = 10;
/// Ports of each broker: those of its listeners, and one for its peers.
const PORTS_USED: [u16; 4] = [0, 1, 2, 3];
const LISTENERS: [&str; 3] = ["rest", "grpc", "management"];
/// Where free ports are looked for, below those that the system gives to connections.
const BASE_PORTS: std::ops::Range<u16> = 21_000..29_000;

/// A cluster that runs. Its brokers end with the process that started them, and that with the lab.
pub(crate) struct Cluster {
    child: Child,
    base_port: u16,
    brokers: u16,
    directory: TempDir,
    program: PathBuf,
    /// Brokers that were started again by hand.
    again: Vec<Child>,
}

impl Cluster {
    pub(crate) async fn start(program: &Path, brokers: u16, directory: TempDir) -> Result<Self, LabError> {
        let base_port = free_ports(brokers)?;
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_"))
        {
            command.env_remove(name);
        }
        let count = brokers.to_string();
        command.args(["dev-cluster", &count, "--base-port", &base_port.to_string(), "--data-dir"]);
        command.arg(directory.path()).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| LabError::environment("start a cluster", error))?;
        let mut lines = BufReader::new(child.stdout.take().expect("its output is a pipe")).lines();
        let ready = async {
            let mut ready = 0;
            while ready < brokers {
                match lines.next_line().await {
                    Ok(Some(line)) if line.contains(" ready") => ready += 1,
                    Ok(Some(_)) => {}
                    _ => return false,
                }
            }
            true
        };
        match tokio::time::timeout(READY_MAX, ready).await {
            Ok(true) => {}
            _ => return Err(LabError::Environment("a cluster of three brokers does not start".to_owned())),
        }
        // Its later output must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, base_port, brokers, directory, program: program.to_owned(), again: Vec::new() })
    }

    /// `host:port` of the REST API of a broker.
    pub(crate) fn rest(&self, broker: u16) -> String {
        self.address(broker, "rest")
    }

    /// `host:port` of a listener of a broker: `rest`, `grpc` or `management`.
    pub(crate) fn address(&self, broker: u16, name: &str) -> String {
        let place = LISTENERS.iter().position(|listener| *listener == name).expect("a listener");
        format!("127.0.0.1:{}", self.base_port + broker * PORTS_PER_BROKER + PORTS_USED[place])
    }

    pub(crate) fn process(&self, broker: u16) -> Option<u32> {
        let file = self.directory.path().join(format!("broker-{broker}")).join("pid");
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    }

    /// The broker that leads first: brokers are ready before one of them does.
    pub(crate) async fn elected(&self) -> Result<u16, LabError> {
        until(LEADS_MAX, async || self.leader(0).await.is_ok()).await;
        self.leader(0).await
    }

    /// The broker that leads, as one of them tells.
    pub(crate) async fn leader(&self, through: u16) -> Result<u16, LabError> {
        let topology =
            ask(&self.rest(through), "GET", "/v2/topology", None).await?.good("ask for the topology")?;
        let topology = topology.json();
        let brokers = topology["brokers"].as_array().cloned().unwrap_or_default();
        let leads = |broker: &serde_json::Value| {
            let partitions = broker["partitions"].as_array();
            partitions.is_some_and(|all| {
                all.iter()
                    .any(|one| one["role"].as_str().is_some_and(|role| role.eq_ignore_ascii_case("leader")))
            })
        };
        let leader = brokers.iter().find(|broker| leads(broker)).and_then(|broker| broker["nodeId"].as_u64());
        let leader = leader.and_then(|node| u16::try_from(node).ok()).filter(|node| *node < self.brokers);
        leader.ok_or_else(|| LabError::System("no broker leads".to_owned()))
    }

    /// SIGKILL.
    pub(crate) fn kill(&self, broker: u16) -> Result<(), LabError> {
        let process = self.process(broker).and_then(|process| Pid::from_raw(process.cast_signed()));
        let process =
            process.ok_or_else(|| LabError::System(format!("broker {broker} has ended by itself")))?;
        kill_process(process, Signal::KILL).map_err(|error| LabError::environment("kill a broker", error))
    }

    /// Starts a broker again that was killed.
    pub(crate) fn start_again(&mut self, broker: u16) -> Result<(), LabError> {
        let config = self.directory.path().join(format!("broker-{broker}")).join("baton.yaml");
        let mut command = Command::new(&self.program);
        command.arg("start").arg("--config").arg(config).env("BATON_ENDS_WITH_PARENT", "1");
        command.process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.again.push(command.spawn().map_err(|error| LabError::environment("start a broker", error))?);
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The brokers are told by their parent's end; those that do not listen are killed.
        for broker in 0..self.brokers {
            if let Some(process) = self.process(broker).and_then(|id| Pid::from_raw(id.cast_signed())) {
                let _ = kill_process(process, Signal::KILL);
            }
        }
        let _ = self.child.start_kill();
    }
}

/// The port behind those of the last cluster. Rows run side by side, and brokers of one may not listen
/// yet when the next one looks.
static GIVEN: Mutex<u16> = Mutex::new(0);

/// A base port with all ports behind it free.
fn free_ports(brokers: u16) -> Result<u16, LabError> {
    let room = brokers * PORTS_PER_BROKER;
    let mut given = GIVEN.lock();
    let first = (BASE_PORTS.start + (std::process::id() as u16 % 200) * room).max(*given);
    let bases = (first..BASE_PORTS.end).step_by(usize::from(room));
    let is_free = |base: &u16| {
        (0..brokers).all(|broker| {
            PORTS_USED.iter().all(|port| {
                TcpListener::bind((Ipv4Addr::LOCALHOST, base + broker * PORTS_PER_BROKER + port)).is_ok()
            })
        })
    };
    let mut bases = bases;
    let base = bases.find(is_free);
    let base = base.ok_or_else(|| LabError::Environment("the ports for a cluster are taken".to_owned()))?;
    *given = base + room;
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_start_side_by_side_have_ports_of_their_own() {
        let (one, other) = (free_ports(3).expect("room"), free_ports(3).expect("room"));
        assert!(other >= one + 3 * PORTS_PER_BROKER, "{one} and {other}, of which nobody listens on any");
    }
}
