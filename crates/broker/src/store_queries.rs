//! Questions to the embedded store: a broker that has no copy of it, or one that is behind, asks another one.
//!
//! A broker goes by its own setting whether it has a copy, and asks all others, of which those without one say so. So
//! nothing is lost when brokers are set differently.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use broker_api::Positions;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use parking_lot::RwLock;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use transport::Lane;

use cluster::{Links, RequestKind, ask, ask_in_turn};
use partition::Partition;
use protocol::{FIRST_PARTITION, PartitionId};

use crate::cluster_state::ClusterState;
use crate::readiness::Readiness;

/// Interval at which a broker checks the progress of its copy.
pub(crate) const LOOK: Duration = Duration::from_millis(5);
/// Time for another broker to tell how far its copy is.
const SHOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// The first words of a broker whose copy lacks records.
const NOT_WHOLE: &str = "its copy of the store is not whole";
/// Interval at which a broker with a copy asks whether others have whole ones.
const OTHERS_LOOK: Duration = Duration::from_secs(3);

type Position = Box<dyn Fn(PartitionId) -> u64 + Send + Sync>;
type Lacking = Box<dyn Fn() -> Option<String> + Send + Sync>;
type AnswerWith = Box<dyn Fn(Bytes) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// The copy of the store that this broker has.
pub struct OwnCopy {
    /// Position up to which it shows records of a partition.
    pub position: Position,
    /// The records that it lacks, if it has not all that it needs; then it answers nobody.
    pub lacking: Lacking,
    /// Answers a question.
    pub answer: AnswerWith,
}

/// The way to copies of the embedded store.
pub struct StoreQueries {
    pub(crate) exporter: &'static str,
    pub(crate) own: Option<OwnCopy>,
    /// Is told up to which position some copy shows records.
    pub(crate) shown: export::Shown,
    /// Time-out of an answer.
    timeout: Duration,
    life: RwLock<Option<Life>>,
    /// The broker that answered last.
    latest: AtomicU64,
    lag_ms: AtomicU64,
    /// Copies that the cluster shall have, and whether this broker has the only one that is whole.
    wanted: usize,
    is_last: AtomicBool,
}

/// The present life of the broker. It is not kept alive by this.
struct Life {
    cluster: Weak<ClusterState>,
    readiness: Weak<Readiness>,
}

impl fmt::Debug for StoreQueries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreQueries")
    }
}

impl StoreQueries {
    /// Of the store that an exporter feeds, with this broker's copy, if it has one.
    pub fn new(
        exporter: &'static str,
        own: Option<OwnCopy>,
        shown: export::Shown,
        timeout: Duration,
    ) -> Self {
        let (latest, lag_ms) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        let (life, is_last) = (RwLock::default(), AtomicBool::new(false));
        Self { exporter, own, shown, timeout, life, latest, lag_ms, wanted: 1, is_last }
    }

    /// Of a cluster that shall have so many copies.
    #[must_use]
    pub fn with_copies(self, wanted: usize) -> Self {
        Self { wanted, ..self }
    }

    /// Whether this broker has the only whole copy of several.
    pub(crate) fn is_last(&self) -> bool {
        self.is_last.load(Ordering::Relaxed)
    }

    /// Asks the others whether their copies are whole, if that of this broker is one of several.
    async fn look_at_others(&self) {
        let is_one = self
            .own
            .as_ref()
            .is_some_and(|own| (own.lacking)().is_none() && (own.position)(FIRST_PARTITION) > 0);
        let links = self.links();
        let Some(links) = links.filter(|_| is_one && self.wanted > 1) else {
            return self.is_last.store(false, Ordering::Relaxed);
        };
        // A broker that shows anything has a whole copy.
        let request = RequestKind::StoreShown.about(0, &[]);
        let asked = links.peers.all().values().map(|peer| ask(peer, request.clone(), SHOWN_TIMEOUT));
        let mut answers: FuturesUnordered<_> = asked.collect();
        let (mut others, mut lacking) = (0_u32, 0_u32);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(_) => others += 1,
                // One that does not answer may have a whole one.
                Err(reason) => lacking += u32::from(reason.contains(NOT_WHOLE)),
            }
        }
        metrics::gauge!("baton_secondary_storage_whole_copies").set(f64::from(others + 1));
        let is_last = others == 0 && lacking > 0;
        if is_last && !self.is_last.swap(is_last, Ordering::Relaxed) {
            tracing::warn!(
                "this broker has the last whole copy of the history: its disk must not be removed"
            );
        }
        self.is_last.store(is_last, Ordering::Relaxed);
    }

    /// Whether it is the store that an exporter feeds.
    pub(crate) fn is_fed_by(&self, exporter: &str) -> bool {
        self.exporter == exporter
    }

    /// Whether this broker has a copy that shows everything of a partition up to a position.
    pub(crate) fn shows(&self, partition: PartitionId, at_least: u64) -> bool {
        self.is_here(&Positions::at(partition, at_least))
    }

    /// Whether this broker has a copy that shows everything up to positions of partitions.
    pub fn is_here(&self, at_least: &Positions) -> bool {
        let Some(own) = self.own.as_ref().filter(|own| (own.lacking)().is_none()) else { return false };
        at_least.iter().all(|(partition, position)| (own.position)(partition) >= position)
    }

    /// Whether this broker has caught up with its cluster since it started. Before that, a copy that lacks nothing
    /// may be one that begins to be filled.
    pub fn has_caught_up(&self) -> bool {
        self.life
            .read()
            .as_ref()
            .and_then(|life| life.readiness.upgrade())
            .is_some_and(|readiness| readiness.has_served())
    }

    /// Connections of the present life of the broker.
    fn links(&self) -> Option<Arc<Links>> {
        let cluster = self.life.read().as_ref()?.cluster.upgrade()?;
        Some(Arc::clone(&cluster.links))
    }

    /// Questions go to the other brokers of this cluster from now on.
    pub(crate) fn attend(&self, cluster: &Arc<ClusterState>, readiness: &Arc<Readiness>) {
        let (cluster, readiness) = (Arc::downgrade(cluster), Arc::downgrade(readiness));
        *self.life.write() = Some(Life { cluster, readiness });
    }

    /// The records that the copy of this broker lacks.
    pub(crate) fn lacking(&self) -> Option<String> {
        self.own.as_ref().and_then(|own| (own.lacking)())
    }

    /// Has a broker answer whose copy shows everything up to positions of partitions. An error is why none does.
    pub async fn ask(&self, at_least: &Positions, question: &[u8]) -> Result<Vec<u8>, String> {
        let request = request_at(at_least, question);
        let links = self.links().ok_or("the broker starts or stops")?;
        let (mut others, latest) = (links.other_numbers(), self.latest.load(Ordering::Relaxed));
        // False comes first.
        others.sort_by_key(|other| *other != latest);
        let others = others.into_iter().filter_map(|other| Some((other, links.peers.peer(other)?))).collect();
        let (other, answer) = ask_in_turn(others, Lane::Requests, request, self.timeout, Ok).await?;
        self.latest.store(other, Ordering::Relaxed);
        Ok(answer.into())
    }

    /// The position of a partition that some other copy shows: the one that is looked for, if any does soon. All are
    /// asked at once, so that one that is behind or does not answer keeps nobody waiting.
    pub(crate) async fn ask_shown(&self, partition: PartitionId, position: u64) -> Result<u64, String> {
        let links = self.links().ok_or("the broker starts or stops")?;
        let request = RequestKind::StoreShown.of_partition(partition).about(position, &[]);
        let asked = links.peers.all().iter().map(|(broker, peer)| {
            let request = request.clone();
            async move {
                let mut answer = ask(peer, request, SHOWN_TIMEOUT).await?;
                let mut number = || answer.try_get_u64().map_err(|error| error.to_string());
                Ok::<_, String>((*broker, number()?, number()?))
            }
        });
        let mut answers: FuturesUnordered<_> = asked.collect();
        let (mut furthest, mut reasons) = (None, Vec::new());
        while let Some(answer) = answers.next().await {
            match answer {
                Ok((broker, shown, lag_ms)) => {
                    if furthest.is_none_or(|known| shown > known) {
                        furthest = Some(shown);
                        self.latest.store(broker, Ordering::Relaxed);
                        self.lag_ms.store(lag_ms, Ordering::Relaxed);
                    }
                    if shown >= position {
                        return Ok(shown);
                    }
                }
                Err(reason) => reasons.push(reason),
            }
        }
        furthest.ok_or_else(|| reasons.join("; "))
    }

    /// Age of the oldest record that the copy of another broker did not show when it told.
    pub(crate) fn lag(&self) -> Duration {
        Duration::from_millis(self.lag_ms.load(Ordering::Relaxed))
    }

    /// Waits until this broker's copy shows a position, or the time is over. Returns what it shows then. It is the
    /// position itself once everything up to it is shown, whether or not a record has it.
    pub(crate) async fn until_shown(
        &self,
        partition: &Partition,
        position: u64,
        patience: Duration,
    ) -> Result<u64, String> {
        let own = self.own.as_ref().ok_or("it has no copy of the store")?;
        let exports = partition.exports().ok_or("it has no exporters")?;
        let deadline = Instant::now() + patience;
        loop {
            if let Some(reason) = (own.lacking)() {
                return Err(format!("{NOT_WHOLE}: {reason}"));
            }
            let shown = (own.position)(partition.number());
            if shown >= position || needed(partition, position).is_ok_and(|needed| shown >= needed) {
                return Ok(shown.max(position));
            }
            if Instant::now() > deadline {
                return Ok(shown);
            }
            exports.hasten(self.exporter).ok_or("it has no copy of the store")?;
            sleep(LOOK).await;
        }
    }
}

/// A question to a copy that shows positions: those of the first partition and the ones after it, as far as they are
/// given. The head tells how many.
fn request_at(at_least: &Positions, question: &[u8]) -> Bytes {
    let known: BTreeMap<PartitionId, u64> = at_least.iter().collect();
    let last = known.keys().next_back().copied().unwrap_or(FIRST_PARTITION);
    let mut rest = BytesMut::with_capacity(8 * usize::from(last) + question.len());
    for partition in FIRST_PARTITION..=last {
        rest.put_u64(known.get(&partition).copied().unwrap_or_default());
    }
    rest.put(question);
    RequestKind::StoreQuery.of_partition(last).with(&rest)
}

/// Checks periodically whether other brokers have whole copies, until shutdown. Does not keep the node alive.
pub(crate) async fn watch(queries: Arc<StoreQueries>, shutdown: CancellationToken) {
    let mut ticks = tokio::time::interval(OTHERS_LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => queries.look_at_others().await,
            () = shutdown.cancelled() => return,
        }
    }
}

/// Position of the last record up to a position, or of a later one.
pub(crate) fn needed(partition: &Partition, at_least: u64) -> Result<u64, String> {
    let exports = partition.exports().ok_or("this broker has no exporters")?;
    // In this order: the records up to the position that was handed on have come then.
    let handed_on = partition.handed_on();
    if handed_on < at_least {
        return Err(format!("it has records up to {handed_on}"));
    }
    Ok(exports.last().min(at_least))
}
