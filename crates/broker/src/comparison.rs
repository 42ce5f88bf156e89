//! The comparison of whole states: each replica writes its state to disk after the same entry of the log, and hashes
//! it in the background. The majority is right; a replica with another hash is given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use protocol::PartitionId;
use replication::Role;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use transport::Lane;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use cluster::Links;
use cluster::RequestKind;
use cluster::ask;
use cluster::give_up_or_say;
use partition::{DigestVerdict, Digests, HASH_TIME, HashAnswer, Partition, StateHash};

/// Time for which others are asked for a digest that they may not have yet.
const DIGEST_TIME: Duration = Duration::from_secs(3);
const DIGEST_LOOK: Duration = Duration::from_millis(20);
/// Pause before the others are asked again when no majority answered.
const OPEN_PAUSE: Duration = Duration::from_secs(1);

/// Time-out of an order to another broker, and of the commit of an entry.
const ORDER_TIME: Duration = Duration::from_secs(5);

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

impl Node {
    /// Compares the whole states of all replicas after one entry of each partition's log. A replica that differs from
    /// the majority is given up. The leaders do it, whichever broker is asked.
    pub async fn compare_states(&self) -> Result<BTreeMap<PartitionId, Comparison>, String> {
        let cluster =
            self.cluster.as_ref().ok_or("this broker is alone: there is nothing to compare with")?;
        let mut compared = BTreeMap::new();
        for partition in self.all() {
            compared.insert(partition.number(), self.compare_one(cluster, partition).await?);
        }
        Ok(compared)
    }

    async fn compare_one(&self, cluster: &ClusterState, partition: &Partition) -> Result<Comparison, String> {
        let role = *partition.group().role().borrow();
        match role {
            Role::Leader { .. } => self.compare_here(cluster, partition).await,
            Role::Follower { leader: Some(leader), .. } => {
                let peer = cluster.links.peers.peer(leader).ok_or("the leader has no address")?;
                let request = RequestKind::Compare.of_partition(partition.number()).alone();
                let answer = peer.call(Lane::Requests, request).await;
                decode(answer.map_err(|error| error.to_string())?)
            }
            Role::Follower { leader: None, .. } | Role::Unavailable => {
                Err(format!("partition {} has no leader", partition.number()))
            }
        }
    }

    async fn compare_here(
        &self,
        cluster: &ClusterState,
        partition: &Partition,
    ) -> Result<Comparison, String> {
        let number = partition.next_entry();
        let request = |kind: RequestKind| kind.of_partition(partition.number()).about(number, &[]);
        let own = self.number();
        partition.wanted_hash().want(number);
        let mut hashes = BTreeMap::new();
        for (broker, peer) in cluster.links.peers.all() {
            if let Err(reason) = ask(peer, request(RequestKind::HashWanted), ORDER_TIME).await {
                hashes.insert(*broker as u32, Err(reason));
            }
        }
        partition.mark(number).await?;
        let asked =
            cluster.links.peers.all().iter().filter(|(broker, _)| !hashes.contains_key(&(**broker as u32)));
        let answers = asked.map(|(broker, peer)| {
            let request = request(RequestKind::Hash);
            async move {
                let hash = ask(peer, request, HASH_TIME).await.and_then(read_hash);
                (*broker as u32, hash)
            }
        });
        let answers = futures::future::join_all(answers).await;
        hashes.extend(answers);
        hashes.insert(own, partition.wanted_hash().of(number).await);
        let compared = Comparison::of(hashes);
        for broker in &compared.differing {
            tracing::error!(
                partition = partition.number(),
                broker,
                "the state of a replica differs from that of the majority"
            );
            if *broker == own {
                self.differs(partition);
            } else if let Some(peer) = cluster.links.peers.peer(u64::from(*broker)) {
                // A broker that is away compares digests when it is back.
                let _ = ask(peer, Doubt::Hash(number).message(partition.number()), ORDER_TIME).await;
            }
        }
        Ok(compared)
    }

    /// Stops a replica of this broker, whose state is not that of the majority: it applies nothing more.
    fn differs(&self, partition: &Partition) {
        partition.digests().set_difference("its hash is not that of the majority of the replicas");
        give_up_or_say(&self.options().partition.data_dir);
    }
}

/// Lets a replica that differs from the leader ask the others who is right. If it is the leader that is wrong, it is
/// told so. Blocks the thread that applies entries meanwhile.
pub(crate) fn judge_with(digests: &Digests, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    let partition = digests.partition();
    let last_open = Mutex::new(None::<Instant>);
    digests.ask_with(move |index, own, of_leader| {
        let mut last_open = last_open.lock();
        let Some(links) = links.upgrade() else { return DigestVerdict::Open };
        if last_open.is_some_and(|last| last.elapsed() < OPEN_PAUSE) {
            return DigestVerdict::Open;
        }
        let closed = links.closing();
        let judged =
            runtime.block_on(closed.run_until_cancelled(judge(&links, (partition, index), own, of_leader)));
        let verdict = judged.unwrap_or(DigestVerdict::Open);
        *last_open = (verdict == DigestVerdict::Open).then(Instant::now);
        verdict
    });
}

async fn judge(
    links: &Links,
    (partition, index): (PartitionId, u64),
    own: u64,
    of_leader: u64,
) -> DigestVerdict {
    let request = RequestKind::Digest.of_partition(partition).about(index, &[]);
    let answers = links.ask_all(&request, DIGEST_TIME).await;
    let told =
        answers.into_iter().filter_map(|(broker, answer)| Some((broker, answer.ok()?.try_get_u64().ok()?)));
    let told: Vec<(u32, u64)> = told.collect();
    let digests: Vec<u64> = told.iter().map(|(_, digest)| *digest).chain([own]).collect();
    let verdict = DigestVerdict::of(links.brokers().len(), own, of_leader, &digests);
    tracing::error!(partition, index, ?told, own, ?verdict, "this replica and the leader differ");
    if verdict == DigestVerdict::Right {
        for (broker, _) in told.iter().filter(|(_, digest)| *digest == of_leader) {
            if let Some(peer) = links.peers.peer(u64::from(*broker)) {
                // One that is away compares again when it is back.
                let _ = ask(peer, Doubt::Digest(index).message(partition), DIGEST_TIME).await;
            }
        }
    }
    verdict
}

/// Answers the request to compare the states of all replicas of a partition.
pub(crate) async fn compare(node: &Node, partition: &Partition) -> Result<Bytes, String> {
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    Ok(encode(&node.compare_here(cluster, partition).await?))
}

fn number_of(mut request: Bytes) -> Result<u64, String> {
    request.try_get_u64().map_err(|error| error.to_string())
}

/// Answers the request for the digest after an entry, once it is applied here.
pub(crate) async fn tell_digest(partition: &Partition, request: Bytes) -> Result<Bytes, String> {
    let index = number_of(request)?;
    let deadline = Instant::now() + DIGEST_TIME;
    loop {
        // In this order: it may be applied in between.
        let is_past = partition.digests().is_past(index);
        if let Some(digest) = partition.digests().at(index) {
            return Ok(Bytes::copy_from_slice(&digest.to_be_bytes()));
        }
        // The replica that asks stands still meanwhile, and asks for each entry of a leader that was wrong.
        if is_past || Instant::now() > deadline {
            return Err("it has no digest of that entry".to_owned());
        }
        sleep(DIGEST_LOOK).await;
    }
}

/// Answers the request to hash the state after an entry that comes.
pub(crate) fn want_hash(partition: &Partition, request: Bytes) -> Result<Bytes, String> {
    partition.wanted_hash().want(number_of(request)?);
    Ok(Bytes::new())
}

/// Answers the request for the hash after an entry.
pub(crate) async fn tell_hash(partition: &Partition, request: Bytes) -> Result<Bytes, String> {
    let number = number_of(request)?;
    // The entry is committed: it comes here.
    partition.catch_up().await.map_err(|error| error.to_string())?;
    let StateHash { index, hash } = partition.wanted_hash().of(number).await?;
    let mut answer = BytesMut::with_capacity(16);
    answer.put_u64(index);
    answer.put_u64(hash);
    Ok(answer.freeze())
}

/// Answers a broker that doubts the state of a replica here.
pub(crate) fn hear_doubt(
    node: &Arc<Node>,
    partition: &Arc<Partition>,
    request: Bytes,
) -> Result<Bytes, String> {
    let doubt = Doubt::read(request)?;
    let (node, partition) = (Arc::clone(node), Arc::clone(partition));
    // Asking the others takes longer than the broker that doubts waits.
    tokio::spawn(async move { examine(&node, &partition, doubt).await });
    Ok(Bytes::new())
}

/// The doubt of another broker about the state of this replica: what to compare with the others. Its word alone
/// proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// The digest after an entry of the log, by its index.
    Digest(u64),
    /// The hash that was wanted after an entry, by its number.
    Hash(u64),
}

impl Doubt {
    const DIGEST: u8 = 0;
    const HASH: u8 = 1;

    fn message(self, partition: PartitionId) -> Bytes {
        let head = RequestKind::HashDiffers.of_partition(partition);
        match self {
            Self::Digest(index) => head.about(index, &[Self::DIGEST]),
            Self::Hash(number) => head.about(number, &[Self::HASH]),
        }
    }

    fn read(mut message: Bytes) -> Result<Self, String> {
        let about = message.try_get_u64().map_err(|_| "it does not say what to compare".to_owned())?;
        match &message[..] {
            [Self::DIGEST] => Ok(Self::Digest(about)),
            [Self::HASH] => Ok(Self::Hash(about)),
            _ => Err("it does not say what to compare".to_owned()),
        }
    }
}

/// Compares this replica with the others, one of which doubts it. If a majority of all replicas has another state, it
/// is given up.
async fn examine(node: &Node, partition: &Partition, doubt: Doubt) {
    let Some(cluster) = &node.cluster else { return };
    // One at a time: a broker that doubts again and again keeps this one busy with no more than that.
    let Ok(_alone) = partition.wanted_hash().examining.try_lock() else { return };
    let links = &cluster.links;
    let head = |kind: RequestKind| kind.of_partition(partition.number());
    let (own, others) = match doubt {
        Doubt::Digest(index) => {
            let own = partition.digests().at(index);
            (own, links.ask_all(&head(RequestKind::Digest).about(index, &[]), DIGEST_TIME).await)
        }
        Doubt::Hash(number) => {
            let own = partition.wanted_hash().of(number).await.ok().map(|own| own.hash);
            let asked = links.ask_all(&head(RequestKind::Hash).about(number, &[]), HASH_TIME).await;
            let hash = |answer: HashAnswer| answer.map(|of| Bytes::copy_from_slice(&of.hash.to_be_bytes()));
            let hashes = asked.into_iter().map(|(broker, answer)| (broker, hash(answer.and_then(read_hash))));
            (own, hashes.collect())
        }
    };
    let told = others.into_iter().filter_map(|(_, answer)| answer.ok()?.try_get_u64().ok());
    let told: Vec<u64> = told.collect();
    let is_outvoted = own.is_some_and(|own| is_outvoted(links.brokers().len(), own, &told));
    tracing::warn!(
        partition = partition.number(),
        ?doubt,
        ?own,
        ?told,
        is_outvoted,
        "another broker doubts the state of this replica; the others were asked"
    );
    if is_outvoted {
        node.differs(partition);
    }
}

/// Whether a majority of so many replicas agrees on something else.
fn is_outvoted(replicas: usize, own: u64, others: &[u64]) -> bool {
    let agree = |with: u64| others.iter().filter(|of| **of == with).count();
    others.iter().any(|other| *other != own && agree(*other) * 2 > replicas)
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
    fn a_replica_obeys_no_less_than_a_majority() {
        assert!(is_outvoted(3, 1, &[2, 2]));
        for others in [&[][..], &[2], &[2, 1], &[2, 3], &[1, 1]] {
            assert!(!is_outvoted(3, 1, others), "{others:?}");
        }
        assert!(!is_outvoted(2, 1, &[2]), "of two, neither is a majority");
        assert!(is_outvoted(5, 1, &[2, 2, 2]) && !is_outvoted(5, 1, &[2, 2]));
    }

    #[test]
    fn a_doubt_says_what_to_compare() {
        for doubt in [Doubt::Digest(7), Doubt::Hash(u64::MAX)] {
            assert_eq!(Doubt::read(doubt.message(1).slice(1..)), Ok(doubt));
        }
        for other in [&[][..], &[0; 8], &[0, 0, 0, 0, 0, 0, 0, 7, 2], &[0; 10]] {
            assert!(Doubt::read(Bytes::copy_from_slice(other)).is_err(), "{other:?}");
        }
    }

    #[test]
    fn a_comparison_comes_back_as_it_went() {
        let one = compared(&[None, Some(1), Some(u64::MAX)]);
        assert_eq!(decode(encode(&one)), Ok(one));
        assert!(decode(Bytes::from_static(b"nonsense")).is_err());
    }
}
