//! The comparison of whole states: each replica writes its state to disk after the same entry of the log, and hashes
//! it in the background. The majority is right; a replica with another hash is given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use protocol::{Batch, BatchOrigin, Command};
use replication::{Payload, Role};
use state::Snapshot;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use transport::Lane;

use crate::bootstrap::give_up_or_say;
use crate::cluster::Links;
use crate::divergence::{Digests, Verdict};
use crate::node::Node;
use crate::peer_request::RequestKind;
use crate::peers::ask;
use crate::route::Router;

/// How long others are asked for a digest that they may not have yet.
const DIGEST_TIME: Duration = Duration::from_secs(3);
const DIGEST_LOOK: Duration = Duration::from_millis(20);
/// They are not asked again for so long when no majority told.
const OPEN_PAUSE: Duration = Duration::from_secs(1);

/// Time for another broker to take an order, and for an entry to be committed.
const ORDER_TIME: Duration = Duration::from_secs(5);
/// Time to hash a state.
const HASH_TIME: Duration = Duration::from_secs(600);

/// The hash of a state after an entry of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateHash {
    /// Index of the entry.
    pub index: u64,
    /// Hash of all rows.
    pub hash: u64,
}

/// The states of all replicas, or why one tells none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// By the numbers of brokers.
    pub hashes: BTreeMap<u32, Result<StateHash, String>>,
    /// Brokers whose state differs from that of the majority.
    pub differing: Vec<u32>,
}

impl Comparison {
    fn of(hashes: BTreeMap<u32, Result<StateHash, String>>) -> Self {
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for found in hashes.values().flatten() {
            *counts.entry(found.hash).or_default() += 1;
        }
        let right = counts.into_iter().find(|(_, count)| *count * 2 > hashes.len()).map(|(hash, _)| hash);
        let differs = |(broker, found): (&u32, &Result<StateHash, String>)| {
            let is_other = found.as_ref().is_ok_and(|found| right.is_some_and(|right| found.hash != right));
            is_other.then_some(*broker)
        };
        let differing = hashes.iter().filter_map(differs).collect();
        Self { hashes, differing }
    }
}

pub(crate) type HashAnswer = Result<StateHash, String>;

/// The hash that is wanted of this replica.
#[derive(Default)]
pub(crate) struct WantedHash(Mutex<Wanted>);

#[derive(Default)]
enum Wanted {
    #[default]
    Nothing,
    /// After the entry with this number.
    After(u64, oneshot::Sender<HashAnswer>, oneshot::Receiver<HashAnswer>),
    /// It is being made.
    Begun(u64, oneshot::Receiver<HashAnswer>),
}

impl WantedHash {
    /// A hash is wanted after the entry with a number. One that was wanted before is not wanted any more.
    fn want(&self, number: u64) {
        let (sender, receiver) = oneshot::channel();
        *self.0.lock() = Wanted::After(number, sender, receiver);
    }

    /// The way to tell the hash, if it is wanted after an entry.
    pub fn after(&self, origin: Option<BatchOrigin>) -> Option<oneshot::Sender<HashAnswer>> {
        let mut wanted = self.0.lock();
        let is_it =
            matches!(&*wanted, Wanted::After(number, ..) if Some(*number) == origin.map(|of| of.number));
        if !is_it {
            return None;
        }
        let Wanted::After(number, sender, receiver) = std::mem::take(&mut *wanted) else { unreachable!() };
        *wanted = Wanted::Begun(number, receiver);
        Some(sender)
    }

    /// The hash after an entry, once it is there.
    fn take(&self, number: u64) -> Result<oneshot::Receiver<HashAnswer>, String> {
        let mut wanted = self.0.lock();
        match std::mem::take(&mut *wanted) {
            Wanted::After(of, _sender, receiver) if of == number => {
                // The entry has not come; without its sender the receiver tells so.
                Ok(receiver)
            }
            Wanted::Begun(of, receiver) if of == number => Ok(receiver),
            other => {
                *wanted = other;
                Err("no such hash is wanted".to_owned())
            }
        }
    }
}

/// Hashes a state on a thread of its own.
pub(crate) fn hash(snapshot: Snapshot, answer: oneshot::Sender<HashAnswer>) {
    let index = snapshot.applied_index();
    let run = move || {
        let hashed = snapshot.hash().map(|hash| StateHash { index, hash });
        // A broker that has gone away needs no answer.
        let _ = answer.send(hashed.map_err(|error| error.to_string()));
    };
    if let Err(error) = std::thread::Builder::new().name("state-hash".to_owned()).spawn(run) {
        tracing::warn!(%error, "the state cannot be hashed");
    }
}

impl Node {
    /// Compares the whole states of all replicas after one entry of the log. A replica that differs from the majority
    /// is given up. The leader does it, whichever broker is asked.
    pub async fn compare_states(&self) -> Result<Comparison, String> {
        let router = self.router.as_ref().ok_or("this broker is alone: there is nothing to compare with")?;
        let role = *router.group.role().borrow();
        match role {
            Role::Leader { .. } => self.compare_here(router).await,
            Role::Follower { leader: Some(leader), .. } => {
                let peer = router.links.peers.peer(leader).ok_or("the leader has no address")?;
                let answer = peer.call(Lane::Requests, RequestKind::Compare.alone()).await;
                decode(answer.map_err(|error| error.to_string())?)
            }
            Role::Follower { leader: None, .. } | Role::Unavailable => {
                Err("the partition has no leader".to_owned())
            }
        }
    }

    async fn compare_here(&self, router: &Router) -> Result<Comparison, String> {
        let number = self.shared.entered.next();
        let request = |kind: RequestKind| kind.about(number, &[]);
        let own = self.options().node_id;
        self.shared.wanted_hash.want(number);
        let mut hashes = BTreeMap::new();
        for (broker, peer) in router.links.peers.all() {
            if let Err(reason) = ask(peer, request(RequestKind::HashWanted), ORDER_TIME).await {
                hashes.insert(*broker as u32, Err(reason));
            }
        }
        self.mark(router, number).await?;
        let asked =
            router.links.peers.all().iter().filter(|(broker, _)| !hashes.contains_key(&(**broker as u32)));
        let answers = asked.map(|(broker, peer)| {
            let request = request(RequestKind::Hash);
            async move {
                let hash = ask(peer, request, HASH_TIME).await.and_then(read_hash);
                (*broker as u32, hash)
            }
        });
        let answers = futures::future::join_all(answers).await;
        hashes.extend(answers);
        hashes.insert(own, self.hash_of(number).await);
        let compared = Comparison::of(hashes);
        for broker in &compared.differing {
            tracing::error!(
                partition = 1,
                broker,
                "the state of a replica differs from that of the majority"
            );
            if *broker == own {
                self.differs();
            } else if let Some(peer) = router.links.peers.peer(u64::from(*broker)) {
                // A broker that is away compares digests when it is back.
                let _ = ask(peer, RequestKind::HashDiffers.alone(), ORDER_TIME).await;
            }
        }
        Ok(compared)
    }

    /// Brings an entry with a number into the log that changes nothing.
    async fn mark(&self, router: &Router, number: u64) -> Result<(), String> {
        let Role::Leader { term } = *router.group.role().borrow() else {
            return Err("this broker does not lead any more".to_owned());
        };
        let mut batch = Batch {
            engine_version: 0,
            timestamp_ms: 0,
            commands: vec![Command::Tick],
            demand: vec![],
            origin: Some(BatchOrigin { number, term }),
            digest: None,
        };
        self.shared.stamp(&mut batch);
        let proposed = self.group().propose(Payload::new(Bytes::from(batch.encode())));
        let proposed = timeout(ORDER_TIME, proposed).await;
        let proposed = proposed.map_err(|_| "a majority of the brokers does not answer".to_owned())?;
        proposed.map(drop).map_err(|error| error.to_string())
    }

    async fn hash_of(&self, number: u64) -> HashAnswer {
        let wanted = self.shared.wanted_hash.take(number)?;
        let hash = timeout(HASH_TIME, wanted).await.map_err(|_| "the hash takes too long".to_owned())?;
        hash.map_err(|_| "the entry has not come here yet".to_owned())?
    }

    /// The state of this replica is not that of the majority: it applies nothing more.
    fn differs(&self) {
        self.shared.digests.set_difference("its hash is not that of the majority of the replicas");
        give_up_or_say(&self.options().data_dir);
    }
}

/// Lets a replica that differs from the leader ask the others who is right. If it is the leader that is wrong, it is
/// told so. Blocks the thread that applies entries meanwhile.
pub(crate) fn judge_with(digests: &Digests, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    let last_open = Mutex::new(None::<Instant>);
    digests.ask_with(move |index, own, of_leader| {
        let mut last_open = last_open.lock();
        let Some(links) = links.upgrade() else { return Verdict::Open };
        if last_open.is_some_and(|last| last.elapsed() < OPEN_PAUSE) {
            return Verdict::Open;
        }
        let closed = links.closing();
        let judged = runtime.block_on(closed.run_until_cancelled(judge(&links, index, own, of_leader)));
        let verdict = judged.unwrap_or(Verdict::Open);
        *last_open = (verdict == Verdict::Open).then(Instant::now);
        verdict
    });
}

async fn judge(links: &Links, index: u64, own: u64, of_leader: u64) -> Verdict {
    let answers = links.ask_all(&RequestKind::Digest.about(index, &[]), DIGEST_TIME).await;
    let told =
        answers.into_iter().filter_map(|(broker, answer)| Some((broker, answer.ok()?.try_get_u64().ok()?)));
    let told: Vec<(u32, u64)> = told.collect();
    let digests: Vec<u64> = told.iter().map(|(_, digest)| *digest).chain([own]).collect();
    let verdict = Verdict::of(links.brokers().len(), own, of_leader, &digests);
    tracing::error!(partition = 1, index, ?told, own, ?verdict, "this replica and the leader differ");
    if verdict == Verdict::Right {
        for (broker, _) in told.iter().filter(|(_, digest)| *digest == of_leader) {
            if let Some(peer) = links.peers.peer(u64::from(*broker)) {
                // One that is away compares again when it is back.
                let _ = ask(peer, RequestKind::HashDiffers.alone(), DIGEST_TIME).await;
            }
        }
    }
    verdict
}

/// Tells the digest after an entry, once it is applied here.
async fn digest(node: &Node, index: u64) -> Result<Bytes, String> {
    let deadline = Instant::now() + DIGEST_TIME;
    loop {
        if let Some(digest) = node.shared.digests.at(index) {
            return Ok(Bytes::copy_from_slice(&digest.to_be_bytes()));
        }
        if Instant::now() > deadline {
            return Err("it has no digest of that entry".to_owned());
        }
        sleep(DIGEST_LOOK).await;
    }
}

/// Answers a request about hashes.
pub(crate) async fn answer(node: &Node, kind: RequestKind, mut request: Bytes) -> Result<Bytes, String> {
    match kind {
        RequestKind::Compare => {
            let router = node.router.as_ref().ok_or("this broker is alone")?;
            Ok(encode(&node.compare_here(router).await?))
        }
        RequestKind::Digest => {
            let index = request.try_get_u64().map_err(|error| error.to_string())?;
            digest(node, index).await
        }
        RequestKind::HashWanted => {
            let number = request.try_get_u64().map_err(|error| error.to_string())?;
            node.shared.wanted_hash.want(number);
            Ok(Bytes::new())
        }
        RequestKind::Hash => {
            let number = request.try_get_u64().map_err(|error| error.to_string())?;
            // The entry is committed: it comes here.
            let router = node.router.as_ref().ok_or("this broker is alone")?;
            router.catch_up().await.map_err(|error| error.to_string())?;
            let StateHash { index, hash } = node.hash_of(number).await?;
            let mut answer = BytesMut::with_capacity(16);
            answer.put_u64(index);
            answer.put_u64(hash);
            Ok(answer.freeze())
        }
        RequestKind::HashDiffers => {
            node.differs();
            Ok(Bytes::new())
        }
        _ => unreachable!("a request of kind {kind:?} is none about hashes"),
    }
}

fn read_hash(mut answer: Bytes) -> HashAnswer {
    let mut number = || answer.try_get_u64().map_err(|error| error.to_string());
    Ok(StateHash { index: number()?, hash: number()? })
}

fn encode(compared: &Comparison) -> Bytes {
    let form: BTreeMap<u32, Result<(u64, u64), &String>> = compared
        .hashes
        .iter()
        .map(|(broker, found)| (*broker, found.as_ref().map(|found| (found.index, found.hash))))
        .collect();
    serde_json::to_vec(&form).expect("numbers and texts are JSON").into()
}

fn decode(answer: Bytes) -> Result<Comparison, String> {
    let form: BTreeMap<u32, Result<(u64, u64), String>> =
        serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    let hashes = form
        .into_iter()
        .map(|(broker, found)| (broker, found.map(|(index, hash)| StateHash { index, hash })));
    Ok(Comparison::of(hashes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(hashes: &[Option<u64>]) -> Comparison {
        let hash = |hash: Option<u64>| hash.map(|hash| StateHash { index: 7, hash }).ok_or("away".to_owned());
        Comparison::of(hashes.iter().enumerate().map(|(broker, of)| (broker as u32, hash(*of))).collect())
    }

    #[test]
    fn the_majority_is_right() {
        assert_eq!(compared(&[Some(2), Some(1), Some(1)]).differing, [0]);
        let none = [
            [Some(1), Some(1), Some(1)],
            [None, Some(1), Some(1)],
            // There is no majority.
            [None, Some(1), Some(2)],
            [Some(3), Some(1), Some(2)],
        ];
        for hashes in none {
            assert!(compared(&hashes).differing.is_empty(), "{hashes:?}");
        }
        assert_eq!(compared(&[Some(1), Some(1), Some(1), Some(2), None]).differing, [3]);
    }

    #[test]
    fn a_comparison_comes_back_as_it_went() {
        let one = compared(&[None, Some(1), Some(u64::MAX)]);
        assert_eq!(decode(encode(&one)), Ok(one));
        assert!(decode(Bytes::from_static(b"nonsense")).is_err());
    }
}
