//! Connections to the other brokers of a cluster: what they ask of this one, and what this one asks of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use broker_api::BrokerInfo;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use protocol::{Batch, ENGINE_VERSION, FIRST_PARTITION};
use replication::{Payload, ProposeError};
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{
    Attachment, BrokerIdentity, CallError, Lane, Network, Parts, Peer, PeerService, Reply, Served,
    TransportOptions, serve,
};

use crate::admission::admit;
use crate::bootstrap::Vote;
use crate::cluster_clock::ClusterClock;
use crate::cluster_exporting::{self, ExportOrders};
use crate::cluster_pause::{PauseOrder, obey};
use crate::cluster_status::{Hearing, status};
use crate::comparison;
use crate::flow_control::Class;
use crate::identity::Identity;
use crate::node::{Node, class};
use crate::options::PeerOptions;
use crate::peer_request::RequestKind;
use crate::peers::{ReplicaGroups, ReplicaPeers, ask, clear};
use crate::shared_exports::{self, ShownQuestion, tell_shown};
use crate::shared_parking::replay_for;
use crate::store_copies::{StoreCopies, give};
use crate::store_queries;

/// First bytes of the answer to an entry.
const APPLIED: u8 = 0;
const FULL: u8 = 1;
const OPEN: u8 = 2;

/// The place of a broker in a cluster.
#[derive(Debug)]
pub struct Replica {
    /// Peer addresses of all brokers, `host:port`, by their numbers; this one's, too.
    pub brokers: BTreeMap<u32, String>,
    /// The way to the others, and the port that they connect to.
    pub attachment: Attachment,
}

/// The fate of an entry that was handed to the leader.
pub(crate) enum Fate {
    /// It is applied there.
    Applied,
    /// The leader has no room for it; it is not in the log.
    Full(String),
    /// It is not in the log.
    NotAppended,
    /// It may be in the log, now or later.
    Open,
}

/// The other brokers.
pub(crate) struct Links {
    pub peers: Arc<ReplicaPeers>,
    pub groups: ReplicaGroups,
    pub copies: Arc<StoreCopies>,
    brokers: BTreeMap<u32, String>,
    pub statuses: Mutex<BTreeMap<u32, BrokerInfo>>,
    pub hearing: Hearing,
    pub clock: Arc<ClusterClock>,
    pub export_orders: ExportOrders,
    pub shown: ShownQuestion,
    /// Held while the members of the group are changed.
    pub changing_members: tokio::sync::Mutex<()>,
    /// The order to pause processing that is in force on this broker, and those on others.
    pub pause: Mutex<PauseOrder>,
    pub pauses: Mutex<BTreeMap<u32, PauseOrder>>,
    pub node: Arc<OnceLock<Weak<Node>>>,
    /// Ends the service for others.
    closed: CancellationToken,
    _ends_with_this: DropGuard,
}

/// A broker as it introduces itself to others.
pub(crate) fn as_told(identity: &Identity) -> BrokerIdentity {
    BrokerIdentity {
        cluster_id: identity.cluster_id.clone(),
        broker: identity.broker,
        directory: identity.directory,
        life: identity.life,
        engine_versions: (ENGINE_VERSION, ENGINE_VERSION),
    }
}

/// Connections as they are configured, over a network.
pub(crate) fn transport_options(network: Arc<dyn Network>, options: &PeerOptions) -> TransportOptions {
    TransportOptions {
        network,
        certificates: options.certificates.clone(),
        compresses: options.compresses,
        ..TransportOptions::default()
    }
}

impl Replica {
    fn transport(&self, options: &PeerOptions) -> TransportOptions {
        transport_options(Arc::clone(&self.attachment.network), options)
    }

    /// Connections to the other brokers, by their numbers.
    pub(crate) fn peers(&self, identity: &Identity, options: &PeerOptions) -> BTreeMap<u64, Peer> {
        let (transport, told) = (self.transport(options), as_told(identity));
        let others = self.brokers.iter().filter(|(broker, _)| **broker != identity.broker);
        let connect = |(broker, address): (&u32, &String)| {
            (u64::from(*broker), Peer::new(told.clone(), *broker, address.clone(), transport.clone()))
        };
        others.map(connect).collect()
    }
}

impl Links {
    /// Listens to the other brokers and connects to them. In the data directory, `snapshots` holds snapshots under way,
    /// and `export` orders to exporters.
    pub fn open(
        replica: Replica,
        identity: &Identity,
        vote: &Arc<Vote>,
        data_dir: &Path,
        options: &PeerOptions,
    ) -> std::io::Result<Self> {
        let (scratch, export) = (&data_dir.join("snapshots"), &data_dir.join("export"));
        std::fs::create_dir_all(scratch)?;
        std::fs::create_dir_all(export)?;
        clear(scratch)?;
        let export_orders = ExportOrders::open(export)?;
        let peers = replica.peers(identity, options);
        let (served_options, identity) = (replica.transport(options), as_told(identity));
        let groups = ReplicaGroups::new(scratch.to_owned());
        let copies = Arc::new(StoreCopies::new(scratch));
        let node = Arc::new(OnceLock::new());
        let stop = CancellationToken::new();
        let Replica { brokers, attachment: Attachment { listener, .. } } = replica;
        let service = Arc::new(BrokerService {
            groups: groups.clone(),
            copies: Arc::clone(&copies),
            node: Arc::clone(&node),
            vote: Arc::clone(vote),
            brokers: brokers.clone(),
        });
        let served = Arc::new(Served::default());
        tokio::spawn(serve(listener, identity, service, served_options, served, stop.clone()));
        let pace = options.snapshot_bytes_per_second;
        let peers = Arc::new(ReplicaPeers::paced(peers, scratch.to_owned(), pace));
        let (statuses, ends_with_this) = (Mutex::default(), stop.clone().drop_guard());
        let (pause, pauses) = (Mutex::default(), Mutex::default());
        let closed = stop;
        Ok(Self {
            peers,
            groups,
            copies,
            brokers,
            statuses,
            hearing: Hearing::default(),
            clock: Arc::default(),
            export_orders,
            shown: ShownQuestion::default(),
            changing_members: tokio::sync::Mutex::default(),
            pause,
            pauses,
            node,
            closed,
            _ends_with_this: ends_with_this,
        })
    }

    /// The broker answers others from now on.
    pub fn attend(&self, node: &Arc<Node>) {
        // It is told once.
        let _ = self.node.set(Arc::downgrade(node));
    }

    /// Others reach this broker no more.
    pub fn close(&self) {
        self.closed.cancel();
        self.peers.close();
        drop(self.groups.remove(u64::from(FIRST_PARTITION)));
    }

    /// Resolves when others reach this broker no more.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Cancelled when others reach this broker no more.
    pub fn closing(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// The numbers of the other brokers.
    pub fn other_numbers(&self) -> Vec<u64> {
        let numbers = self.brokers.keys().map(|broker| u64::from(*broker));
        numbers.filter(|number| self.peers.peer(*number).is_some()).collect()
    }

    /// The voters of a group, by their numbers.
    pub fn voters(&self) -> BTreeMap<u64, String> {
        self.brokers.iter().map(|(broker, address)| (u64::from(*broker), address.clone())).collect()
    }

    /// Peer addresses of all brokers, by their numbers.
    pub fn brokers(&self) -> &BTreeMap<u32, String> {
        &self.brokers
    }

    pub fn cluster_size(&self) -> u32 {
        self.brokers.len() as u32
    }

    /// Asks all others at once, each for so long at the most. An error is the reason why there is no answer.
    pub async fn ask_all(&self, request: &Bytes, time: Duration) -> Vec<(u32, Result<Bytes, String>)> {
        let asked = self.brokers().keys().filter_map(|broker| {
            let peer = self.peers.peer(u64::from(*broker))?;
            Some(async move { (*broker, ask(peer, request.clone(), time).await) })
        });
        futures::future::join_all(asked).await
    }

    /// Hands an entry to the leader.
    pub async fn enter(&self, leader: u64, batch: &[u8]) -> Fate {
        let Some(peer) = self.peers.peer(leader) else { return Fate::NotAppended };
        match peer.call(Lane::Requests, RequestKind::Enter.with(batch)).await {
            Ok(mut answer) => match (answer.try_get_u8(), answer) {
                (Ok(APPLIED), _) => Fate::Applied,
                (Ok(FULL), reason) => Fate::Full(String::from_utf8_lossy(&reason).into_owned()),
                _ => Fate::Open,
            },
            Err(CallError::Lost(_)) => Fate::Open,
            Err(CallError::NotSent(_) | CallError::Failed(_) | CallError::TooLarge { .. }) => {
                Fate::NotAppended
            }
        }
    }

    /// The log index that a read must have applied.
    pub async fn read_index(&self, leader: u64) -> Result<u64, String> {
        let peer = self.peers.peer(leader).ok_or("the leader has no address")?;
        let answer = peer.call(Lane::Requests, RequestKind::ReadIndex.alone()).await;
        answer.map_err(|error| error.to_string())?.try_get_u64().map_err(|error| error.to_string())
    }

    /// Lets a follower ask for the votes of all.
    pub async fn stand_for_election(&self, follower: u64) -> Result<(), String> {
        let peer = self.peers.peer(follower).ok_or("the follower has no address")?;
        let answer = peer.call(Lane::Requests, RequestKind::StandForElection.alone()).await;
        answer.map(drop).map_err(|error| error.to_string())
    }

    /// Has the leader hand over, to a broker or to any.
    pub async fn hand_over(&self, leader: u64, to: Option<u32>) -> Result<u32, String> {
        let peer = self.peers.peer(leader).ok_or("the leader has no address")?;
        let to = to.map(u32::to_be_bytes);
        let message = RequestKind::HandOver.with(to.as_ref().map_or(&[], |to| &to[..]));
        let answer = peer.call(Lane::Requests, message).await;
        answer.map_err(|error| error.to_string())?.try_get_u32().map_err(|error| error.to_string())
    }
}

/// Requests of other brokers.
struct BrokerService {
    groups: ReplicaGroups,
    copies: Arc<StoreCopies>,
    node: Arc<OnceLock<Weak<Node>>>,
    vote: Arc<Vote>,
    brokers: BTreeMap<u32, String>,
}

impl BrokerService {
    fn node(&self) -> Result<Arc<Node>, String> {
        self.node.get().and_then(Weak::upgrade).ok_or_else(|| "the broker starts or stops".to_owned())
    }

    /// The reply of a broker that is at work.
    fn at_node<F>(&self, reply: impl FnOnce(Arc<Node>) -> F) -> Reply
    where
        F: Future<Output = Result<Bytes, String>> + Send + 'static,
    {
        match self.node() {
            Ok(node) => Box::pin(reply(node)),
            Err(reason) => at_once(Err(reason)),
        }
    }
}

fn at_once(reply: Result<Bytes, String>) -> Reply {
    Box::pin(std::future::ready(reply))
}

impl PeerService for BrokerService {
    fn call(&self, from: &BrokerIdentity, lane: Lane, request: Bytes) -> Reply {
        use RequestKind as Kind;
        let Some(kind) = Kind::of(&request) else {
            return at_once(Err("a request of another kind".to_owned()));
        };
        let (broker, rest) = (from.broker, request.slice(1..));
        match kind {
            Kind::ToGroup | Kind::SnapshotReceived => self.groups.call(from, lane, request),
            Kind::Brokers => {
                let brokers = serde_json::to_vec(&self.brokers).map(Bytes::from);
                at_once(brokers.map_err(|error| error.to_string()))
            }
            Kind::Bootstrap => at_once(self.vote.answer(&self.brokers, &rest)),
            Kind::Status => at_once(self.node().and_then(|node| status(&node))),
            Kind::Enter => self.at_node(|node| async move { enter(&node, &rest).await }),
            Kind::ReadIndex => self.at_node(|node| async move { read_index(&node).await }),
            Kind::StandForElection => self.at_node(|node| async move { stand_for_election(&node).await }),
            Kind::HandOver => self.at_node(|node| async move { hand_over(&node, rest).await }),
            Kind::Admit => self.at_node(move |node| async move { admit(&node, broker).await }),
            Kind::Records => self.at_node(|node| async move { shared_exports::give(&node, rest).await }),
            Kind::Shown => self.at_node(|node| async move { tell_shown(&node, rest).await }),
            Kind::ReplayParked => self.at_node(|node| async move { replay_for(&node, rest).await }),
            Kind::StoreQuery | Kind::StoreShown => {
                self.at_node(move |node| async move { store_queries::answer(&node, kind, rest).await })
            }
            Kind::Compare | Kind::HashWanted | Kind::Hash | Kind::HashDiffers | Kind::Digest => {
                self.at_node(move |node| async move { comparison::answer(&node, kind, rest).await })
            }
            Kind::ExportOrder => {
                self.at_node(|node| async move { cluster_exporting::obey(&node, &rest).await })
            }
            Kind::Pause => self.at_node(|node| async move { obey(&node, &rest).await }),
            Kind::StoreCopy => self.at_node(move |node| async move { give(&node, broker, rest).await }),
            Kind::Snapshot => at_once(Err("a snapshot comes in parts".to_owned())),
        }
    }

    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply {
        if RequestKind::of(&head) == Some(RequestKind::StoreCopy) {
            let copies = Arc::clone(&self.copies);
            return Box::pin(async move { copies.receive(parts).await });
        }
        self.groups.upload(from, head, parts)
    }
}

/// Appends an entry of another broker. An error says that it is not in the log.
async fn enter(node: &Node, batch: &[u8]) -> Result<Bytes, String> {
    let mut batch = Batch::decode(batch).map_err(|error| error.to_string())?;
    if !node.leads() {
        return Err("this broker does not lead".to_owned());
    }
    let classes = batch.commands.iter().map(class);
    let is_new = classes.into_iter().any(|class| class == Class::New);
    if let Err(error) = node.check(if is_new { Class::New } else { Class::Begun }) {
        return Ok(said(FULL, error.to_string().as_bytes()));
    }
    node.shared.stamp(&mut batch);
    match node.group().propose(Payload::new(Bytes::from(batch.encode()))).await {
        Ok(_) => Ok(said(APPLIED, &[])),
        Err(error @ (ProposeError::NotLeader { .. } | ProposeError::TooLarge { .. })) => {
            Err(error.to_string())
        }
        Err(error) => Ok(said(OPEN, error.to_string().as_bytes())),
    }
}

async fn read_index(node: &Node) -> Result<Bytes, String> {
    let index = node.read_index_here().await.map_err(|error| error.to_string())?;
    Ok(Bytes::copy_from_slice(&index.to_be_bytes()))
}

/// Asks for the votes of all, unless this broker's clock is ahead.
async fn stand_for_election(node: &Node) -> Result<Bytes, String> {
    let clock = node.router.as_ref().map(|router| &router.links.clock);
    if let Some(clock) = clock.filter(|clock| clock.is_ahead()) {
        return Err(format!("the clock of this broker is {} ms ahead of the others'", clock.ahead_ms()));
    }
    let stood = node.group().stand_for_election().await;
    stood.map(|()| Bytes::new()).map_err(|error| error.to_string())
}

/// Hands over, if this broker leads: it does not ask another, which might ask it again.
async fn hand_over(node: &Node, mut request: Bytes) -> Result<Bytes, String> {
    let to = match request.len() {
        0 => None,
        _ => Some(request.try_get_u32().map_err(|error| error.to_string())?),
    };
    let router = node.router.as_ref().ok_or("this broker is alone")?;
    let leader = node.hand_over_here(router, to).await?;
    Ok(Bytes::copy_from_slice(&leader.to_be_bytes()))
}

fn said(kind: u8, text: &[u8]) -> Bytes {
    let mut answer = BytesMut::with_capacity(1 + text.len());
    answer.put_u8(kind);
    answer.put(text);
    answer.freeze()
}
