//! `baton dev-cluster`: brokers of one cluster on this machine, each a process of its own.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ring::rand::{self, SystemRandom};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::DevCluster;
use crate::failure::Failure;
use crate::output;
use crate::start::{ENDS_WITH_PARENT, ReadyLine};

/// How long the brokers may take to be ready; they wait for each other.
const READY_MAX: Duration = Duration::from_secs(60);
/// How long they may take to stop.
const STOP_MAX: Duration = Duration::from_secs(30);
/// Ports of a broker: REST, gRPC, management, peers; the next broker has those ten further on.
const PORTS_PER_BROKER: u16 = 10;

/// The place of a cluster on this machine.
struct Layout {
    directory: PathBuf,
    base_port: u16,
    brokers: u16,
    partitions: u16,
}

impl Layout {
    fn port(&self, broker: u16, of: u16) -> u16 {
        self.base_port + broker * PORTS_PER_BROKER + of
    }

    fn folder(&self, broker: u16) -> PathBuf {
        self.directory.join(format!("broker-{broker}"))
    }

    fn file(&self, broker: u16) -> PathBuf {
        self.folder(broker).join("baton.yaml")
    }

    /// The file with the secret of the cluster.
    fn secret_file(&self) -> PathBuf {
        self.directory.join("peers.secret")
    }

    /// Makes the secret of the cluster, unless it is there. None but the owner of the file may read it.
    fn write_secret(&self) -> Result<(), Failure> {
        let path = self.secret_file();
        let failed =
            |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
        fs::create_dir_all(&self.directory).map_err(failed)?;
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        match options.open(&path) {
            Ok(mut file) => {
                let secret: [u8; 32] = rand::generate(&SystemRandom::new())
                    .map_err(|_| failed(std::io::Error::other("the system gives no random numbers")))?
                    .expose();
                let text = secret.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
                file.write_all(format!("{text}\n").as_bytes()).map_err(failed)?;
                file.sync_all().map_err(failed)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// The configuration file of a broker.
    fn config(&self, broker: u16) -> String {
        let peers: Vec<String> =
            (0..self.brokers).map(|other| format!("{other}=127.0.0.1:{}", self.port(other, 3))).collect();
        let listen = |of| format!("127.0.0.1:{}", self.port(broker, of));
        let data = self.folder(broker).join("data");
        let partitions = match self.partitions {
            1 => String::new(),
            several => format!("  partitions: {several}\n"),
        };
        let mut text = String::new();
        let _ = write!(
            text,
            "# Broker {broker} of {} on this machine, as `baton dev-cluster` wrote it.\n\
             cluster:\n  id: dev\n  node_id: {broker}\n  brokers: {}\n{partitions}\
             data:\n  directory: {}\n\
             rest:\n  listen: {}\n\
             grpc:\n  listen: {}\n\
             management:\n  listen: {}\n\
             peers:\n  listen: {}\n  secret_file: {}\n",
            self.brokers,
            peers.join(", "),
            quoted(&data),
            listen(0),
            listen(1),
            listen(2),
            listen(3),
            quoted(&self.secret_file()),
        );
        text
    }

    /// Writes the configuration of a broker, unless it is there. A file with something else in it stays if it has the
    /// same brokers: it was changed by hand.
    fn write_config(&self, broker: u16) -> Result<(), Failure> {
        let path = self.file(broker);
        let failed =
            |error: &std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
        let wanted = self.config(broker);
        match fs::read_to_string(&path) {
            Ok(found) => {
                let line = |text: &str, key: &str| {
                    let line = text.lines().find(|line| line.trim_start().starts_with(key));
                    line.map(|line| line.trim().to_owned())
                };
                if ["brokers:", "partitions:"].iter().any(|key| line(&found, key) != line(&wanted, key)) {
                    return Err(Failure::new(format!(
                        "{} is of a cluster with other brokers or partitions",
                        path.display()
                    ))
                    .hint("use the numbers and the base port of that cluster, or another --data-dir"));
                }
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(self.folder(broker)).map_err(|error| failed(&error))?;
                fs::write(&path, wanted).map_err(|error| failed(&error))
            }
            Err(error) => Err(failed(&error)),
        }
    }
}

/// A path as a quoted YAML text.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}

pub(crate) async fn run(arguments: &DevCluster) -> Result<ExitCode, Failure> {
    let highest = u32::from(arguments.base_port) + u32::from(arguments.brokers) * u32::from(PORTS_PER_BROKER);
    if highest > u32::from(u16::MAX) {
        return Err(Failure::usage(format!(
            "--base-port {} leaves no room for the ports",
            arguments.base_port
        )));
    }
    let directory = std::path::absolute(&arguments.data_dir).map_err(Failure::new)?;
    let DevCluster { base_port, brokers, partitions, .. } = *arguments;
    let layout = Layout { directory, base_port, brokers, partitions };
    // The files of an earlier release name no secret; such a cluster goes on without one.
    if (0..layout.brokers).any(|broker| !layout.file(broker).exists()) {
        layout.write_secret()?;
    }
    for broker in 0..layout.brokers {
        layout.write_config(broker)?;
    }
    let listen =
        |kind| signal(kind).map_err(|error| Failure::new(format!("cannot wait for signals: {error}")));
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let mut running = Vec::new();
    let mut ended = FuturesUnordered::new();
    for broker in 0..layout.brokers {
        let (child, pid) = match spawn(&layout, broker, &arguments.settings) {
            Ok(started) => started,
            Err(failure) => {
                stop(&running);
                return Err(failure);
            }
        };
        running.push(pid);
        ended.push(watch(&layout, broker, child));
    }
    let mut stopping = false;
    let mut failed = false;
    loop {
        let deadline = async {
            if stopping { tokio::time::sleep(STOP_MAX).await } else { std::future::pending().await }
        };
        tokio::select! {
            end = ended.next() => match end {
                None => break,
                Some(BrokerEnd { broker, status, was_ready }) => {
                    if !stopping {
                        failed |= !was_ready;
                        tell(&layout, &arguments.settings, broker, status, was_ready);
                    }
                    // One that cannot start is a mistake in the set-up: the others would wait for it.
                    if !was_ready && !stopping {
                        stopping = true;
                        stop(&running);
                    }
                }
            },
            _ = terminate.recv() => { stopping = true; stop(&running); }
            _ = interrupt.recv() => { stopping = true; stop(&running); }
            () = deadline => return Err(Failure::new("some brokers do not stop; their logs say why")),
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Stops brokers in order. One that has ended is not there any more.
fn stop(running: &[Pid]) {
    for pid in running {
        let _ = kill_process(*pid, Signal::TERM);
    }
}

fn tell(
    layout: &Layout,
    settings: &[(String, String)],
    broker: u16,
    status: Option<ExitStatus>,
    was_ready: bool,
) {
    let how = status.map_or_else(|| "it was not ready in time".to_owned(), |status| status.to_string());
    if was_ready {
        let config = layout.file(broker);
        let mut again = format!("baton start --config {}", config.display());
        for (key, value) in settings {
            let _ = write!(again, " --set {key}={value}");
        }
        output::note(format_args!("broker {broker} ended: {how}; start it again with: {again}"));
    } else {
        let log = layout.folder(broker).join("log");
        output::note(format_args!("broker {broker} did not start: {how}; {} says why:", log.display()));
        let text = fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        for line in &lines[lines.len().saturating_sub(5)..] {
            output::note(format_args!("  {line}"));
        }
    }
}

fn spawn(layout: &Layout, broker: u16, settings: &[(String, String)]) -> Result<(Child, Pid), Failure> {
    let cannot =
        |reason: &dyn std::fmt::Display| Failure::new(format!("cannot start broker {broker}: {reason}"));
    let program = std::env::current_exe().map_err(|error| cannot(&error))?;
    let log = File::options().create(true).append(true).open(layout.folder(broker).join("log"));
    let mut command = Command::new(program);
    command.arg("start").arg("--config").arg(layout.file(broker));
    for (key, value) in settings {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    // The files say all, whatever is set for the servers of this machine.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    // A group of its own, so that Ctrl-C reaches this command alone, which stops them in order.
    command
        .env(ENDS_WITH_PARENT, "1")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.map_err(|error| cannot(&error))?);
    let child = command.spawn().map_err(|error| cannot(&error))?;
    let number = child.id().ok_or_else(|| cannot(&"it has ended"))?;
    let pid = Pid::from_raw(number as i32).ok_or_else(|| cannot(&"it has no number"))?;
    fs::write(layout.folder(broker).join("pid"), format!("{number}\n")).map_err(|error| cannot(&error))?;
    Ok((child, pid))
}

/// A broker that has ended.
struct BrokerEnd {
    broker: u16,
    status: Option<ExitStatus>,
    was_ready: bool,
}

/// Tells when a broker is ready, and waits for its end.
fn watch(layout: &Layout, broker: u16, mut child: Child) -> impl Future<Output = BrokerEnd> + use<> {
    let pid = layout.folder(broker).join("pid");
    async move {
        let lines = child.stdout.take().map(|output| BufReader::new(output).lines());
        let first = async {
            match lines {
                Some(mut lines) => lines.next_line().await.ok().flatten(),
                None => None,
            }
        };
        let ready = tokio::time::timeout(READY_MAX, first).await.ok().flatten();
        let ready = ready.and_then(|line| line.parse::<ReadyLine>().ok());
        let was_ready = ready.is_some();
        if let Some(ReadyLine { rest, grpc, management, .. }) = ready {
            // The cluster runs, whether or not anybody can be told.
            let _ = output::line(format_args!(
                "broker {broker} ready: rest=http://{rest} grpc={grpc} management=http://{management}"
            ));
        } else {
            let _ = child.start_kill();
        }
        let status = child.wait().await.ok();
        // One that was started by hand meanwhile writes none.
        let _ = fs::remove_file(pid);
        BrokerEnd { broker, status, was_ready }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::config;

    #[test]
    fn a_written_configuration_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let directory_of_it = directory.path().join("it's here");
        let layout = Layout { directory: directory_of_it, base_port: 30000, brokers: 3, partitions: 4 };
        layout.write_secret().unwrap();
        let secret = fs::read_to_string(layout.secret_file()).unwrap();
        assert_eq!(fs::metadata(layout.secret_file()).unwrap().permissions().mode() & 0o777, 0o600);
        layout.write_secret().unwrap();
        assert_eq!(fs::read_to_string(layout.secret_file()).unwrap(), secret, "it stays");
        for broker in 0..3 {
            layout.write_config(broker).unwrap();
            let config = config::load(Some(&layout.file(broker)), [], Vec::new()).unwrap();
            assert_eq!((config.cluster.node_id, config.cluster.spread.partitions), (u32::from(broker), 4));
            assert_eq!(config.brokers().unwrap()[&2], "127.0.0.1:30023");
            assert_eq!(config.rest.listen.as_str(), format!("127.0.0.1:{}", 30000 + broker * 10));
            assert_eq!(config.peers.listen.as_str(), format!("127.0.0.1:{}", 30003 + broker * 10));
            assert_eq!(config.data.directory, layout.folder(broker).join("data"));
            assert!(config.secret_of_peers().unwrap().is_some());
        }
        // Changes by hand stay; another cluster is refused.
        let changed = fs::read_to_string(layout.file(0)).unwrap() + "logging:\n  level: debug\n";
        fs::write(layout.file(0), &changed).unwrap();
        layout.write_config(0).unwrap();
        assert_eq!(fs::read_to_string(layout.file(0)).unwrap(), changed);
        let directory = layout.directory.clone();
        for other in [
            Layout { brokers: 4, ..layout },
            Layout { directory, partitions: 1, brokers: 3, base_port: 30000 },
        ] {
            let failure = other.write_config(0).unwrap_err();
            assert!(failure.message().contains("other brokers"), "{}", failure.message());
        }
    }
}
