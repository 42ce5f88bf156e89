//! Exporters whose target is that of all brokers. The leader exports, and its positions stand in the state; the others
//! keep what it has not acknowledged, and give it to one that lacks it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::{Buf, Bytes};
use export::{Hub, RecordsAfter};
use partition::Partition;
use protocol::{Name, PartitionId};
use replication::Group;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use transport::Lane;

use crate::cluster_state::ClusterState;
use crate::node::Node;
use cluster::Links;
use cluster::RequestKind;
use cluster::ask_in_turn;

/// Time-out of another broker's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the leader looks how far its exporter is, and how long.
const SHOWN_LOOK: Duration = Duration::from_millis(5);
const SHOWN_PATIENCE: Duration = Duration::from_secs(3);

/// Lets exporters of a partition fetch records from other brokers. Their threads wait until the broker stops.
pub(crate) fn fetch_with(exports: &Hub, partition: PartitionId, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    exports.fetch_with(move |after, upto| {
        let links = links.upgrade().ok_or("the broker stops")?;
        let closed = links.closing();
        runtime.block_on(async {
            let fetched = fetch(&links, partition, after, upto);
            closed.run_until_cancelled(fetched).await.unwrap_or_else(|| Err("the broker stops".to_owned()))
        })
    });
}

async fn fetch(links: &Links, partition: PartitionId, after: u64, upto: u64) -> Result<RecordsAfter, String> {
    let request = RequestKind::Records.of_partition(partition).about(after, &upto.to_be_bytes());
    let others = links.peers.all().iter().map(|(broker, peer)| (*broker, peer)).collect();
    let read = |answer: Bytes| RecordsAfter::decode(&answer);
    let (_, records) = ask_in_turn(others, Lane::Bulk, request, ANSWER_TIMEOUT, read).await?;
    Ok(records)
}

/// Answers another broker that lacks records.
pub(crate) async fn give(partition: &Partition, mut request: Bytes) -> Result<Bytes, String> {
    let mut number = || request.try_get_u64().map_err(|error| error.to_string());
    let (after, upto) = (number()?, number()?);
    let exports = partition.exports().map(Arc::clone).ok_or("this broker has no exporters")?;
    let read = tokio::task::spawn_blocking(move || {
        exports.records_after(after, upto).map(|found| Bytes::from(found.encode()))
    });
    read.await.map_err(|error| error.to_string())?
}

/// Asks the leader's exporter to hand on records up to a position that a search on this broker waits for, and notes
/// when they are shown. Returns at once.
pub(crate) fn look_for(node: &Node, partition: &Partition, exporter: &str, position: u64) {
    let Some(cluster) = &node.cluster else { return };
    if partition.leads() {
        return;
    }
    let (asking, number) = (Arc::clone(cluster), partition.number());
    let (group, exporter) = (partition.group().clone(), Name::from(exporter));
    let ask = move |position| {
        let (cluster, group, exporter) = (Arc::clone(&asking), group.clone(), exporter.clone());
        async move { ask_leader(&cluster, (number, &group), exporter.as_str(), position).await }
    };
    look_elsewhere(node, number, cluster, position, ask);
}

/// Waits for a position like [`look_for`]; `ask` gets it from the leader.
pub(crate) fn look_elsewhere<F: Future<Output = Result<u64, String>> + Send>(
    node: &Node,
    partition: PartitionId,
    cluster: &Arc<ClusterState>,
    position: u64,
    ask: impl Fn(u64) -> F + Send + 'static,
) {
    let question = &cluster.part(partition).shown;
    if question.wanted.fetch_max(position, Ordering::AcqRel) >= position
        || question.is_asked.swap(true, Ordering::AcqRel)
    {
        return;
    }
    let cluster = Arc::clone(cluster);
    let shown = node.options().partition.export.clone();
    tokio::spawn(async move {
        let question = &cluster.part(partition).shown;
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
                    shown.shown(partition, position);
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

async fn ask_leader(
    cluster: &ClusterState,
    (partition, group): (PartitionId, &Group),
    exporter: &str,
    position: u64,
) -> Result<u64, String> {
    let request = RequestKind::Shown.of_partition(partition).about(position, exporter.as_bytes());
    let mut answer = cluster.ask_leader(group, request, ANSWER_TIMEOUT).await?;
    answer.try_get_u64().map_err(|error| error.to_string())
}

/// Answers another broker up to which position the target shows records: up to the one that it looks for, if that is
/// soon.
pub(crate) async fn tell_shown(partition: &Partition, mut request: Bytes) -> Result<Bytes, String> {
    let position = request.try_get_u64().map_err(|error| error.to_string())?;
    let exporter = String::from_utf8(request.to_vec()).map_err(|error| error.to_string())?;
    let exports = partition.exports().ok_or("this broker has no exporters")?;
    let deadline = Instant::now() + SHOWN_PATIENCE;
    loop {
        if !partition.leads() {
            return Err("this broker does not lead".to_owned());
        }
        // In this order: the exporter knows of all records of a state that it was handed.
        let stated = partition.handed_on();
        exports.hasten(&exporter).ok_or("this broker has no such exporter")?;
        let mut handed_on = exports.handed_on(&exporter).unwrap_or(0);
        if handed_on >= exports.last() {
            // Positions without a record count, too: a follower that was sent a snapshot looks for such a one.
            handed_on = handed_on.max(stated);
        }
        if handed_on >= position || Instant::now() > deadline {
            return Ok(Bytes::copy_from_slice(&handed_on.to_be_bytes()));
        }
        sleep(SHOWN_LOOK).await;
    }
}
