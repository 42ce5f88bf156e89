//! Requests of other brokers, and the way to their handlers.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use protocol::PartitionId;
use transport::{BrokerIdentity, Lane, Parts, PeerService, PeerStatus, Refusal, Reply};

use crate::agreement::Agreement;
use crate::bootstrap::{Stage, Vote};
use crate::known_replicas::KnownReplicas;
use crate::peer_request::{RequestHead, RequestKind};
use crate::peers::{ReplicaGroups, ReplicaPeers};
use crate::store_copies::StoreCopies;

/// Answers requests of one kind, of a broker by its number, about a partition.
pub type Handler = Box<dyn Fn(u32, PartitionId, Bytes) -> Reply + Send + Sync>;

/// Handlers of the kinds of requests that are not about connections themselves.
#[derive(Default)]
pub struct Handlers([OnceLock<Handler>; RequestKind::COUNT]);

impl Handlers {
    /// Registers the handler of a kind, once.
    pub fn register(&self, kind: RequestKind, handler: Handler) {
        assert!(self.0[kind.place()].set(handler).is_ok(), "{kind:?} has a handler already");
    }

    fn get(&self, kind: RequestKind) -> Option<&Handler> {
        self.0[kind.place()].get()
    }
}

/// The service of this broker for others.
pub(crate) struct BrokerService {
    pub groups: ReplicaGroups,
    pub copies: Arc<StoreCopies>,
    pub handlers: Arc<Handlers>,
    pub vote: Arc<Vote>,
    pub peers: Arc<ReplicaPeers>,
    pub agreement: Arc<Agreement>,
    pub known: Arc<KnownReplicas>,
    pub brokers: BTreeMap<u32, String>,
}

fn at_once(reply: Result<Bytes, String>) -> Reply {
    Box::pin(std::future::ready(reply))
}

impl PeerService for BrokerService {
    /// Takes the brokers of the list, each as what it says of itself at its own address.
    fn check(&self, from: &BrokerIdentity) -> Result<(), Refusal> {
        if !self.brokers.contains_key(&from.broker) {
            return Err(Refusal::Unlisted { broker: from.broker });
        }
        let Some(peer) = self.peers.peer(u64::from(from.broker)) else { return Ok(()) };
        match &*peer.status().borrow() {
            PeerStatus::Connected(known) if (known.directory, known.life) != (from.directory, from.life) => {
                let reason = "another life of the same broker, or another directory, answers at its address";
                Err(Refusal::Stale(reason.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn call(&self, from: &BrokerIdentity, lane: Lane, request: Bytes) -> Reply {
        use RequestKind as Kind;
        let Some((RequestHead { kind, partition }, rest)) = RequestHead::split(request.clone()) else {
            return at_once(Err("a request of another kind".to_owned()));
        };
        let broker = from.broker;
        match kind {
            Kind::ToGroup | Kind::SnapshotReceived => self.groups.call(from, lane, request),
            Kind::Brokers => {
                let brokers = serde_json::to_vec(&self.brokers).map(Bytes::from);
                at_once(brokers.map_err(|error| error.to_string()))
            }
            Kind::Bootstrap => at_once(self.vote.answer(&self.brokers, &rest)),
            Kind::Settings => at_once(Ok(self.agreement.tell())),
            Kind::Snapshot => at_once(Err("a snapshot comes in parts".to_owned())),
            // A broker that has no replica yet remembers what it has in its file.
            Kind::Present if self.handlers.get(kind).is_none() && self.vote.stage() != Stage::Voter => {
                at_once(self.known.answer(broker, &rest, &BTreeMap::new()))
            }
            Kind::OfPartition => unreachable!("the head has the kind inside"),
            Kind::Status
            | Kind::Enter
            | Kind::ReadIndex
            | Kind::StandForElection
            | Kind::HandOver
            | Kind::Admit
            | Kind::Records
            | Kind::Shown
            | Kind::ReplayParked
            | Kind::StoreQuery
            | Kind::StoreShown
            | Kind::Compare
            | Kind::HashWanted
            | Kind::Hash
            | Kind::HashDiffers
            | Kind::Digest
            | Kind::ExportOrder
            | Kind::Pause
            | Kind::StoreCopy
            | Kind::Present => match self.handlers.get(kind) {
                Some(handler) => handler(broker, partition, rest),
                None => at_once(Err("the broker starts or stops".to_owned())),
            },
        }
    }

    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply {
        if RequestKind::of(&head) == Some(RequestKind::StoreCopy) {
            let (copies, from) = (Arc::clone(&self.copies), from.broker);
            return Box::pin(async move { copies.receive(from, parts).await });
        }
        self.groups.upload(from, head, parts)
    }
}
