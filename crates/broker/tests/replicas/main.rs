//! Three replicas of a partition's state, replicated over real connections and real disks: engines that end alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::{ReplicaGroups, ReplicaPeers};
use bytes::Bytes;
use engine::{Effects, Engine};
use parking_lot::Mutex;
use protocol::{Batch, Command, CreateInstance, DefinitionRef, Deploy, ENGINE_VERSION, Name, Resource};
use replication::{
    ApplyError, Group, GroupOptions, LogOptions, LogStore, Payload, ProposeError, Role, SnapshotError,
    SnapshotSource, StateMachine,
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{BrokerIdentity, Peer, Served, TransportOptions, serve};

const PATIENCE: Duration = Duration::from_secs(60);
const GROUP: u64 = 1;
const NODES: [u64; 3] = [0, 1, 2];
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask></process></definitions>"#;

/// The state of a replica in memory, with the log as its snapshot: what was applied up to an index.
#[derive(Clone)]
struct Replica(Arc<Mutex<ReplicaState>>);

struct ReplicaState {
    engine: Engine,
    entries: BTreeMap<u64, Bytes>,
    durable: u64,
    installed: u32,
}

fn engine() -> Engine {
    let store = state::Store::in_memory(state::Options::default()).unwrap();
    Engine::open(&store, engine::Options::default()).unwrap()
}

impl Replica {
    fn new() -> Self {
        let (entries, durable, installed) = (BTreeMap::new(), 0, 0);
        Self(Arc::new(Mutex::new(ReplicaState { engine: engine(), entries, durable, installed })))
    }

    fn state_hash(&self) -> u64 {
        self.0.lock().engine.tables().state_hash().unwrap()
    }

    fn last(&self) -> u64 {
        self.0.lock().entries.keys().next_back().copied().unwrap_or(0)
    }

    fn flush(&self) -> u64 {
        let last = self.last();
        self.0.lock().durable = last;
        last
    }
}

impl ReplicaState {
    /// Begins anew with some entries.
    fn begin_with(&mut self, entries: BTreeMap<u64, Bytes>) {
        (self.engine, self.entries) = (engine(), BTreeMap::new());
        for (index, bytes) in entries {
            self.apply(index, &bytes);
        }
    }

    fn apply(&mut self, index: u64, bytes: &Bytes) {
        let batch = Batch::decode(bytes).unwrap();
        self.engine.apply(&batch, &mut Effects::default()).unwrap();
        assert!(self.entries.insert(index, bytes.clone()).is_none(), "entry {index} is applied twice");
    }
}

impl StateMachine for Replica {
    fn apply(&mut self, index: u64, _: u64, payload: &Payload) -> Result<(), ApplyError> {
        self.0.lock().apply(index, &payload.bytes);
        Ok(())
    }

    fn durable_index(&self) -> u64 {
        self.0.lock().durable
    }

    fn snapshot(&mut self) -> Result<Box<dyn SnapshotSource>, SnapshotError> {
        let state = self.0.lock();
        let entries = state.entries.range(..=state.durable).map(|(index, bytes)| (*index, bytes.to_vec()));
        Ok(Box::new(View(state.durable, entries.collect())))
    }

    fn install_snapshot(&mut self, index: u64, source: &Path) -> Result<(), SnapshotError> {
        let bytes = std::fs::read(source).map_err(|error| SnapshotError::Failed(error.into()))?;
        let entries: Vec<(u64, minicbor::bytes::ByteVec)> = minicbor::decode(&bytes).unwrap();
        let entries = entries.into_iter().map(|(index, bytes)| (index, Vec::from(bytes).into()));
        let mut state = self.0.lock();
        state.begin_with(entries.collect());
        (state.durable, state.installed) = (index, state.installed + 1);
        Ok(())
    }
}

struct View(u64, Vec<(u64, Vec<u8>)>);

impl SnapshotSource for View {
    fn index(&self) -> u64 {
        self.0
    }

    fn write_to(self: Box<Self>, target: &Path) -> Result<(), SnapshotError> {
        let entries = self.1.into_iter().map(|(index, bytes)| (index, minicbor::bytes::ByteVec::from(bytes)));
        let bytes = minicbor::to_vec(entries.collect::<Vec<_>>()).unwrap();
        std::fs::write(target, bytes).map_err(|error| SnapshotError::Failed(error.into()))
    }
}

/// A broker that runs.
struct Running {
    group: Group,
    groups: ReplicaGroups,
    log: LogStore,
    serving: DropGuard,
}

struct Cluster {
    addresses: BTreeMap<u64, SocketAddr>,
    directories: BTreeMap<u64, TempDir>,
    replicas: BTreeMap<u64, Replica>,
    lives: Mutex<BTreeMap<u64, u64>>,
    running: Mutex<BTreeMap<u64, Running>>,
}

impl Cluster {
    async fn start() -> Self {
        let mut addresses = BTreeMap::new();
        let mut listeners = Vec::new();
        for node in NODES {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            addresses.insert(node, listener.local_addr().unwrap());
            listeners.push((node, listener));
        }
        let cluster = Self {
            addresses,
            directories: NODES.map(|node| (node, tempfile::tempdir().unwrap())).into(),
            replicas: NODES.map(|node| (node, Replica::new())).into(),
            lives: Mutex::default(),
            running: Mutex::default(),
        };
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
            let life = lives.entry(node).or_insert(0);
            *life += 1;
            *life
        };
        let identity = BrokerIdentity {
            cluster_id: "replicas".to_owned(),
            broker: node as u32,
            directory: node + 1,
            life,
            engine_versions: (ENGINE_VERSION, ENGINE_VERSION),
        };
        // One of them compresses what it sends to those who do so, too.
        let transport = TransportOptions { compresses: node > 0, ..TransportOptions::default() };
        let groups = ReplicaGroups::new(directory.to_owned());
        let serving = CancellationToken::new();
        let service: Arc<ReplicaGroups> = Arc::new(groups.clone());
        let served = Arc::new(Served::default());
        tokio::spawn(serve(listener, identity.clone(), service, transport.clone(), served, serving.clone()));
        let peers: BTreeMap<u64, Peer> = self
            .addresses
            .iter()
            .filter(|(other, _)| **other != node)
            .map(|(other, address)| {
                (*other, Peer::new(identity.clone(), *other as u32, address.to_string(), transport.clone()))
            })
            .collect();
        let options = GroupOptions {
            voters: self.addresses.iter().map(|(node, address)| (*node, address.to_string())).collect(),
            heartbeat_interval_ms: 30,
            election_timeout_ms: 200,
            transport: Arc::new(ReplicaPeers::new(peers, directory.to_owned())),
            log_kept_bytes_max: 0,
            ..GroupOptions::default()
        };
        // Of what was applied, only what was flushed is there after a restart.
        let replica = self.replicas[&node].clone();
        {
            let mut state = replica.0.lock();
            let durable = state.durable;
            let entries =
                state.entries.range(..=durable).map(|(index, bytes)| (*index, bytes.clone())).collect();
            state.begin_with(entries);
        }
        let log = LogStore::open(&directory.join("log"), LogOptions::default()).unwrap();
        let group = Group::start(GROUP, node, &log, replica, options).await.unwrap();
        groups.insert(GROUP, node, group.clone());
        self.running.lock().insert(node, Running { group, groups, log, serving: serving.drop_guard() });
    }

    async fn unplug(&self, node: u64) {
        let Running { group, groups, log, serving } = self.running.lock().remove(&node).unwrap();
        drop(groups.remove(GROUP));
        drop(serving);
        group.shutdown().await;
        log.close().await;
    }

    fn leader(&self) -> Option<(u64, Group)> {
        let running = self.running.lock();
        let leads = |running: &Running| matches!(*running.group.role().borrow(), Role::Leader { .. });
        running
            .iter()
            .find(|(_, running)| leads(running))
            .map(|(node, running)| (*node, running.group.clone()))
    }

    async fn led(&self) -> (u64, Group) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(leader) = self.leader() {
                return leader;
            }
            assert!(Instant::now() < deadline, "nobody leads");
            tokio::task::yield_now().await;
        }
    }

    /// Proposes at whoever leads, until it is acknowledged. Returns its index.
    async fn propose(&self, command: Command) -> u64 {
        let batch = Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 1,
            commands: vec![command],
            demand: vec![],
            origin: None,
            digest: None,
        };
        let bytes = Bytes::from(batch.encode());
        loop {
            let (_, group) = self.led().await;
            match group.propose(Payload::new(bytes.clone())).await {
                Ok(index) => return index,
                // It may have happened all the same: then it happens twice here.
                Err(ProposeError::NotLeader { .. } | ProposeError::Storage(_) | ProposeError::Superseded) => {
                    tokio::task::yield_now().await;
                }
                Err(other) => panic!("{other}"),
            }
        }
    }

    /// All replicas come to the same state at the same index.
    async fn agree(&self, index: u64) {
        let deadline = Instant::now() + PATIENCE;
        while self.replicas.values().any(|replica| replica.last() < index) {
            assert!(Instant::now() < deadline, "a replica does not catch up");
            tokio::task::yield_now().await;
        }
        let hashes: Vec<u64> = self.replicas.values().map(Replica::state_hash).collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "replicas differ: {hashes:?}");
    }

    async fn stop(self) {
        for node in NODES {
            self.unplug(node).await;
        }
    }
}

fn deploy() -> Command {
    let resource = Resource { name: Name::from("p.bpmn"), content: MODEL.as_bytes().to_vec() };
    Command::Deploy(Deploy { resources: vec![resource], tenant_id: Name::default_tenant() })
}

fn create() -> Command {
    Command::CreateInstance(CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_agree_and_outlive_their_leaders() {
    let cluster = Cluster::start().await;
    cluster.propose(deploy()).await;
    let mut last = 0;
    for _ in 0..3 {
        for _ in 0..20 {
            last = cluster.propose(create()).await;
        }
        let (leader, _) = cluster.led().await;
        cluster.unplug(leader).await;
        last = last.max(cluster.propose(create()).await);
        cluster.plug(leader).await;
    }
    cluster.agree(last).await;
    let instances = cluster.replicas[&0].0.lock().engine.tables().instances.len().unwrap();
    assert!(instances >= 63, "{instances}: nothing that was acknowledged is missing");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_replica_that_missed_too_much_is_sent_a_snapshot() {
    let cluster = Cluster::start().await;
    cluster.propose(deploy()).await;
    let (leader, _) = cluster.led().await;
    let absent = NODES.into_iter().find(|node| *node != leader).unwrap();
    cluster.unplug(absent).await;
    let mut last = 0;
    for _ in 0..100 {
        last = cluster.propose(create()).await;
    }
    let others: Vec<(u64, Group)> =
        cluster.running.lock().iter().map(|(node, running)| (*node, running.group.clone())).collect();
    for (node, group) in others {
        let deadline = Instant::now() + PATIENCE;
        while cluster.replicas[&node].last() < last {
            assert!(Instant::now() < deadline, "it does not catch up");
            tokio::task::yield_now().await;
        }
        let durable = cluster.replicas[&node].flush();
        group.purge(durable).await;
    }
    cluster.plug(absent).await;
    let last = cluster.propose(create()).await;
    cluster.agree(last).await;
    assert!(cluster.replicas[&absent].0.lock().installed > 0, "the log alone has brought it there");
    let scratch = cluster.directories[&absent].path();
    let left =
        std::fs::read_dir(scratch).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("received")).collect();
    assert!(left.is_empty(), "{left:?}");
    cluster.stop().await;
}
