//! Exporters whose target is that of all brokers. The leader exports, and its positions stand in the state; the others
//! keep what it has not acknowledged, and give it to one that lacks it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{Buf, Bytes};
use export::{Hub, RecordsAfter};
use protocol::{Command, FIRST_PARTITION, Name};
use state::StateError;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use transport::Lane;

use crate::cluster::Links;
use crate::node::Node;
use crate::peer_request::RequestKind;
use crate::peers::ask_in_turn;
use crate::route::Router;

/// How often positions that have changed are replicated, and taken over from the state.
const ACKNOWLEDGE_INTERVAL: Duration = Duration::from_secs(1);
/// How long another broker may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the leader looks how far its exporter is, and how long.
const SHOWN_LOOK: Duration = Duration::from_millis(5);
const SHOWN_PATIENCE: Duration = Duration::from_secs(3);

/// The position up to which an exporter has acknowledged, as the state has it.
fn acknowledged(node: &Node, exporter: &str) -> Result<u64, StateError> {
    let engine = node.engine.lock();
    Ok(engine.tables().exporters.get(&Arc::from(exporter))?.map_or(0, |position| *position))
}

/// Takes over the positions of the state.
fn take_over(node: &Node, exports: &Hub) {
    for exporter in exports.status().exporters.into_iter().filter(|exporter| exporter.is_shared) {
        match acknowledged(node, &exporter.id) {
            Ok(position) => {
                exports.acknowledged_elsewhere(&exporter.id, position);
                node.options().export.shown(FIRST_PARTITION, position);
            }
            Err(error) => tracing::error!(%error, exporter = exporter.id, "its position cannot be read"),
        }
    }
}

/// This broker leads or leads no more.
pub(crate) fn lead(node: &Node, leads: bool) {
    let Some(exports) = &node.shared.exports else { return };
    if leads {
        take_over(node, exports);
    }
    exports.lead(leads);
}

/// Replicates positions of exporters while this broker leads, and follows them while it does not, until shutdown. In
/// a cluster, exporters with targets of their own are left out. Does not keep the node alive.
pub(crate) async fn acknowledge(node: Weak<Node>, exports: Arc<Hub>, shutdown: CancellationToken) {
    let mut known: HashMap<String, u64> = HashMap::new();
    let mut ticks = tokio::time::interval(ACKNOWLEDGE_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        let Some(node) = node.upgrade() else { return };
        let is_alone = node.router.is_none();
        if !node.leads() {
            take_over(&node, &exports);
            known.clear();
            continue;
        }
        for exporter in exports.status().exporters.into_iter().filter(|one| is_alone || one.is_shared) {
            let (id, position) = (exporter.id, exporter.acknowledged_position);
            if position <= known.get(&id).copied().unwrap_or(0) {
                continue;
            }
            let command = Command::AcknowledgeExport { exporter: Name::from(id.as_str()), position };
            // A failure only means that more is exported again after a restart; the next round tries again.
            if node.run_own(command).await.is_ok() {
                known.insert(id, position);
            }
        }
    }
}

/// Lets exporters fetch records from other brokers. Their threads wait until the broker stops.
pub(crate) fn fetch_with(exports: &Hub, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    exports.fetch_with(move |after, upto| {
        let links = links.upgrade().ok_or("the broker stops")?;
        let closed = links.closing();
        runtime.block_on(async {
            let fetched = fetch(&links, after, upto);
            closed.run_until_cancelled(fetched).await.unwrap_or_else(|| Err("the broker stops".to_owned()))
        })
    });
}

async fn fetch(links: &Links, after: u64, upto: u64) -> Result<RecordsAfter, String> {
    let request = RequestKind::Records.about(after, &upto.to_be_bytes());
    let others = links.peers.all().iter().map(|(broker, peer)| (*broker, peer)).collect();
    let read = |answer: Bytes| RecordsAfter::decode(&answer);
    let (_, records) = ask_in_turn(others, Lane::Bulk, request, ANSWER_TIMEOUT, read).await?;
    Ok(records)
}

/// Answers another broker that lacks records.
pub(crate) async fn give(node: &Node, mut request: Bytes) -> Result<Bytes, String> {
    let mut number = || request.try_get_u64().map_err(|error| error.to_string());
    let (after, upto) = (number()?, number()?);
    let exports = node.exports().map(Arc::clone).ok_or("this broker has no exporters")?;
    let read = tokio::task::spawn_blocking(move || {
        exports.records_after(after, upto).map(|found| Bytes::from(found.encode()))
    });
    read.await.map_err(|error| error.to_string())?
}

/// The question, on its way, how far the target of the leader's exporter shows records.
#[derive(Debug, Default)]
pub(crate) struct ShownQuestion {
    /// Position that somebody on this broker looks for.
    wanted: AtomicU64,
    is_asked: AtomicBool,
}

/// Has the leader's exporter hand on what somebody looks for on this broker, and tells when it is shown. Returns at
/// once.
pub(crate) fn look_for(node: &Node, exporter: &str, position: u64) {
    let Some(router) = node.router.as_ref().filter(|_| !node.leads()) else { return };
    let (asking, exporter) = (Arc::clone(router), Name::from(exporter));
    let ask = move |position| {
        let (router, exporter) = (Arc::clone(&asking), exporter.clone());
        async move { ask_leader(&router, exporter.as_str(), position).await }
    };
    look_elsewhere(node, router, position, ask);
}

/// The same, with the way to ask another broker for a position.
pub(crate) fn look_elsewhere<F: Future<Output = Result<u64, String>> + Send>(
    node: &Node,
    router: &Arc<Router>,
    position: u64,
    ask: impl Fn(u64) -> F + Send + 'static,
) {
    let question = &router.links.shown;
    if question.wanted.fetch_max(position, Ordering::AcqRel) >= position
        || question.is_asked.swap(true, Ordering::AcqRel)
    {
        return;
    }
    let router = Arc::clone(router);
    let shown = node.options().export.clone();
    tokio::spawn(async move {
        let question = &router.links.shown;
        let mut told = 0;
        loop {
            let wanted = question.wanted.load(Ordering::Acquire);
            if told >= wanted {
                question.is_asked.store(false, Ordering::Release);
                // Unless one has come in between.
                if question.wanted.load(Ordering::Acquire) <= told
                    || question.is_asked.swap(true, Ordering::AcqRel)
                {
                    return;
                }
                continue;
            }
            match ask(wanted).await {
                Ok(position) => {
                    shown.shown(FIRST_PARTITION, position);
                    told = position.max(told);
                }
                // The next one who looks asks again.
                Err(reason) => {
                    tracing::debug!(reason, "no other broker tells what its exporter has handed on");
                    question.wanted.store(0, Ordering::Release);
                    question.is_asked.store(false, Ordering::Release);
                    return;
                }
            }
        }
    });
}

async fn ask_leader(router: &Router, exporter: &str, position: u64) -> Result<u64, String> {
    let request = RequestKind::Shown.about(position, exporter.as_bytes());
    let mut answer = router.ask_leader(request, ANSWER_TIMEOUT).await?;
    answer.try_get_u64().map_err(|error| error.to_string())
}

/// Answers another broker up to which position the target shows records: up to the one that it looks for, if that is
/// soon.
pub(crate) async fn tell_shown(node: &Node, mut request: Bytes) -> Result<Bytes, String> {
    let position = request.try_get_u64().map_err(|error| error.to_string())?;
    let exporter = String::from_utf8(request.to_vec()).map_err(|error| error.to_string())?;
    let exports = node.exports().ok_or("this broker has no exporters")?;
    let deadline = Instant::now() + SHOWN_PATIENCE;
    loop {
        if !node.leads() {
            return Err("this broker does not lead".to_owned());
        }
        exports.hasten(&exporter).ok_or("this broker has no such exporter")?;
        let handed_on = exports.handed_on(&exporter).unwrap_or(0);
        if handed_on >= position || Instant::now() > deadline {
            return Ok(Bytes::copy_from_slice(&handed_on.to_be_bytes()));
        }
        sleep(SHOWN_LOOK).await;
    }
}
