//! Replication between brokers: requests to the groups of others over connections, and their requests to groups here.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::RwLock;
use replication::{Group, PeerError, PeerFuture, PeerRequest, PeerResponse, RequestMessage, Transport};
use tokio::runtime::Handle;
use tokio::time::timeout;
use transport::{BrokerIdentity, Lane, Parts, Peer, PeerService, Reply};

use crate::metric_definitions::{SnapshotArrival, SnapshotEvent, snapshot_event};
use crate::peer_request::RequestKind;
use crate::replica_number::ReplicaNumber;
use crate::snapshot_transfer::{BYTES_PER_SECOND, SnapshotReceiver, SnapshotSender};
use data_directory::SyncedFile;

/// Bytes before the request: the kind, the group, and the replica that is meant.
const TO_GROUP_BYTES: usize = 1 + 8 + 8;
/// First bytes of an answer: the response, or the reason why the group has stopped.
const RESPONSE: u8 = 0;
const STOPPED: u8 = 1;

/// The other replicas, by the numbers that they have in groups.
pub struct ReplicaPeers {
    peers: BTreeMap<u64, Peer>,
    is_closed: AtomicBool,
    snapshots: SnapshotSender,
}

impl ReplicaPeers {
    /// Replicas with their connections, and a directory for snapshots under way.
    pub fn new(peers: BTreeMap<u64, Peer>, scratch: PathBuf) -> Self {
        Self::paced(peers, scratch, BYTES_PER_SECOND)
    }

    /// Replicas with their connections, a directory for snapshots under way, and the rate that these are sent at, in
    /// bytes per second.
    pub fn paced(peers: BTreeMap<u64, Peer>, scratch: PathBuf, snapshot_bytes_per_second: u64) -> Self {
        let snapshots = SnapshotSender::new(scratch, snapshot_bytes_per_second);
        Self { peers, is_closed: AtomicBool::new(false), snapshots }
    }

    /// The connection to a replica.
    pub fn peer(&self, node: u64) -> Option<&Peer> {
        let broker = u64::from(ReplicaNumber::of(node).broker);
        self.peers.get(&broker).filter(|_| !self.is_closed.load(Ordering::Acquire))
    }

    /// The connections by numbers of brokers.
    pub fn all(&self) -> &BTreeMap<u64, Peer> {
        &self.peers
    }

    /// Closes the connections: no request is sent any more.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    async fn send(&self, group: u64, node: u64, request: PeerRequest) -> Result<PeerResponse, PeerError> {
        let unreachable = |reason: String| PeerError::Unreachable(reason);
        let peer = self.peer(node);
        let peer = peer.ok_or_else(|| unreachable(format!("replica {node} has no address")))?;
        let RequestMessage { head, snapshot } = request.into_message();
        let answer = match snapshot {
            None => {
                let mut message = BytesMut::with_capacity(TO_GROUP_BYTES + head.len());
                message.put_u8(RequestKind::ToGroup as u8);
                message.put_u64(group);
                message.put_u64(node);
                message.put(head);
                peer.call(Lane::Consensus, message.freeze()).await.map_err(|error| error.to_string())
            }
            Some(body) => self.snapshots.send(peer, (group, node), &head, body).await,
        };
        let mut answer = answer.map_err(unreachable)?;
        match answer.split_to(answer.len().min(1)).first() {
            Some(&RESPONSE) => PeerResponse::decode(&answer).map_err(|error| unreachable(error.to_string())),
            Some(&STOPPED) => Err(PeerError::Stopped(String::from_utf8_lossy(&answer).into_owned())),
            _ => Err(unreachable("an answer of another form".to_owned())),
        }
    }
}

impl Transport for ReplicaPeers {
    fn call<'a>(&'a self, group: u64, node: u64, _: &'a str, request: PeerRequest) -> PeerFuture<'a> {
        Box::pin(self.send(group, node, request))
    }
}

/// The groups of this broker, as others reach them.
#[derive(Clone)]
pub struct ReplicaGroups {
    /// With the numbers that this broker's replicas have in them.
    groups: Arc<RwLock<HashMap<u64, (u64, Group)>>>,
    snapshots: SnapshotReceiver,
}

impl ReplicaGroups {
    /// No groups, and a directory for snapshots under way.
    pub fn new(scratch: PathBuf) -> Self {
        Self { groups: Arc::default(), snapshots: SnapshotReceiver::new(scratch) }
    }

    /// Adds a group, which others reach from now on.
    pub fn insert(&self, number: u64, replica: u64, group: Group) {
        self.groups.write().insert(number, (replica, group));
    }

    /// Removes a group: others reach it no more.
    pub fn remove(&self, number: u64) -> Option<Group> {
        self.groups.write().remove(&number).map(|(_, group)| group)
    }

    /// Removes all groups: others reach none any more.
    pub fn clear(&self) {
        self.groups.write().clear();
    }

    /// The group of a request, and the rest of it.
    fn find(&self, mut request: Bytes) -> Result<(Group, Bytes), String> {
        if request.len() < TO_GROUP_BYTES || RequestKind::of(&request) != Some(RequestKind::ToGroup) {
            return Err("a request of unknown kind".to_owned());
        }
        request.advance(1);
        let (number, replica) = (request.get_u64(), request.get_u64());
        Ok((self.group(number, replica)?, request))
    }

    /// The group, if this broker has the replica that is meant: another one must not answer for it.
    fn group(&self, number: u64, replica: u64) -> Result<Group, String> {
        let found = self.groups.read().get(&number).cloned();
        let (own, group) = found.ok_or_else(|| format!("there is no group {number} here"))?;
        if own != replica {
            return Err(format!("this is replica {own} of group {number}, not {replica}"));
        }
        Ok(group)
    }

    async fn answer(self, from: u32, request: Bytes) -> Result<Bytes, String> {
        let (group, head) = self.find(request)?;
        let request = PeerRequest::from_message(&head, None).map_err(|error| error.to_string())?;
        answer(&group, from, request).await
    }

    async fn receive(self, from: BrokerIdentity, message: Bytes, parts: Parts) -> Result<Bytes, String> {
        let _arrival = SnapshotArrival::begin();
        let received = self.snapshots.receive(&from, message, parts).await?;
        let group = self.group(received.group, received.replica)?;
        let request = PeerRequest::from_message(&received.head, Some(received.path.clone()));
        let request = request.map_err(|error| error.to_string())?;
        // The group may be installing the file when its sender goes away, and with it this future.
        let answering = tokio::spawn(async move {
            let answered = answer(&group, from.broker, request).await;
            drop(received);
            answered
        });
        let answered = answering.await.unwrap_or_else(|error| Err(error.to_string()));
        answered.inspect_err(|_| snapshot_event(SnapshotEvent::Refused))
    }
}

/// Asks brokers in turn until one gives an answer that can be read; tells which. An error has the reasons of all.
pub async fn ask_in_turn<T>(
    others: Vec<(u64, &Peer)>,
    lane: Lane,
    request: Bytes,
    time: Duration,
    read: impl Fn(Bytes) -> Result<T, String>,
) -> Result<(u64, T), String> {
    let mut reasons = Vec::new();
    for (other, peer) in others {
        match ask_over(peer, lane, request.clone(), time).await.and_then(&read) {
            Ok(answer) => return Ok((other, answer)),
            Err(reason) => reasons.push(format!("broker {other}: {reason}")),
        }
    }
    Err(reasons.join("; "))
}

/// Asks another broker, with a time-out. An error is the reason why there is no answer.
pub async fn ask(peer: &Peer, request: Bytes, time: Duration) -> Result<Bytes, String> {
    ask_over(peer, Lane::Requests, request, time).await
}

async fn ask_over(peer: &Peer, lane: Lane, request: Bytes, time: Duration) -> Result<Bytes, String> {
    match timeout(time, peer.call(lane, request)).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("no answer".to_owned()),
    }
}

pub async fn write_parts(path: PathBuf, mut parts: Parts) -> Result<(), String> {
    let written = tokio::task::spawn_blocking(move || {
        let failed = |error: std::io::Error| format!("'{}': {error}", path.display());
        let mut file = SyncedFile::new(File::create(&path).map_err(failed)?);
        while let Some(bytes) = Handle::current().block_on(parts.next())? {
            file.write_all(&bytes).map_err(failed)?;
        }
        file.finish().map_err(failed)
    });
    written.await.map_err(|error| error.to_string())?
}

/// Answers a request of a broker, which speaks for a replica of its own or is not heard.
async fn answer(group: &Group, from: u32, request: PeerRequest) -> Result<Bytes, String> {
    let sender = request.sender();
    if ReplicaNumber::of(sender).broker != from {
        return Err(format!("broker {from} has no replica {sender}"));
    }
    let (kind, bytes) = match group.answer(request).await {
        Ok(response) => (RESPONSE, response.encode()),
        Err(PeerError::Stopped(reason)) => (STOPPED, reason.into()),
        Err(PeerError::Unreachable(reason)) => return Err(reason),
    };
    let mut answer = BytesMut::with_capacity(1 + bytes.len());
    answer.put_u8(kind);
    answer.put(bytes);
    Ok(answer.freeze())
}

impl PeerService for ReplicaGroups {
    fn call(&self, from: &BrokerIdentity, _: Lane, request: Bytes) -> Reply {
        if RequestKind::of(&request) == Some(RequestKind::SnapshotReceived) {
            return Box::pin(std::future::ready(self.snapshots.received(from, request)));
        }
        Box::pin(self.clone().answer(from.broker, request))
    }

    fn upload(&self, from: &BrokerIdentity, head: Bytes, parts: Parts) -> Reply {
        Box::pin(self.clone().receive(from.clone(), head, parts))
    }
}

/// Removes snapshots that were under way when the process ended.
pub fn clear(scratch: &Path) -> io::Result<()> {
    for file in std::fs::read_dir(scratch)? {
        let file = file?;
        let name = file.file_name();
        let name = name.to_string_lossy();
        // Those of a group have an extension: the log may refer to them.
        let is_number =
            |rest: &str| rest.trim_start_matches("store-").bytes().all(|byte| byte.is_ascii_digit());
        if name.starts_with("sent-") || name.strip_prefix("received-").is_some_and(is_number) {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_snapshots_under_way_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        for name in
            ["sent-1-2-3", "received-4", "sent-store-1", "received-store-5", "received-1.snapshot", "other"]
        {
            std::fs::write(scratch.path().join(name), name).unwrap();
        }
        clear(scratch.path()).unwrap();
        let left = std::fs::read_dir(scratch.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["other", "received-1.snapshot"]);
    }
}
