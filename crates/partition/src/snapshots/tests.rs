//! Replicas of a partition's state on real disks and connections, one of which is brought up by a snapshot.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use protocol::{Batch, Command, ENGINE_VERSION};
use replication::{
    ApplyError, Group, GroupOptions, LogOptions, LogStore, Payload, ProposeError, StateMachine,
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{BrokerIdentity, Lane, Parts, Peer, PeerService, Reply, Served, TransportOptions, serve};

use super::*;
use crate::flusher::Flusher;
use crate::machine::PartitionMachine;
use crate::machine::tests::{create, deploy, shared_of};
use crate::options::StateOptions;
use crate::partition_state::PartitionState;
use cluster::{ReplicaGroups, ReplicaPeers};

const PATIENCE: Duration = Duration::from_secs(60);
const GROUP: u64 = 1;
const NODES: [u64; 3] = [0, 1, 2];

/// Faults of all replicas, and what became of them.
#[derive(Default)]
struct Faults {
    /// Snapshots are damaged before they are sent.
    damages: AtomicBool,
    damaged: AtomicU32,
    /// Snapshots are not installed.
    fails: AtomicBool,
    /// Snapshots are installed, and nobody learns of it.
    falls_silent: AtomicBool,
    failed: AtomicU32,
    installed: AtomicU32,
    /// A snapshot is not installed before its sender has gone.
    loses_sender: AtomicBool,
    held: AtomicU32,
}

struct Faulty {
    machine: PartitionMachine,
    faults: Arc<Faults>,
}

struct FaultyView {
    view: Box<dyn SnapshotSource>,
    faults: Arc<Faults>,
}

impl SnapshotSource for FaultyView {
    fn index(&self) -> u64 {
        self.view.index()
    }

    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError> {
        self.view.write_to(target)?;
        if self.faults.damages.load(Ordering::SeqCst) {
            flip(target);
            self.faults.damaged.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Changes a byte in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

impl StateMachine for Faulty {
    fn apply(&mut self, index: u64, term: u64, payload: &Payload) -> Result<(), ApplyError> {
        self.machine.apply(index, term, payload)
    }

    fn durable_index(&self) -> u64 {
        self.machine.durable_index()
    }

    fn snapshot(&mut self) -> Result<Box<dyn SnapshotSource>, SnapshotError> {
        let view = self.machine.snapshot()?;
        Ok(Box::new(FaultyView { view, faults: Arc::clone(&self.faults) }))
    }

    fn snapshot_check(&self) -> SnapshotCheck {
        self.machine.snapshot_check()
    }

    fn install_snapshot(&mut self, index: u64, source: &Path) -> Result<(), SnapshotError> {
        if self.faults.fails.load(Ordering::SeqCst) {
            self.faults.failed.fetch_add(1, Ordering::SeqCst);
            return Err(failed(io::Error::other("the disk is full")));
        }
        if self.faults.loses_sender.load(Ordering::SeqCst) {
            self.faults.held.fetch_add(1, Ordering::SeqCst);
            while self.faults.loses_sender.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        self.machine.install_snapshot(index, source).inspect_err(|_| {
            self.faults.failed.fetch_add(1, Ordering::SeqCst);
        })?;
        if self.faults.falls_silent.load(Ordering::SeqCst) {
            self.faults.failed.fetch_add(1, Ordering::SeqCst);
            return Err(failed(io::Error::other("the process has ended")));
        }
        self.faults.installed.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The groups of a replica, for others who may go away.
struct Service {
    groups: ReplicaGroups,
    faults: Arc<Faults>,
}

impl PeerService for Service {
    fn call(&self, from: &BrokerIdentity, lane: Lane, request: Bytes) -> Reply {
        self.groups.call(from, lane, request)
    }

    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply {
        let (answer, faults) = (self.groups.upload(from, head, parts), Arc::clone(&self.faults));
        Box::pin(async move {
            let is_held =
                || faults.held.load(Ordering::SeqCst) > 0 && faults.loses_sender.load(Ordering::SeqCst);
            let held = async {
                while !is_held() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                answer = answer => return answer,
                () = held => {}
            }
            faults.loses_sender.store(false, Ordering::SeqCst);
            Err("it has gone".to_owned())
        })
    }
}

type Shared<T> = Arc<Mutex<T>>;

/// An engine on a state file, and the machine that applies to it.
fn machine(node: u64, directory: &Path) -> (PartitionMachine, Shared<Engine>, Arc<PartitionState>) {
    let place = StatePlace {
        file: directory.join("state.redb"),
        store: state::Options::default(),
        engine: engine::Options::default(),
    };
    let store = Store::open(&place.file, place.store.clone()).unwrap();
    let engine = Arc::new(Mutex::new(Engine::open(&store, place.engine.clone()).unwrap()));
    let shared = Arc::new(shared_of(node as u32, &engine.lock()));
    // Only when a test says so.
    let options = StateOptions { flush_interval: PATIENCE * 60, ..StateOptions::default() };
    let flusher = Flusher::start(protocol::FIRST_PARTITION, None).unwrap();
    let machine = PartitionMachine::new(&engine, &shared, flusher, options).at(place);
    (machine, engine, shared)
}

fn hash(engine: &Mutex<Engine>) -> u64 {
    engine.lock().tables().state_hash().unwrap()
}

fn batch(command: Command) -> Bytes {
    let commands = vec![command];
    Batch {
        engine_version: ENGINE_VERSION,
        timestamp_ms: 1,
        commands,
        demand: vec![],
        origin: None,
        digest: None,
    }
    .encode()
    .into()
}

struct Running {
    group: Group,
    groups: ReplicaGroups,
    log: LogStore,
    engine: Shared<Engine>,
    shared: Arc<PartitionState>,
    serving: DropGuard,
}

struct Cluster {
    log_kept_bytes_max: u64,
    addresses: BTreeMap<u64, SocketAddr>,
    directories: BTreeMap<u64, TempDir>,
    faults: Arc<Faults>,
    lives: Mutex<u64>,
    running: Mutex<BTreeMap<u64, Running>>,
}

async fn until(mut reached: impl FnMut() -> bool, what: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !reached() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::task::yield_now().await;
    }
}

impl Cluster {
    async fn start(log_kept_bytes_max: u64) -> Self {
        let mut listeners = BTreeMap::new();
        for node in NODES {
            listeners.insert(node, TcpListener::bind("127.0.0.1:0").await.unwrap());
        }
        let addresses =
            listeners.iter().map(|(node, listener)| (*node, listener.local_addr().unwrap())).collect();
        let directories = NODES.map(|node| (node, tempfile::tempdir().unwrap())).into();
        let (faults, lives, running) = (Arc::default(), Mutex::default(), Mutex::default());
        let cluster = Self { log_kept_bytes_max, addresses, directories, faults, lives, running };
        for (node, listener) in listeners {
            cluster.plug_on(node, listener).await;
        }
        cluster
    }

    async fn plug(&self, node: u64) {
        let deadline = Instant::now() + PATIENCE;
        let listener = loop {
            match TcpListener::bind(self.addresses[&node]).await {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            tokio::task::yield_now().await;
        };
        self.plug_on(node, listener).await;
    }

    async fn plug_on(&self, node: u64, listener: TcpListener) {
        let directory = self.directories[&node].path();
        let life = {
            let mut lives = self.lives.lock();
            *lives += 1;
            *lives
        };
        let identity = BrokerIdentity {
            cluster_id: "snapshots".to_owned(),
            broker: node as u32,
            directory: node + 1,
            life,
            engine_versions: (ENGINE_VERSION, ENGINE_VERSION),
        };
        let transport = TransportOptions::default();
        let groups = ReplicaGroups::new(directory.to_owned());
        let service = Arc::new(Service { groups: groups.clone(), faults: Arc::clone(&self.faults) });
        let serving = CancellationToken::new();
        let served = Arc::new(Served::default());
        tokio::spawn(serve(listener, identity.clone(), service, transport.clone(), served, serving.clone()));
        let others = self.addresses.iter().filter(|(other, _)| **other != node);
        let peers: BTreeMap<u64, Peer> = others
            .map(|(other, address)| {
                (*other, Peer::new(identity.clone(), *other as u32, address.to_string(), transport.clone()))
            })
            .collect();
        let options = GroupOptions {
            voters: self.addresses.iter().map(|(node, address)| (*node, address.to_string())).collect(),
            heartbeat_interval_ms: 50,
            election_timeout_ms: 500,
            election_timeout_max_ms: 1000,
            log_kept_bytes_max: self.log_kept_bytes_max,
            transport: Arc::new(ReplicaPeers::new(peers, directory.to_owned())),
            ..GroupOptions::default()
        };
        let (machine, engine, shared) = machine(node, directory);
        let machine = Faulty { machine, faults: Arc::clone(&self.faults) };
        let log = LogStore::open(&directory.join("log"), LogOptions::default()).unwrap();
        let group = Group::start(GROUP, node, &log, machine, options).await.unwrap();
        groups.insert(GROUP, node, group.clone());
        let serving = serving.drop_guard();
        self.running.lock().insert(node, Running { group, groups, log, engine, shared, serving });
    }

    async fn unplug(&self, node: u64) {
        let Running { group, groups, log, serving, .. } = self.running.lock().remove(&node).unwrap();
        drop(groups.remove(GROUP));
        drop(serving);
        group.shutdown().await;
        log.close().await;
    }

    fn groups(&self) -> Vec<Group> {
        self.running.lock().values().map(|running| running.group.clone()).collect()
    }

    /// A replica that does not lead.
    async fn follower(&self) -> u64 {
        let mut found = None;
        let look = || {
            let running = self.running.lock();
            let leads = running.values().any(|running| running.group.is_leader());
            found = running.iter().find(|(_, running)| !running.group.is_leader()).map(|(node, _)| *node);
            leads
        };
        until(look, "nobody leads").await;
        found.unwrap()
    }

    /// Proposes at whoever leads, until it is acknowledged. Returns its index.
    async fn propose(&self, command: Command) -> u64 {
        let bytes = batch(command);
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "nothing is acknowledged");
            let Some(leader) = self.groups().into_iter().find(Group::is_leader) else {
                tokio::task::yield_now().await;
                continue;
            };
            match leader.propose(Payload::new(bytes.clone())).await {
                Ok(index) => return index,
                Err(ProposeError::NotLeader { .. } | ProposeError::Storage(_) | ProposeError::Superseded) => {
                    tokio::task::yield_now().await;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }

    async fn work(&self, commands: u32) -> u64 {
        let mut last = 0;
        for _ in 0..commands {
            last = self.propose(create(1000)).await;
        }
        last
    }

    /// All replicas that run come to the same state.
    async fn agree(&self, index: u64) {
        let applied = || self.groups().iter().all(|group| group.metrics().applied_index >= index);
        until(applied, "a replica does not catch up").await;
        let hashes: Vec<u64> = self.running.lock().values().map(|running| hash(&running.engine)).collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "replicas differ: {hashes:?}");
    }

    /// Has all replicas write their state to disk. Returns the index that it is as of.
    async fn flush(&self) -> u64 {
        // Nothing may be under way that the order would be obeyed at.
        let before = self.propose(Command::Tick).await;
        self.agree(before).await;
        for running in self.running.lock().values() {
            running.shared.flush.order();
        }
        let index = self.propose(Command::Tick).await;
        self.agree(index).await;
        let running = self.running.lock();
        let durable = running.values().map(|running| running.shared.flush.durable_index()).min();
        assert!(durable.is_some_and(|durable| durable > before), "{durable:?} after {before}");
        index
    }

    async fn purge(&self) {
        for group in self.groups() {
            group.purge(u64::MAX).await;
        }
    }

    /// Purges until no replica has the entry at `index`.
    async fn purge_beyond(&self, index: u64) {
        let deadline = Instant::now() + PATIENCE;
        while self.groups().iter().any(|group| group.metrics().purged_index < index) {
            assert!(Instant::now() < deadline, "the log is not purged");
            self.purge().await;
        }
    }

    fn durable_index(&self, node: u64) -> u64 {
        self.running.lock()[&node].shared.flush.durable_index()
    }

    /// Stops a replica with old state on disk, and lets the others go on. Without a log kept for it they have purged
    /// what it lacks when it returns.
    async fn leave_one_behind(&self) -> (u64, u64) {
        self.propose(deploy()).await;
        self.work(5).await;
        let old = self.flush().await;
        let absent = self.follower().await;
        self.unplug(absent).await;
        self.work(40).await;
        let durable = self.flush().await;
        assert!(durable > old, "{durable} and {old}");
        if self.log_kept_bytes_max == 0 {
            self.purge_beyond(durable).await;
        } else {
            self.purge().await;
        }
        (absent, old)
    }

    async fn stop(self) {
        for node in NODES {
            self.unplug(node).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replica_that_missed_too_much_is_brought_up_by_a_snapshot() {
    let cluster = Cluster::start(0).await;
    let (absent, old) = cluster.leave_one_behind().await;
    cluster.plug(absent).await;
    let last = cluster.work(3).await;
    cluster.agree(last).await;
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 1);
    let installed = cluster.durable_index(absent);
    assert!(installed > old, "the state of the snapshot is on disk: {installed} and {old}");
    // It goes on with the snapshot, and what it has flushed since.
    for flushes in [false, true] {
        if flushes {
            cluster.flush().await;
        }
        let durable = cluster.durable_index(absent);
        cluster.unplug(absent).await;
        cluster.plug(absent).await;
        let on_disk = cluster.running.lock()[&absent].engine.lock().tables().applied_index();
        assert!(on_disk >= durable, "{on_disk} and {durable}");
        let last = cluster.work(2).await;
        cluster.agree(last).await;
    }
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 1, "its own log goes on from there");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_snapshot_is_installed_though_its_sender_has_gone() {
    let cluster = Cluster::start(0).await;
    let (absent, _) = cluster.leave_one_behind().await;
    cluster.faults.loses_sender.store(true, Ordering::SeqCst);
    cluster.plug(absent).await;
    until(|| cluster.faults.held.load(Ordering::SeqCst) > 0, "no snapshot is sent").await;
    until(|| !cluster.faults.loses_sender.load(Ordering::SeqCst), "its sender does not go").await;
    let last = cluster.work(3).await;
    cluster.agree(last).await;
    let installed = cluster.faults.installed.load(Ordering::SeqCst);
    assert_eq!((installed, cluster.faults.failed.load(Ordering::SeqCst)), (1, 0));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_damaged_snapshot_is_refused_and_the_group_goes_on() {
    let cluster = Cluster::start(0).await;
    let (absent, old) = cluster.leave_one_behind().await;
    cluster.faults.damages.store(true, Ordering::SeqCst);
    cluster.plug(absent).await;
    let before = hash(&cluster.running.lock()[&absent].engine);
    until(|| cluster.faults.damaged.load(Ordering::SeqCst) > 1, "no snapshot is sent").await;
    let last = cluster.work(3).await;
    {
        let running = cluster.running.lock();
        let metrics = running[&absent].group.metrics();
        assert!((old..last).contains(&metrics.applied_index), "{metrics:?}");
        assert_eq!(hash(&running[&absent].engine), before, "its state is as it was");
    }
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 0);
    cluster.faults.damages.store(false, Ordering::SeqCst);
    cluster.agree(last).await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replica_starts_with_its_old_state_when_a_snapshot_was_noted_but_not_installed() {
    let cluster = Cluster::start(0).await;
    let (absent, old) = cluster.leave_one_behind().await;
    cluster.faults.fails.store(true, Ordering::SeqCst);
    cluster.plug(absent).await;
    until(|| cluster.faults.failed.load(Ordering::SeqCst) > 0, "no snapshot is sent").await;
    assert!(cluster.running.lock()[&absent].group.metrics().purged_index <= old, "its log is kept");
    cluster.unplug(absent).await;
    cluster.plug(absent).await;
    assert!(cluster.running.lock()[&absent].group.metrics().applied_index >= old);
    cluster.faults.fails.store(false, Ordering::SeqCst);
    let last = cluster.work(3).await;
    cluster.agree(last).await;
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 1);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replica_starts_with_the_new_state_when_its_log_had_not_followed_yet() {
    let cluster = Cluster::start(0).await;
    let (absent, old) = cluster.leave_one_behind().await;
    cluster.faults.falls_silent.store(true, Ordering::SeqCst);
    cluster.plug(absent).await;
    until(|| cluster.faults.failed.load(Ordering::SeqCst) > 0, "no snapshot is sent").await;
    assert!(cluster.running.lock()[&absent].group.metrics().purged_index <= old, "its log is not purged");
    cluster.unplug(absent).await;
    cluster.faults.falls_silent.store(false, Ordering::SeqCst);
    cluster.plug(absent).await;
    let applied = cluster.running.lock()[&absent].group.metrics().applied_index;
    assert!(applied > old, "{applied} and {old}");
    let last = cluster.work(3).await;
    cluster.agree(last).await;
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 0, "it has it already");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replica_that_lags_is_sent_entries_within_the_limit() {
    let cluster = Cluster::start(1 << 30).await;
    let (absent, old) = cluster.leave_one_behind().await;
    for group in cluster.groups() {
        let purged = group.metrics().purged_index;
        assert!(purged < old + 20, "{purged}: of 40 entries after {old}, the replica has none");
    }
    cluster.plug(absent).await;
    let last = cluster.work(3).await;
    cluster.agree(last).await;
    assert_eq!(cluster.faults.installed.load(Ordering::SeqCst), 0, "no snapshot is needed");
    // No replica lacks anything now: the leader's log goes.
    let durable = cluster.flush().await;
    let deadline = Instant::now() + PATIENCE;
    while cluster.groups().iter().all(|group| group.metrics().purged_index < durable) {
        assert!(Instant::now() < deadline, "the log stays");
        cluster.purge().await;
    }
    cluster.stop().await;
}

#[test]
fn a_damaged_snapshot_leaves_the_state_alone() {
    let directories = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let (mut source, original, shared) = machine(0, directories[0].path());
    source.apply(1, 1, &Payload::new(batch(deploy()))).unwrap();
    shared.flush.order();
    source.apply(2, 1, &Payload::new(batch(create(1000)))).unwrap();
    let view = source.snapshot().unwrap();
    assert_eq!(view.index(), 2);
    let file = directories[0].path().join("sent");
    view.write_to(&file).unwrap();

    let (mut target, engine, shared) = machine(1, directories[1].path());
    target.apply(1, 1, &Payload::new(batch(deploy()))).unwrap();
    let (before, check) = (hash(&engine), target.snapshot_check());
    flip(&file);
    assert!(check(2, &file).is_err());
    assert!(target.install_snapshot(2, &file).is_err());
    flip(&file);
    assert!(check(3, &file).is_err(), "one as of another entry");
    assert!(target.install_snapshot(3, &file).is_err());
    assert_eq!((hash(&engine), target.durable_index()), (before, 0));
    assert_eq!(std::fs::read_dir(directories[1].path()).unwrap().count(), 1, "nothing is left over");
    shared.flush.order();
    target.apply(2, 1, &Payload::new(batch(Command::Tick))).unwrap();
    assert_eq!(target.durable_index(), 2);

    // A whole one takes the place of all that, and the state goes on from there.
    check(2, &file).unwrap();
    target.install_snapshot(2, &file).unwrap();
    target.apply(3, 1, &Payload::new(batch(create(1000)))).unwrap();
    source.apply(3, 1, &Payload::new(batch(create(1000)))).unwrap();
    assert_eq!(hash(&engine), hash(&original));
}
