//! The port for brokers: whoever has no more than a socket to it, brokers that say what is not theirs, and lists and
//! settings that differ. All with processes of `baton dev-cluster`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use protocol::{Batch, BatchOrigin, Command as EngineCommand};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{Duration, interval, timeout};
use transport::{BrokerIdentity, CallError, Lane, Peer, PeerSecret, PeerStatus, TransportOptions};

use crate::server::{PATIENCE, exchange};

const BROKERS: u16 = 3;
const LOOK: Duration = Duration::from_millis(50);
/// Ports of a broker: REST, gRPC, management, peers.
const PORTS_PER_BROKER: u16 = 10;
const PEERS: u16 = 3;
/// Kinds of requests, as their first byte: those of `crates/cluster/src/peer_request.rs`, and some more.
const KINDS: std::ops::RangeInclusive<u8> = 0..=40;
const ENTER: u8 = 2;
const STAND_FOR_ELECTION: u8 = 6;
const HASH_DIFFERS: u8 = 15;

struct Cluster {
    directory: tempfile::TempDir,
    base_port: u16,
    running: BTreeMap<u16, Child>,
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BATON_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The first of ports in a row that nobody listens on.
fn free_ports() -> u16 {
    let count = BROKERS * PORTS_PER_BROKER;
    let is_free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let first = (std::process::id() % 300) as u16;
    let mut bases = (0..300).map(|range| 20_000 + (first + range) % 300 * count);
    bases.find(|base| (*base..base + count).all(is_free)).expect("some ports are free")
}

async fn end(child: &mut Child) {
    let number = child.id().expect("it runs").cast_signed();
    kill_process(Pid::from_raw(number).unwrap(), Signal::TERM).unwrap();
    timeout(PATIENCE, child.wait()).await.expect("it stops in time").unwrap();
}

impl Cluster {
    /// A cluster that ran once, and is stopped.
    async fn begin() -> Self {
        let cluster = Self {
            directory: tempfile::tempdir().unwrap(),
            base_port: free_ports(),
            running: BTreeMap::new(),
        };
        let mut command = program();
        command.args(["dev-cluster", &BROKERS.to_string(), "--base-port", &cluster.base_port.to_string()]);
        command.arg("--data-dir").arg(cluster.directory.path()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..BROKERS {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
            assert!(line.expect("a line for each broker").contains(" ready: "));
        }
        cluster.healthy(&[0, 1, 2]).await;
        end(&mut child).await;
        cluster
    }

    fn folder(&self, broker: u16) -> PathBuf {
        self.directory.path().join(format!("broker-{broker}"))
    }

    fn log(&self, broker: u16) -> String {
        std::fs::read_to_string(self.folder(broker).join("log")).unwrap()
    }

    fn address(&self, broker: u16, of: u16) -> String {
        format!("127.0.0.1:{}", self.base_port + broker * PORTS_PER_BROKER + of)
    }

    fn secret_file(&self) -> PathBuf {
        self.directory.path().join("peers.secret")
    }

    /// Changes the configuration of a broker.
    fn configure(&self, broker: u16, change: impl FnOnce(String) -> String) {
        let file = self.folder(broker).join("baton.yaml");
        let text = std::fs::read_to_string(&file).unwrap();
        let changed = change(text.clone());
        assert_ne!(text, changed);
        std::fs::write(file, changed).unwrap();
    }

    fn start(&mut self, broker: u16) {
        let log = OpenOptions::new().append(true).open(self.folder(broker).join("log")).unwrap();
        let mut command = program();
        command.arg("start").arg("--config").arg(self.folder(broker).join("baton.yaml"));
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        assert!(self.running.insert(broker, child).is_none(), "it runs");
    }

    async fn stop(&mut self, broker: u16) {
        end(&mut self.running.remove(&broker).unwrap()).await;
    }

    /// The cluster as a broker sees it.
    async fn topology(&self, broker: u16) -> Option<Value> {
        let request = "GET /v2/topology HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let connected = TcpStream::connect(self.address(broker, 0)).await;
        connected.ok()?;
        let answer = exchange(&self.address(broker, 0), request.as_bytes()).await.ok()?;
        (answer.status == 200).then(|| answer.json())
    }

    /// Waits until these brokers say that they are well, and that one leads. Returns that one.
    async fn healthy(&self, brokers: &[u16]) -> u64 {
        let (deadline, mut looks) = (Instant::now() + PATIENCE, interval(LOOK));
        loop {
            looks.tick().await;
            let mut leaders = Vec::new();
            for broker in brokers {
                let topology = self.topology(*broker).await.unwrap_or_default();
                let all = topology["brokers"].as_array().cloned().unwrap_or_default();
                let partition = |of: &Value| of["partitions"][0].clone();
                let well = all.iter().filter(|of| partition(of)["health"] == "healthy").count();
                let mut leads = all.iter().filter(|of| partition(of)["role"] == "leader");
                if let (true, Some(leader)) = (well == brokers.len(), leads.next()) {
                    leaders.push(leader["nodeId"].as_u64().unwrap());
                }
            }
            if leaders.len() == brokers.len() && leaders.iter().all(|leader| *leader == leaders[0]) {
                return leaders[0];
            }
            assert!(Instant::now() < deadline, "brokers {brokers:?} do not settle: {leaders:?}");
        }
    }

    /// A command at each of these brokers succeeds.
    async fn work(&self, brokers: &[u16]) {
        let body = json!({"name": "news", "correlationKey": "1", "timeToLive": 0}).to_string();
        for broker in brokers {
            let head =
                "POST /v2/messages/publication HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
            let request =
                format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            let answer = exchange(&self.address(*broker, 0), request.as_bytes()).await.unwrap();
            assert_eq!(answer.status, 200, "broker {broker}: {answer:?}");
        }
    }

    async fn until_logged(&self, broker: u16, text: &str) -> String {
        let (deadline, mut looks) = (Instant::now() + PATIENCE, interval(LOOK));
        loop {
            looks.tick().await;
            let log = self.log(broker);
            if let Some(line) = log.lines().rev().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            assert!(Instant::now() < deadline, "broker {broker} does not say '{text}':\n{log}");
        }
    }

    /// The identity that a broker has now.
    fn identity(&self, broker: u16) -> BrokerIdentity {
        let text = std::fs::read_to_string(self.folder(broker).join("data/broker.json")).unwrap();
        let known: Value = serde_json::from_str(&text).unwrap();
        BrokerIdentity {
            cluster_id: known["cluster_id"].as_str().unwrap().to_owned(),
            broker: u32::from(broker),
            directory: known["directory"].as_u64().unwrap(),
            life: known["life"].as_u64().unwrap(),
            engine_versions: (protocol::ENGINE_VERSION, protocol::ENGINE_VERSION),
        }
    }

    /// Connects to a broker as another one.
    fn connect(&self, to: u16, from: BrokerIdentity, secret: Option<&str>) -> Peer {
        let secret = secret.map(|secret| PeerSecret::new(secret).unwrap());
        let options = TransportOptions { secret, ..TransportOptions::default() };
        Peer::new(from, u32::from(to), self.address(to, PEERS), options)
    }
}

async fn refusal(peer: &Peer) -> String {
    let mut status = peer.status();
    let settled = status.wait_for(|status| !matches!(status, PeerStatus::Connecting));
    let settled = timeout(PATIENCE, settled).await.expect("it is refused").unwrap().clone();
    match settled {
        PeerStatus::Down(reason) => reason,
        other => panic!("{other:?}"),
    }
}

async fn call(peer: &Peer, request: Vec<u8>) -> Result<Vec<u8>, CallError> {
    let answer = timeout(PATIENCE, peer.call(Lane::Requests, request.into())).await.expect("an answer");
    answer.map(|answer| answer.to_vec())
}

/// The bytes that come back for some that a stranger sends, until the connection is closed.
async fn answer_to(address: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = Vec::new();
    // It may be reset: not everything is read.
    let _ = stream.write_all(bytes).await;
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("it is closed");
    answer
}

#[tokio::test]
async fn whoever_has_no_more_than_a_socket_to_the_port_for_brokers_is_told_and_changes_nothing() {
    let mut cluster = Cluster::begin().await;
    let mode = std::fs::metadata(cluster.secret_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for broker in 0..BROKERS {
        cluster.start(broker);
    }
    let leader = cluster.healthy(&[0, 1, 2]).await;
    let lines = |cluster: &Cluster| -> usize { (0..BROKERS).map(|of| cluster.log(of).lines().count()).sum() };
    let before = lines(&cluster);
    let http = b"GET /actuator/cluster HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let frame = |kind: u8| [&[1, 0, 0, 0, 2, 1, 2, 0][..], &[0; 16], &[kind]].concat();
    for broker in 0..BROKERS {
        let address = cluster.address(broker, PEERS);
        let mut sent: Vec<Vec<u8>> = KINDS.map(frame).collect();
        sent.extend([
            http.to_vec(),
            vec![0; 48],
            vec![255; 4096],
            vec![22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3],
        ]);
        for bytes in &mut sent {
            bytes.resize(bytes.len().max(48), 0);
        }
        for bytes in sent {
            assert_eq!(answer_to(&address, &bytes).await, b"", "{bytes:?}");
        }
        // Strangers that speak the protocol, and know more than they could.
        let other = cluster.identity((broker + 1) % BROKERS);
        let strangers = [
            other.clone(),
            BrokerIdentity { life: other.life + 1000, ..other.clone() },
            BrokerIdentity { broker: 7, ..other.clone() },
            BrokerIdentity { cluster_id: "elsewhere".to_owned(), ..other.clone() },
            BrokerIdentity { engine_versions: (900, 901), ..other.clone() },
        ];
        for stranger in strangers {
            for secret in [None, Some("not the secret of this cluster, but long enough")] {
                let peer = cluster.connect(broker, stranger.clone(), secret);
                let reason = refusal(&peer).await;
                assert!(reason.contains("closed without an answer"), "{reason}");
                assert!(!reason.contains("dev"), "the ID of the cluster: {reason}");
                let error = call(&peer, vec![HASH_DIFFERS]).await.unwrap_err();
                assert!(matches!(error, CallError::NotSent(_)), "{error}");
            }
        }
    }
    assert!(lines(&cluster) - before <= usize::from(BROKERS) * 4, "strangers fill the logs");
    assert_eq!(cluster.healthy(&[0, 1, 2]).await, leader);
    cluster.work(&[0, 1, 2]).await;
}

#[tokio::test]
async fn a_broker_of_the_cluster_speaks_for_itself_alone() {
    let mut cluster = Cluster::begin().await;
    for broker in 0..BROKERS {
        cluster.start(broker);
    }
    cluster.healthy(&[0, 1, 2]).await;
    cluster.stop(2).await;
    let leader = cluster.healthy(&[0, 1]).await as u16;
    let follower = 1 - leader;
    let secret = std::fs::read_to_string(cluster.secret_file()).unwrap();
    let (of_2, of_follower) = (cluster.identity(2), cluster.identity(follower));
    let refused = [
        (BrokerIdentity { broker: 7, ..of_2.clone() }, "have no number 7"),
        (BrokerIdentity { cluster_id: "elsewhere".to_owned(), ..of_2.clone() }, "cluster 'elsewhere'"),
        (
            BrokerIdentity { life: of_follower.life + 1, ..of_follower.clone() },
            "another life of the same broker",
        ),
        (
            BrokerIdentity { directory: 1, ..of_follower },
            "another life of the same broker, or another directory",
        ),
    ];
    for (from, reason) in refused {
        let told = refusal(&cluster.connect(leader, from, Some(&secret))).await;
        assert!(told.contains(reason), "{told}");
    }
    let next_life = BrokerIdentity { life: of_2.life + 1, ..of_2 };
    for to in [leader, follower] {
        let peer = cluster.connect(to, next_life.clone(), Some(&secret));
        let failed = async |request: Vec<u8>, reason: &str| match call(&peer, request).await.unwrap_err() {
            CallError::Failed(why) => assert!(why.contains(reason), "{why}"),
            other => panic!("{other}"),
        };
        failed(vec![HASH_DIFFERS], "what to compare").await;
        failed(vec![0], "another kind").await;
        failed(vec![200, 1], "another kind").await;
        if to == follower {
            failed(vec![STAND_FOR_ELECTION], "broker 2 does not lead").await;
        }
        let entry = Batch {
            engine_version: 0,
            timestamp_ms: 0,
            commands: vec![EngineCommand::Tick],
            demand: vec![],
            // A number of broker 0.
            origin: Some(BatchOrigin { number: 7, term: 1 }),
            digest: None,
        };
        failed([&[ENTER][..], &entry.encode()].concat(), "none of broker 2").await;
        // A doubt is looked into; the others do not share it.
        for of in [0, 1] {
            for about in [1_u64, 20, u64::MAX] {
                let doubt = [&[HASH_DIFFERS][..], &about.to_be_bytes(), &[of]].concat();
                call(&peer, doubt).await.unwrap();
            }
        }
        cluster.until_logged(to, "doubts the state of this replica").await;
    }
    assert_eq!(cluster.healthy(&[0, 1]).await, u64::from(leader));
    cluster.work(&[0, 1]).await;
    cluster.start(2);
    cluster.healthy(&[0, 1, 2]).await;
    cluster.work(&[0, 1, 2]).await;
}

#[tokio::test]
async fn a_cluster_that_others_could_take_over_does_not_start() {
    let directory = tempfile::tempdir().unwrap();
    let start = async |settings: &[&str]| {
        let mut command = program();
        command.arg("start").arg("--data-dir").arg(directory.path());
        command.args(["--set", "cluster.brokers=0=127.0.0.1:1,1=127.0.0.1:2"]);
        command.args(settings.iter().flat_map(|setting| ["--set", setting]));
        let output = timeout(PATIENCE, command.output()).await.expect("it ends").unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let loopback = "peers.listen=127.0.0.1:0";
    for (settings, reason) in [
        (&[][..], "'peers.listen' (0.0.0.0:26502)"),
        (&["peers.listen=[::]:0"][..], "'peers.listen' ([::]:0)"),
        (
            &[loopback, "security.authentication.method=basic"][..],
            "'security.authentication.method' is basic",
        ),
        (&["peers.secret=short"][..], "'peers.secret': it has 5 characters"),
    ] {
        let (code, told) = start(settings).await;
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(reason) && !told.contains("short"), "{told}");
    }
    let (code, told) = start(&["peers.secret_file=/nowhere/secret"]).await;
    assert!(code == Some(2) && told.contains("'peers.secret_file' (/nowhere/secret)"), "{code:?} {told}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was begun");
}

#[tokio::test]
async fn lists_that_differ_from_the_members_are_refused_and_settings_that_differ_are_told() {
    let mut cluster = Cluster::begin().await;
    let line = |text: &str| text.lines().find(|line| line.contains("brokers:")).unwrap().to_owned();
    let right = line(&std::fs::read_to_string(cluster.folder(0).join("baton.yaml")).unwrap());
    let fewer = right.rsplit_once(',').unwrap().0.to_owned();
    let more = format!("{right}, 3=127.0.0.1:1");
    let mut before = right.clone();
    for (list, named) in [(more, "{0, 1, 2, 3}"), (fewer, "{0, 1}")] {
        for broker in [0, 1] {
            cluster.configure(broker, |text| text.replace(&before, &list));
            cluster.start(broker);
            let mut child = cluster.running.remove(&broker).unwrap();
            let status = timeout(PATIENCE, child.wait()).await.expect("it does not run on").unwrap();
            assert!(!status.success());
            let told = cluster.until_logged(broker, "cluster.brokers names").await;
            assert!(told.contains(named) && told.contains("{0, 1, 2}"), "{told}");
        }
        before = list;
    }
    for broker in [0, 1] {
        cluster.configure(broker, |text| text.replace(&before, &right));
    }
    cluster.configure(1, |text| text + "limits:\n  max_message_bytes: 3MiB\n");
    for broker in 0..BROKERS {
        cluster.start(broker);
    }
    cluster.healthy(&[0, 1, 2]).await;
    for (broker, there) in [(0, "3MiB there"), (2, "3MiB there"), (1, "4MiB there")] {
        let told = cluster.until_logged(broker, "a broker has other settings").await;
        assert!(told.contains("limits.max_message_bytes") && told.contains(there), "{told}");
    }
    let mut status = program();
    status.args(["status", "--rest-address", &format!("http://{}", cluster.address(0, 0))]);
    let status = String::from_utf8(status.output().await.unwrap().stdout).unwrap();
    assert!(status.contains("voters: brokers 0, 1, 2"), "{status}");
    assert!(status.contains("limits.max_message_bytes differs: 4MiB here, 3MiB on broker 1"), "{status}");
    // An address of its own at which the others do not reach it.
    for broker in 0..BROKERS {
        cluster.stop(broker).await;
        let (wrong, own) = ("2=127.0.0.1:1", format!("2={}", cluster.address(2, PEERS)));
        cluster.configure(broker, |text| text.replace(&own, wrong));
        cluster.start(broker);
    }
    let told = cluster.until_logged(2, "does not reach this one").await;
    assert!(told.contains("127.0.0.1:1"), "{told}");
}
