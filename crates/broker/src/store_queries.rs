//! Questions to the embedded store: a broker that has no copy of it, or one that is behind, asks another one.
//!
//! A broker goes by its own setting whether it has a copy, and asks all others, of which those without one say so. So
//! nothing is lost when brokers are set differently.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use parking_lot::RwLock;
use protocol::FIRST_PARTITION;
use tokio::time::{Instant, sleep};
use transport::Lane;

use crate::cluster::Links;
use crate::node::Node;
use crate::peer_request::RequestKind;
use crate::peers::{ask, ask_in_turn};
use crate::shared_exports::look_elsewhere;
use crate::store_copies::needed;

/// How often a broker looks how far its copy is, and how long when another one wants to know.
const LOOK: Duration = Duration::from_millis(5);
const SHOWN_PATIENCE: Duration = Duration::from_secs(3);
const SHOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// The same for a question: the copy was far enough a moment ago, or another one was.
const QUERY_PATIENCE: Duration = Duration::from_millis(500);
/// Others are asked when the copy of this broker is not far enough in this time: a usual write takes less.
const OWN_PATIENCE: Duration = Duration::from_millis(250);

type Position = Box<dyn Fn() -> u64 + Send + Sync>;
type AnswerWith = Box<dyn Fn(Bytes) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// The copy of the store that this broker has.
pub struct OwnCopy {
    /// Position up to which it shows records.
    pub position: Position,
    /// Answers a question.
    pub answer: AnswerWith,
}

/// The way to copies of the embedded store.
pub struct StoreQueries {
    exporter: &'static str,
    own: Option<OwnCopy>,
    /// Is told up to which position some copy shows records.
    shown: export::Shown,
    /// Time for an answer.
    timeout: Duration,
    /// Of the present life of the broker.
    links: RwLock<Weak<Links>>,
    /// The broker that answered last.
    latest: AtomicU64,
    lag_ms: AtomicU64,
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
        Self { exporter, own, shown, timeout, links: RwLock::default(), latest, lag_ms }
    }

    /// Whether it is the store that an exporter feeds.
    pub(crate) fn is_fed_by(&self, exporter: &str) -> bool {
        self.exporter == exporter
    }

    /// Whether this broker has a copy that shows everything up to a position.
    pub fn is_here(&self, at_least: u64) -> bool {
        self.own.as_ref().is_some_and(|own| (own.position)() >= at_least)
    }

    /// Has a broker answer whose copy shows everything up to a position. An error is why none does.
    pub async fn ask(&self, at_least: u64, question: &[u8]) -> Result<Vec<u8>, String> {
        let request = RequestKind::StoreQuery.about(at_least, question);
        let links = self.links.read().upgrade().ok_or("the broker starts or stops")?;
        let (mut others, latest) = (links.other_numbers(), self.latest.load(Ordering::Relaxed));
        // False comes first.
        others.sort_by_key(|other| *other != latest);
        let others = others.into_iter().filter_map(|other| Some((other, links.peers.peer(other)?))).collect();
        let (other, answer) = ask_in_turn(others, Lane::Requests, request, self.timeout, Ok).await?;
        self.latest.store(other, Ordering::Relaxed);
        Ok(answer.into())
    }

    /// The position that some other copy shows: the one that is looked for, if any does soon. All are asked at once,
    /// so that one that is behind or does not answer keeps nobody waiting.
    async fn ask_shown(&self, position: u64) -> Result<u64, String> {
        let links = self.links.read().upgrade().ok_or("the broker starts or stops")?;
        let request = RequestKind::StoreShown.about(position, &[]);
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
    async fn until_shown(&self, node: &Node, position: u64, patience: Duration) -> Result<u64, String> {
        let own = self.own.as_ref().ok_or("it has no copy of the store")?;
        let exports = node.exports().ok_or("it has no exporters")?;
        let deadline = Instant::now() + patience;
        loop {
            let shown = (own.position)();
            if shown >= position || needed(node, position).is_ok_and(|needed| shown >= needed) {
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

/// The store's questions go to other brokers from now on.
pub(crate) fn attend(node: &Node) {
    if let Some((queries, router)) = node.options().store.as_ref().zip(node.router.as_ref()) {
        *queries.links.write() = Arc::downgrade(&router.links);
    }
}

/// Finds out how far another broker's copy is if this one's does not show a position soon. Returns at once.
pub(crate) fn look_for(node: &Node, position: u64) {
    let Some((queries, router)) = node.options().store.as_ref().zip(node.router.as_ref()) else { return };
    if queries.is_here(position) {
        return;
    }
    let (queries, shown) = (Arc::clone(queries), Arc::clone(&queries.shown));
    let ask = move |position| {
        let (queries, shown) = (Arc::clone(&queries), Arc::clone(&shown));
        async move {
            if queries.own.is_some() {
                let deadline = Instant::now() + OWN_PATIENCE;
                while Instant::now() < deadline && !queries.is_here(position) {
                    sleep(LOOK).await;
                }
                if queries.is_here(position) {
                    return Ok(position);
                }
            }
            let position = queries.ask_shown(position).await?;
            shown(FIRST_PARTITION, position);
            Ok(position)
        }
    };
    look_elsewhere(node, router, position, ask);
}

/// Answers another broker.
pub(crate) async fn answer(node: &Node, kind: RequestKind, mut request: Bytes) -> Result<Bytes, String> {
    let position = request.try_get_u64().map_err(|error| error.to_string())?;
    let queries = node.options().store.clone().ok_or("it has no copy of the store")?;
    match kind {
        RequestKind::StoreShown => tell_shown(node, &queries, position).await,
        RequestKind::StoreQuery => answer_question(node, &queries, position, request).await,
        _ => unreachable!("a request of kind {kind:?} is none to the store"),
    }
}

/// Tells up to which position the copy of this broker shows records: the one that is looked for, if that is soon.
async fn tell_shown(node: &Node, queries: &StoreQueries, position: u64) -> Result<Bytes, String> {
    let shown = queries.until_shown(node, position, SHOWN_PATIENCE).await?;
    let lag = match node.exports().and_then(|exports| exports.hasten(queries.exporter)) {
        Some(hastened) if shown < position => hastened.lag,
        _ => Duration::ZERO,
    };
    let mut answer = BytesMut::with_capacity(16);
    answer.put_u64(shown);
    answer.put_u64(u64::try_from(lag.as_millis()).unwrap_or(u64::MAX));
    Ok(answer.freeze())
}

/// Answers a question from the copy of this broker, if that shows everything up to a position.
async fn answer_question(
    node: &Node,
    queries: &StoreQueries,
    position: u64,
    question: Bytes,
) -> Result<Bytes, String> {
    let shown = queries.until_shown(node, position, QUERY_PATIENCE).await?;
    if shown < position {
        return Err(format!("its copy of the store goes up to {shown}, not {position}"));
    }
    let own = queries.own.as_ref().ok_or("it has no copy of the store")?;
    (own.answer)(question).await.map(Bytes::from)
}
