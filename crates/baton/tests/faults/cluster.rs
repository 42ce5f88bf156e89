//! Three brokers on this machine, from the files that `baton dev-cluster` writes.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, interval, timeout};

use crate::interposer::{Interposer, Page};
use crate::load::rest;
use crate::network::Network;
use crate::small_disk::SmallDisk;

pub(crate) const BROKERS: u16 = 3;
/// Time for a start, for an election, and for a stop.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);
/// Ports of a broker, and of a cluster.
const PORTS: u16 = 10;
const CLUSTER_PORTS: u16 = BROKERS * PORTS;
/// Among the ports of a broker: the one that the others know, and that which it listens on behind a proxy.
const PEERS_TOLD: u16 = 3;
const PEERS_BEHIND: u16 = 4;
/// Below the ports that the clusters of other tests choose from, and those that systems give to connections.
const PORTS_FROM: u16 = 12_000;
const PORT_RANGES: u16 = 260;

pub(crate) struct Cluster {
    directory: tempfile::TempDir,
    base_port: u16,
    running: BTreeMap<u16, Child>,
    weak: Option<Weak>,
}

/// Places where a cluster can be made to fail.
struct Weak {
    network: Network,
    interposer: Option<Interposer>,
    pages: Vec<Page>,
    /// Disks of history, which can be filled. None where no file system may be mounted.
    histories: Vec<SmallDisk>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("the data are kept in {}", self.directory.path().display());
        }
    }
}

impl Cluster {
    /// Starts `baton dev-cluster`, and stops it when all brokers were ready. No log warns of anything.
    pub(crate) async fn begin() -> Self {
        let cluster = Self {
            directory: tempfile::tempdir().unwrap(),
            base_port: free_ports(),
            running: BTreeMap::new(),
            weak: None,
        };
        let mut command = program();
        command.args(["dev-cluster", &BROKERS.to_string(), "--base-port", &cluster.base_port.to_string()]);
        command.arg("--data-dir").arg(cluster.directory.path()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..BROKERS {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
            let line = line.expect("a line for each broker");
            assert!(line.contains(" ready: rest=http://127.0.0.1:"), "{line}");
        }
        cluster.leader().await;
        end(&mut child).await;
        for broker in 0..BROKERS {
            let log = cluster.log(broker);
            let is_loud = |line: &&str| ["WARN", "ERROR"].iter().any(|word| line.contains(word));
            assert_eq!(log.lines().find(is_loud), None, "broker {broker}");
            assert!(!cluster.folder(broker).join("pid").exists(), "broker {broker} has ended");
        }
        cluster
    }

    /// Begins a cluster whose network, clocks and disks can be made to fail.
    pub(crate) async fn begin_weak() -> Self {
        let mut cluster = Self::begin().await;
        let ports = (0..BROKERS).map(|broker| {
            let told = cluster.base_port + broker * PORTS + PEERS_TOLD;
            (told, told - PEERS_TOLD + PEERS_BEHIND)
        });
        let ports: Vec<(u16, u16)> = ports.collect();
        for (broker, (told, behind)) in (0..BROKERS).zip(&ports) {
            let file = cluster.folder(broker).join("baton.yaml");
            let text = std::fs::read_to_string(&file).unwrap();
            let listen = |port| format!("peers:\n  listen: 127.0.0.1:{port}\n");
            assert!(text.contains(&listen(told)), "{text}");
            std::fs::write(file, text.replace(&listen(told), &listen(behind))).unwrap();
        }
        // Many reads come from the disk, so that failing ones are felt.
        cluster.configure("state:\n  page_cache_bytes: 1MiB\n  value_cache_bytes: 0B\n");
        let pages = (0..BROKERS).map(|broker| Page::create(&cluster.page(broker)));
        let secret = std::fs::read_to_string(cluster.directory.path().join("peers.secret")).unwrap();
        let secret = transport::PeerSecret::new(&secret).unwrap();
        let histories = (0..BROKERS).filter(|_| SmallDisk::is_possible()).map(|broker| {
            let place = cluster.history(broker);
            std::fs::create_dir(&place).unwrap();
            cluster.configure_one(
                broker,
                &format!(
                    "secondary_storage:\n  sqlite:\n    path: {}\n",
                    place.join("secondary-storage.sqlite").display()
                ),
            );
            let disk = SmallDisk::mount(&place);
            // The history until now goes along: a broker whose history is gone would fetch it.
            for file in std::fs::read_dir(cluster.data(broker)).unwrap().map(|file| file.unwrap().path()) {
                let name = file.file_name().unwrap();
                if name.to_string_lossy().contains("sqlite") {
                    std::fs::copy(&file, place.join(name)).unwrap();
                    std::fs::remove_file(&file).unwrap();
                }
            }
            disk
        });
        let histories = histories.collect();
        cluster.weak = Some(Weak {
            network: Network::begin(ports, &secret).await,
            interposer: Interposer::compile(cluster.directory.path()).await,
            pages: pages.collect(),
            histories,
        });
        cluster
    }

    pub(crate) fn network(&self) -> &Network {
        &self.weak.as_ref().expect("it was begun so").network
    }

    pub(crate) fn disorders(&self, broker: u16) -> &Page {
        &self.weak.as_ref().expect("it was begun so").pages[usize::from(broker)]
    }

    /// The disk of a broker's history.
    pub(crate) fn history_disk(&self, broker: u16) -> &SmallDisk {
        &self.weak.as_ref().expect("it was begun so").histories[usize::from(broker)]
    }

    fn history(&self, broker: u16) -> PathBuf {
        self.folder(broker).join("history")
    }

    fn page(&self, broker: u16) -> PathBuf {
        self.folder(broker).join("disorders")
    }

    fn folder(&self, broker: u16) -> PathBuf {
        self.directory.path().join(format!("broker-{broker}"))
    }

    pub(crate) fn log(&self, broker: u16) -> String {
        std::fs::read_to_string(self.folder(broker).join("log")).unwrap()
    }

    /// Adds settings to the files of all brokers.
    pub(crate) fn configure(&self, settings: &str) {
        (0..BROKERS).for_each(|broker| self.configure_one(broker, settings));
    }

    fn configure_one(&self, broker: u16, settings: &str) {
        let file = self.folder(broker).join("baton.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, text + settings).unwrap();
    }

    pub(crate) fn rest(&self, broker: u16) -> String {
        format!("127.0.0.1:{}", self.base_port + broker * PORTS)
    }

    pub(crate) fn management(&self, broker: u16) -> String {
        format!("127.0.0.1:{}", self.base_port + broker * PORTS + 2)
    }

    pub(crate) fn grpc(&self, broker: u16) -> String {
        format!("127.0.0.1:{}", self.base_port + broker * PORTS + 1)
    }

    /// Starts a broker as an operator does.
    pub(crate) fn start(&mut self, broker: u16) {
        let log = OpenOptions::new().append(true).open(self.folder(broker).join("log")).unwrap();
        let mut command = program();
        command.arg("start").arg("--config").arg(self.folder(broker).join("baton.yaml"));
        command.stdout(Stdio::null()).stderr(log);
        if let Some(interposer) = self.weak.as_ref().and_then(|weak| weak.interposer.as_ref()) {
            interposer.load(&mut command, &self.page(broker), &self.data(broker));
        }
        assert!(self.running.insert(broker, command.spawn().unwrap()).is_none(), "it runs");
    }

    /// Waits until all brokers say the same: who leads, and that all three are there.
    pub(crate) async fn leader(&self) -> u16 {
        let deadline = Instant::now() + PATIENCE;
        let mut looks = interval(LOOK);
        loop {
            let mut found = Vec::new();
            for broker in 0..BROKERS {
                found.push(self.seen_by(broker).await);
            }
            match (&found[0], found.iter().all(|seen| *seen == found[0])) {
                (Ok(leader), true) => return *leader,
                _ => assert!(Instant::now() < deadline, "the brokers do not settle: {found:?}"),
            }
            looks.tick().await;
        }
    }

    /// The leader that a broker knows, when it knows all brokers, and they are well.
    async fn seen_by(&self, broker: u16) -> Result<u16, String> {
        let topology = rest(&self.rest(broker)).topology().await.map_err(|error| error.to_string())?;
        let leads = |partition: &client::Partition| partition.role.eq_ignore_ascii_case("leader");
        let is_well = |broker: &client::Broker| {
            broker.partitions.iter().all(|partition| partition.health.eq_ignore_ascii_case("healthy"))
        };
        let mut leaders = topology.brokers.iter().filter(|broker| broker.partitions.iter().any(leads));
        match (
            topology.brokers.iter().filter(|broker| is_well(broker)).count(),
            leaders.next(),
            leaders.next(),
        ) {
            (3, Some(leader), None) => Ok(leader.node_id as u16),
            _ => Err(format!("{topology:?}")),
        }
    }

    pub(crate) fn signal(&self, broker: u16, signal: Signal) {
        let number = self.running[&broker].id().expect("it runs").cast_signed();
        kill_process(Pid::from_raw(number).unwrap(), signal).unwrap();
    }

    /// SIGKILL.
    pub(crate) async fn kill(&mut self, broker: u16) {
        let mut child = self.running.remove(&broker).unwrap();
        assert!(child.try_wait().unwrap().is_none(), "broker {broker} ended by itself\n{}", self.log(broker));
        child.kill().await.unwrap();
    }

    /// Stops a broker in order.
    pub(crate) async fn stop_one(&mut self, broker: u16) {
        end(&mut self.running.remove(&broker).unwrap()).await;
    }

    fn data(&self, broker: u16) -> PathBuf {
        self.folder(broker).join("data")
    }

    /// Copies the data directory of a broker that stands still or does not run.
    pub(crate) fn copy_directory(&self, broker: u16) {
        let copy = self.folder(broker).join("copy");
        if copy.exists() {
            std::fs::remove_dir_all(&copy).unwrap();
        }
        copy_all(&self.data(broker), &copy);
    }

    /// Puts the copy in the place of the data directory of a broker that does not run.
    pub(crate) fn put_copy_back(&self, broker: u16) {
        std::fs::remove_dir_all(self.data(broker)).unwrap();
        std::fs::rename(self.folder(broker).join("copy"), self.data(broker)).unwrap();
    }

    /// Removes the data directory of a broker that does not run, and its history.
    pub(crate) fn lose_directory(&self, broker: u16) {
        std::fs::remove_dir_all(self.data(broker)).unwrap();
        let history = std::fs::read_dir(self.history(broker)).into_iter().flatten();
        history.for_each(|file| std::fs::remove_file(file.unwrap().path()).unwrap());
    }

    /// How often a text is in the logs of all brokers.
    pub(crate) fn logged(&self, text: &str) -> usize {
        (0..BROKERS).map(|broker| self.log(broker).matches(text).count()).sum()
    }

    /// Removes the store of a broker that does not run. Returns the number of its files.
    pub(crate) fn remove_store(&self, broker: u16) -> usize {
        let files = std::fs::read_dir(self.data(broker)).unwrap();
        let elsewhere = std::fs::read_dir(self.history(broker)).into_iter().flatten();
        let files = files.chain(elsewhere).map(|file| file.unwrap().path());
        let store = files
            .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().contains("sqlite")));
        store.map(|file| std::fs::remove_file(file).unwrap()).count()
    }

    /// Stops all in order, one after the other.
    pub(crate) async fn stop(&mut self) {
        for (_, mut child) in std::mem::take(&mut self.running) {
            end(&mut child).await;
        }
        for broker in 0..BROKERS {
            let log = self.log(broker);
            assert_eq!(log.lines().find(|line| line.contains("panicked")), None, "broker {broker}");
        }
    }
}

/// SIGTERM; it must end well.
async fn end(child: &mut Child) {
    let number = child.id().expect("it runs").cast_signed();
    kill_process(Pid::from_raw(number).unwrap(), Signal::TERM).unwrap();
    let status = timeout(PATIENCE, child.wait()).await.expect("it stops in time").unwrap();
    assert!(status.success(), "{status}");
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The first of so many ports in a row that nobody listens on. Each call has its own.
fn free_ports() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() % u32::from(PORT_RANGES)) as u16;
    let is_free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    std::iter::repeat_with(|| TRIED.fetch_add(1, Ordering::Relaxed))
        .take_while(|range| *range < PORT_RANGES)
        .map(|range| PORTS_FROM + (first + range) % PORT_RANGES * CLUSTER_PORTS)
        .find(|base| (*base..base + CLUSTER_PORTS).all(is_free))
        .expect("some ports are free")
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
