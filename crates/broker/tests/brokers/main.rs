//! Three brokers with one partition, and some with three: any of them answers, and nothing acknowledged is lost when
//! one goes away.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod clocks;
mod comparison;
mod disks;
mod divergence;
mod idempotency;
mod joining;
mod old_copies;
mod partitions;
mod purging;
mod readiness;
mod replacement;
mod shared_exports;
mod store_queries;
mod supervisor;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use broker::{DiskProbe, Node, Options, Replica, WallClock};
use broker_api::{Broker, JobRequest, SubmitError};
use bytes::Bytes;
use futures::StreamExt;
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Deploy, Document, Key, Name, PartitionId, Query,
    QueryReply, Resource, Response,
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

/// Nothing here takes that long; on a busy machine elections do take seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often something is looked at that nobody announces.
const LOOK: Duration = Duration::from_millis(5);
const BROKERS: [u32; 3] = [0, 1, 2];
const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask></process></definitions>"#;

/// The secret of all clusters here.
const SECRET: &str = "a secret that the brokers of these tests know";

/// Changes the options of a broker.
type SetUp = Box<dyn Fn(&mut Options)>;

/// Settings of all brokers.
struct Settings {
    /// Makes the exporters of a broker.
    exporters: Box<dyn Fn() -> Vec<export::Factory>>,
    /// Gives a broker a store that some brokers have copies of.
    store: Option<SetUp>,
    log_kept_bytes: u64,
    min_free_bytes: u64,
    partitions: PartitionId,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            exporters: Box::new(Vec::new),
            store: None,
            log_kept_bytes: 1 << 30,
            min_free_bytes: 0,
            partitions: 1,
        }
    }
}

struct Cluster {
    settings: Settings,
    addresses: BTreeMap<u32, String>,
    directories: BTreeMap<u32, TempDir>,
    nodes: BTreeMap<u32, Arc<Node>>,
    /// How far the clock of each broker is ahead, milliseconds.
    clocks: BTreeMap<u32, Arc<AtomicI64>>,
    /// How much room the disk of each broker has.
    free_bytes: BTreeMap<u32, Arc<AtomicU64>>,
}

impl Cluster {
    async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    async fn start_with(settings: Settings) -> Self {
        let mut listeners = Vec::new();
        let mut addresses = BTreeMap::new();
        for broker in BROKERS {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            addresses.insert(broker, listener.local_addr().unwrap().to_string());
            listeners.push((broker, listener));
        }
        let directories = BROKERS.map(|broker| (broker, tempfile::tempdir().unwrap())).into();
        let clocks = BROKERS.map(|broker| (broker, Arc::default())).into();
        let free_bytes = BROKERS.map(|broker| (broker, Arc::new(AtomicU64::new(u64::MAX)))).into();
        let nodes = BTreeMap::new();
        let mut cluster = Self { settings, addresses, directories, nodes, clocks, free_bytes };
        // All at once: a cluster begins when all are there.
        let starting = listeners.into_iter().map(|(broker, listener)| {
            let replica = Replica { brokers: cluster.addresses.clone(), attachment: listener.into() };
            let options = cluster.options(broker);
            async move { (broker, Box::pin(Node::start_replica(options, replica)).await.unwrap()) }
        });
        cluster.nodes = futures::future::join_all(starting).await.into_iter().collect();
        // A broker may be unwell for a moment until it has served for the first time.
        let serve = |cluster: &Self| cluster.nodes.values().all(|node| node.health().partition.is_ok());
        cluster.until("all brokers serve", serve).await;
        cluster
    }

    fn options(&self, broker: u32) -> Options {
        let mut options = Options::new(self.directories[&broker].path());
        options.partition.node_id = broker;
        options.advertised_port = 1000 + broker as u16;
        let free_bytes = Arc::clone(&self.free_bytes[&broker]);
        options.disk.min_free_bytes = self.settings.min_free_bytes;
        options.disk.check_interval = LOOK;
        options.disk.probe = DiskProbe::new(move |_| Some((free_bytes.load(Ordering::Relaxed), u64::MAX)));
        options.partition.log.min_free_bytes = 1;
        options.partition.state.flush_interval = Duration::from_millis(200);
        let ahead = Arc::clone(&self.clocks[&broker]);
        options.peers.secret = Some(broker::PeerSecret::new(SECRET).unwrap());
        options.partition.export.others = (self.settings.exporters)();
        options.partition.log_kept_bytes = self.settings.log_kept_bytes;
        if let Some(store) = &self.settings.store {
            store(&mut options);
        }
        options.partition.wall_clock = WallClock::new(move || now_ms() + ahead.load(Ordering::Relaxed));
        options.with_partitions(self.settings.partitions)
    }

    /// The threads of a broker that was dropped let go of its port and its files a moment later.
    async fn start_again(&mut self, broker: u32) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let error = match TcpListener::bind(&self.addresses[&broker]).await {
                Ok(listener) => {
                    let replica = Replica { brokers: self.addresses.clone(), attachment: listener.into() };
                    let starting = Box::pin(Node::start_replica(self.options(broker), replica));
                    match timeout(PATIENCE, starting).await.expect("the others let it take part") {
                        Ok(node) => {
                            self.nodes.insert(broker, node);
                            return;
                        }
                        Err(error) => error.to_string(),
                    }
                }
                Err(error) => error.to_string(),
            };
            assert!(Instant::now() < deadline, "{error}");
            look().await;
        }
    }

    /// Starts a broker that must fail to start, and returns the error.
    async fn fails_to_start(&mut self, broker: u32) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "the port stays taken");
            let Ok(listener) = TcpListener::bind(&self.addresses[&broker]).await else {
                look().await;
                continue;
            };
            let replica = Replica { brokers: self.addresses.clone(), attachment: listener.into() };
            match Box::pin(Node::start_replica(self.options(broker), replica)).await {
                Ok(_) => panic!("it starts"),
                // The node before lets go of its files a moment later, of the state and of the log.
                Err(error) if error.is_in_use() => look().await,
                Err(error) => return error.to_string(),
            }
        }
    }

    /// Waits for something.
    async fn until(&self, wanted: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < deadline, "expected that {wanted}");
            look().await;
        }
    }

    fn leaders(&self) -> Vec<u32> {
        self.nodes.iter().filter(|(_, node)| node.leads()).map(|(broker, _)| *broker).collect()
    }

    async fn leader(&self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        while self.leaders().len() != 1 {
            let all = self.nodes.iter();
            let seen = || all.map(|(broker, node)| (*broker, node.leads(), node.health(), node.topology()));
            assert!(Instant::now() < deadline, "not one broker leads: {:?}", seen().collect::<Vec<_>>());
            look().await;
        }
        self.leaders()[0]
    }

    fn node(&self, broker: u32) -> Arc<Node> {
        Arc::clone(&self.nodes[&broker])
    }

    /// All brokers come to the same state.
    async fn agree(&self) {
        let hashes = |cluster: &Self| -> BTreeSet<(u64, u64)> {
            cluster.nodes.values().map(|node| node.state_hash().unwrap()).collect()
        };
        self.until("replicas are equal", |cluster| hashes(cluster).len() == 1).await;
    }

    async fn stop(self) {
        for node in self.nodes.into_values() {
            node.shutdown().await;
        }
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// Lets the brokers work until the next look.
async fn look() {
    let mut looks = interval(LOOK);
    looks.tick().await;
    looks.tick().await;
}

/// Submits until it is surely done; what may have happened counts as not done.
async fn submit(node: &Node, command: Command) -> Response {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match node.submit(command.clone()).await {
            Ok(answer) => return answer.response,
            Err(SubmitError::Unavailable(_) | SubmitError::Timeout(_)) if Instant::now() < deadline => {
                look().await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn deploy(node: &Node) {
    deploy_model(node, MODEL).await;
}

async fn deploy_model(node: &Node, model: &str) {
    let resource = Resource { name: Name::from("p.bpmn"), content: model.as_bytes().to_vec() };
    submit(node, Command::Deploy(Deploy { resources: vec![resource], tenant_id: Name::default_tenant() }))
        .await;
}

fn create() -> CreateInstance {
    CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
}

async fn created(node: &Node) -> Key {
    match submit(node, Command::CreateInstance(create())).await {
        Response::InstanceCreated(created) => created.process_instance_key,
        other => panic!("{other:?}"),
    }
}

fn jobs(max_jobs: u32) -> JobRequest {
    JobRequest {
        job_type: Name::from("t"),
        worker: Name::from("w"),
        timeout_ms: 600_000,
        max_jobs,
        fetch_variables: vec![],
        tenant_ids: vec![Name::default_tenant()],
        caller: None,
        with_lease: false,
    }
}

fn complete(job_key: Key) -> Command {
    let variables = Document::parse(Bytes::from_static(b"{\"done\":true}")).unwrap();
    Command::CompleteJob(CompleteJob::of(job_key, variables))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_broker_answers() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let followers: Vec<u32> = BROKERS.into_iter().filter(|broker| *broker != leader).collect();
    deploy(&cluster.node(followers[0])).await;
    let mut keys = BTreeSet::new();
    for _ in 0..5 {
        for broker in BROKERS {
            keys.insert(created(&cluster.node(broker)).await);
        }
    }
    assert_eq!(keys.len(), 15, "keys are unique");

    // A poll at one follower, completions at the other, a stream at the leader for the rest.
    let (one, other) = (cluster.node(followers[0]), cluster.node(followers[1]));
    let activation = timeout(PATIENCE, one.activate_jobs(jobs(5), Some(PATIENCE))).await.unwrap().unwrap();
    assert_eq!(activation.jobs.len(), 5);
    let mut done = BTreeSet::new();
    for job in activation.jobs {
        submit(&other, complete(job.key)).await;
        assert!(done.insert(job.process_instance_key));
    }
    let streaming = cluster.node(followers[1]);
    let mut stream = streaming.stream_jobs(jobs(0)).unwrap();
    while done.len() < keys.len() {
        let job = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        submit(&one, complete(job.key)).await;
        assert!(done.insert(job.process_instance_key), "a job went to two workers");
    }
    assert_eq!(done, keys);

    // An instance that waits for its end at a follower, which another broker brings about.
    let waiting = {
        let node = cluster.node(followers[0]);
        tokio::spawn(async move { node.create_with_result(None, create(), vec![], PATIENCE).await })
    };
    let job = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
    submit(&other, complete(job.key)).await;
    let result = timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    assert!(matches!(result.response, Response::InstanceCompleted { .. }), "{:?}", result.response);

    // A read anywhere sees what was acknowledged anywhere.
    for broker in BROKERS {
        let key = created(&cluster.node(broker)).await;
        let (behind, _) = cluster.node(broker).state_hash().unwrap();
        for reader in BROKERS {
            let reply =
                cluster.node(reader).read(Query::BannedInstances { after: 0, limit: 1 }).await.unwrap();
            assert!(matches!(reply, QueryReply::BannedInstances(_)));
            let (position, _) = cluster.node(reader).state_hash().unwrap();
            assert!(position >= behind, "broker {reader} read before {key} was there");
        }
    }
    cluster
        .until("all are known", |cluster| {
            cluster.nodes.values().all(|node| {
                let topology = node.topology();
                let leads = |broker: &broker_api::BrokerInfo| broker.partitions[0].leader;
                topology.brokers.len() == 3
                    && topology.brokers.iter().filter(|broker| leads(broker)).count() == 1
            })
        })
        .await;
    drop(stream);
    cluster.agree().await;
    drop((one, other, streaming));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_leader_goes_away() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let mut keys = BTreeSet::new();
    for round in 0..3 {
        let leader = cluster.leader().await;
        let others: Vec<u32> = BROKERS.into_iter().filter(|broker| *broker != leader).collect();
        for broker in BROKERS {
            keys.insert(created(&cluster.node(broker)).await);
        }
        // Creations are under way everywhere while the leader goes away.
        let mut under_way = Vec::new();
        for broker in &others {
            let node = cluster.node(*broker);
            under_way.push(tokio::spawn(async move {
                let mut keys = Vec::new();
                for _ in 0..20 {
                    keys.push(created(&node).await);
                }
                keys
            }));
        }
        drop(cluster.nodes.remove(&leader));
        for created in under_way {
            for key in timeout(PATIENCE, created).await.unwrap().unwrap() {
                assert!(keys.insert(key), "round {round}: the key {key} was given twice");
            }
        }
        assert!(!cluster.leaders().contains(&leader));
        cluster.start_again(leader).await;
        cluster.agree().await;
    }
    // Each has its job, once. Creations whose fate was open may have more.
    let node = cluster.node(0);
    let mut found = BTreeSet::new();
    while !keys.is_subset(&found) {
        let activation =
            timeout(PATIENCE, node.activate_jobs(jobs(50), Some(PATIENCE))).await.unwrap().unwrap();
        for job in activation.jobs {
            assert!(found.insert(job.process_instance_key), "a job was given twice");
            submit(&node, complete(job.key)).await;
        }
    }
    cluster.agree().await;
    drop(node);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_fails_when_the_leader_hands_over() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    let stop = CancellationToken::new();
    let mut at_work = Vec::new();
    for broker in BROKERS.into_iter().filter(|broker| *broker != leader) {
        let (node, stop) = (cluster.node(broker), stop.clone());
        at_work.push(tokio::spawn(async move {
            let mut keys = Vec::new();
            while !stop.is_cancelled() {
                match node.submit(Command::CreateInstance(create())).await.unwrap().response {
                    Response::InstanceCreated(created) => keys.push(created.process_instance_key),
                    other => panic!("{other:?}"),
                }
            }
            keys
        }));
    }
    // Asked at the leader itself, at the broker that is to lead, and at a third one.
    for (asked, wanted) in [(0, 1), (2, 2), (1, 0), (0, 0), (0, 2)] {
        let at = cluster.node(asked);
        // A busy machine may hold a leader up until it is none.
        cluster.until("there is a leader", |cluster| cluster.leaders().len() == 1).await;
        hand_over(&at, wanted).await;
        cluster.until("the new leader knows", |cluster| cluster.leaders() == [wanted]).await;
    }
    let refused = cluster.node(0).hand_over(Some(7)).await.unwrap_err();
    assert!(refused.to_string().contains("broker: expected the number"), "{refused}");
    hand_over(&cluster.node(0), leader).await;
    cluster.until("the first leader leads", |cluster| cluster.leaders() == [leader]).await;
    cluster.nodes.remove(&leader).unwrap().shutdown().await;
    // It led until it had handed over: nobody waited for an election.
    assert_eq!(cluster.leaders().len(), 1);
    stop.cancel();
    let mut keys = BTreeSet::new();
    for created in at_work {
        for key in timeout(PATIENCE, created).await.unwrap().unwrap() {
            assert!(keys.insert(key), "the key {key} was given twice");
        }
    }
    cluster.start_again(leader).await;
    cluster.agree().await;
    cluster.stop().await;
}

/// Asks a broker for a hand-over, again if a busy machine lets it take more than a second.
async fn hand_over(at: &Node, wanted: u32) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match at.hand_over(Some(wanted)).await {
            Ok(leaders) => return assert_eq!(leaders, [(1, wanted)].into()),
            Err(SubmitError::Unavailable(_)) if Instant::now() < deadline => look().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_followers_is_not_healthy() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    deploy(&cluster.node(leader)).await;
    assert_eq!(cluster.node(leader).health().partition, Ok(()));
    cluster.nodes.retain(|broker, _| *broker == leader);
    cluster.until("the leader says so", |cluster| cluster.nodes[&leader].health().partition.is_err()).await;
    let reason = cluster.node(leader).health().partition.unwrap_err();
    assert!(reason.contains("a majority of 3 brokers"), "{reason}");
    let refused = cluster.node(leader).submit(Command::CreateInstance(create())).await.unwrap_err();
    assert!(matches!(refused, SubmitError::Unavailable(_) | SubmitError::Timeout(_)), "{refused}");
    for follower in BROKERS.into_iter().filter(|broker| *broker != leader) {
        cluster.start_again(follower).await;
    }
    let (node, healthy) = (cluster.node(leader), "the leader is healthy again");
    cluster.until(healthy, |_| node.health().partition.is_ok()).await;
    created(&node).await;
    drop(node);
    cluster.agree().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_pause_of_processing_holds_on_all_brokers_and_outlives_leaders() {
    let mut cluster = Cluster::start().await;
    let first = cluster.leader().await;
    let others = || BROKERS.into_iter().filter(|broker| *broker != first);
    let (asked, away) = (others().next().unwrap(), others().next_back().unwrap());
    let is_paused = |cluster: &Cluster, paused: bool| {
        let all = || BROKERS.map(|broker| (broker, Some(paused))).into();
        cluster.nodes.values().all(|node| node.paused_brokers() == Some(all()))
    };
    let everywhere_refused = async |cluster: &Cluster| {
        for node in cluster.nodes.values() {
            let refused = node.submit(Command::Tick).await.unwrap_err().to_string();
            assert!(refused.contains("processing is paused"), "{refused}");
        }
    };
    timeout(PATIENCE, cluster.node(asked).pause_processing()).await.unwrap().unwrap();
    assert!(cluster.nodes.values().all(|node| node.is_processing_paused()), "it does not hold everywhere");
    everywhere_refused(&cluster).await;
    cluster.until("all brokers tell it of each", |cluster| is_paused(cluster, true)).await;

    // It outlives the leader, and a broker that comes again learns of it.
    hand_over(&cluster.node(first), asked).await;
    cluster.until("another broker leads", |cluster| cluster.leaders() == [asked]).await;
    everywhere_refused(&cluster).await;
    let stopped = cluster.nodes.remove(&away).unwrap();
    stopped.shutdown().await;
    drop(stopped);
    let unknown = |cluster: &Cluster| cluster.node(asked).paused_brokers().unwrap()[&away].is_none();
    cluster.until("the broker that is away is not known", unknown).await;
    cluster.start_again(away).await;
    cluster.until("it is paused where it came again", |cluster| is_paused(cluster, true)).await;
    everywhere_refused(&cluster).await;

    // That one may end it as well.
    timeout(PATIENCE, cluster.node(away).resume_processing()).await.unwrap().unwrap();
    cluster.until("processing goes on everywhere", |cluster| is_paused(cluster, false)).await;
    for node in cluster.nodes.values() {
        submit(node, Command::Tick).await;
    }
    cluster.agree().await;
    cluster.stop().await;
}
