//! Connections to the other brokers of a cluster, and what this one asks of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Buf, Bytes};
use protocol::{ENGINE_VERSION, PartitionId};
use tokio_util::sync::{CancellationToken, DropGuard};
use transport::{
    Attachment, BrokerIdentity, Lane, Network, Peer, PeerStatus, Served, TransportOptions, serve,
};

use crate::agreement::{Agreement, AgreementStatus};
use crate::bootstrap::Vote;
use crate::clock::ClusterClock;
use crate::identity::Identity;
use crate::known_replicas::KnownReplicas;
use crate::options::PeerOptions;
use crate::peer_request::RequestKind;
use crate::peers::{ReplicaGroups, ReplicaPeers, ask, clear};
use crate::rooms::Rooms;
use crate::service::{BrokerService, Handlers};
use crate::store_copies::StoreCopies;

/// Says that a broker is to stand for election though its disk has no room.
pub const WITHOUT_ROOM: u8 = 1;

/// The place of a broker in a cluster.
#[derive(Debug)]
pub struct Replica {
    /// Peer addresses of all brokers, `host:port`, by their numbers; this one's, too.
    pub brokers: BTreeMap<u32, String>,
    /// The way to the others, and the port that they connect to.
    pub attachment: Attachment,
}

/// The other brokers.
pub struct Links {
    /// Connections to the other brokers.
    pub peers: Arc<ReplicaPeers>,
    /// Replicas of this broker that others reach.
    pub groups: ReplicaGroups,
    /// Copies of the store on their way.
    pub copies: Arc<StoreCopies>,
    brokers: BTreeMap<u32, String>,
    /// Clocks of the others beside this broker's.
    pub clock: Arc<ClusterClock>,
    pub(crate) agreement: Arc<Agreement>,
    /// Room on the disks of the others.
    pub rooms: Rooms,
    handlers: Arc<Handlers>,
    /// This broker in this life.
    pub identity: Identity,
    /// Directory of everything durable.
    pub data_dir: PathBuf,
    /// Memory of the other replicas.
    pub known: Arc<KnownReplicas>,
    /// Set when others remember what this replica lacks, with the reason.
    went_back: OnceLock<String>,
    /// Cancelled when others reach this broker no more.
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
        secret: options.secret.clone(),
        compresses: options.compresses,
        ..TransportOptions::default()
    }
}

impl Replica {
    pub(crate) fn transport(&self, options: &PeerOptions) -> TransportOptions {
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
    /// Listens to the other brokers and connects to them. In the data directory, `snapshots` holds snapshots under way.
    pub fn open(
        replica: Replica,
        identity: &Identity,
        vote: &Arc<Vote>,
        data_dir: &Path,
        options: &PeerOptions,
    ) -> std::io::Result<Self> {
        let scratch = &data_dir.join("snapshots");
        std::fs::create_dir_all(scratch)?;
        clear(scratch)?;
        let known = Arc::new(KnownReplicas::open(data_dir)?);
        let peers = replica.peers(identity, options);
        let pace = options.snapshot_bytes_per_second;
        let peers = Arc::new(ReplicaPeers::paced(peers, scratch.to_owned(), pace));
        let (served_options, told) = (replica.transport(options), as_told(identity));
        let groups = ReplicaGroups::new(scratch.to_owned());
        let copies = Arc::new(StoreCopies::new(scratch));
        let handlers = Arc::new(Handlers::default());
        let stop = CancellationToken::new();
        let Replica { brokers, attachment: Attachment { listener, .. } } = replica;
        let agreement = Arc::new(Agreement::new(brokers.clone(), &options.settings));
        let service = Arc::new(BrokerService {
            agreement: Arc::clone(&agreement),
            groups: groups.clone(),
            copies: Arc::clone(&copies),
            handlers: Arc::clone(&handlers),
            vote: Arc::clone(vote),
            peers: Arc::clone(&peers),
            known: Arc::clone(&known),
            brokers: brokers.clone(),
        });
        let served = Arc::new(Served::default());
        tokio::spawn(serve(listener, told, service, served_options, served, stop.clone()));
        let ends_with_this = stop.clone().drop_guard();
        let closed = stop;
        Ok(Self {
            agreement,
            peers,
            groups,
            copies,
            brokers,
            clock: Arc::default(),
            rooms: Rooms::default(),
            handlers,
            identity: identity.clone(),
            data_dir: data_dir.to_owned(),
            known,
            went_back: OnceLock::new(),
            closed,
            _ends_with_this: ends_with_this,
        })
    }

    /// Handlers of requests of others; as long as one is missing, the broker starts.
    pub fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// Notes that this replica lacks something that others remember.
    pub fn went_back(&self, reason: String) {
        // The first reason is enough.
        let _ = self.went_back.set(reason);
    }

    /// Reason of the first broker that remembers what this replica lacks, if any.
    pub fn lacks(&self) -> Option<&str> {
        self.went_back.get().map(String::as_str)
    }

    /// Closes the connections: others reach this broker no more.
    pub fn close(&self) {
        self.closed.cancel();
        self.peers.close();
        self.groups.clear();
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

    /// The part of the status about settings, and the reasons why this broker does not reach some others.
    pub fn agreement_status(&self) -> AgreementStatus {
        let unreached = self.peers.all().iter().filter_map(|(broker, peer)| match &*peer.status().borrow() {
            PeerStatus::Down(reason) => Some((u32::try_from(*broker).ok()?, reason.clone())),
            PeerStatus::Connecting | PeerStatus::Connected(_) => None,
        });
        self.agreement.status(unreached.collect())
    }

    /// The voters of a group, by their numbers.
    pub fn voters(&self) -> BTreeMap<u64, String> {
        self.brokers.iter().map(|(broker, address)| (u64::from(*broker), address.clone())).collect()
    }

    /// Peer addresses of all brokers, by their numbers.
    pub fn brokers(&self) -> &BTreeMap<u32, String> {
        &self.brokers
    }

    /// Number of brokers in the cluster.
    pub fn cluster_size(&self) -> u32 {
        self.brokers.len() as u32
    }

    /// Asks all other brokers at once, with a time-out. An error is the reason why there is no answer.
    pub async fn ask_all(&self, request: &Bytes, time: Duration) -> Vec<(u32, Result<Bytes, String>)> {
        let asked = self.brokers().keys().filter_map(|broker| {
            let peer = self.peers.peer(u64::from(*broker))?;
            Some(async move { (*broker, ask(peer, request.clone(), time).await) })
        });
        futures::future::join_all(asked).await
    }

    /// Lets a follower of a partition ask for the votes of all; `without_room`: also if its disk has none.
    pub async fn stand_for_election(
        &self,
        follower: u64,
        partition: PartitionId,
        without_room: bool,
    ) -> Result<(), String> {
        let peer = self.peers.peer(follower).ok_or("the follower has no address")?;
        let head = RequestKind::StandForElection.of_partition(partition);
        let request = head.with(if without_room { &[WITHOUT_ROOM] } else { &[] });
        let answer = peer.call(Lane::Requests, request).await;
        answer.map(drop).map_err(|error| error.to_string())
    }

    /// Asks the leader of a partition to hand it over, to a broker or to any.
    pub async fn hand_over(
        &self,
        leader: u64,
        partition: PartitionId,
        to: Option<u32>,
    ) -> Result<u32, String> {
        let peer = self.peers.peer(leader).ok_or("the leader has no address")?;
        let to = to.map(u32::to_be_bytes);
        let head = RequestKind::HandOver.of_partition(partition);
        let message = head.with(to.as_ref().map_or(&[], |to| &to[..]));
        let answer = peer.call(Lane::Requests, message).await;
        answer.map_err(|error| error.to_string())?.try_get_u32().map_err(|error| error.to_string())
    }
}
