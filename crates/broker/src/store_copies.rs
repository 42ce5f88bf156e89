//! Copies of the embedded store for other brokers, and from them.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cluster::{Links, NO_COPY, NotFetched, RequestKind};
use export::{Copies, NoCopy};
use partition::Partition;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::node::Node;
use crate::store_queries::needed;

/// Time that another broker waits for the store to have what it asks for.
const FLUSH_TIME: Duration = Duration::from_secs(5);
const FLUSH_LOOK: Duration = Duration::from_millis(50);

/// Lets exporters fetch copies from other brokers. Their threads wait until the broker stops.
pub(crate) fn fetch_with(copies: &Copies, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    copies.fetch_with(move |wanted| {
        let stops = || NoCopy::now("the broker stops");
        let links = links.upgrade().ok_or_else(stops)?;
        let closed: CancellationToken = links.closing();
        runtime.block_on(async {
            let others = links.other_numbers();
            let fetched = async {
                let fetched = links.copies.fetch(&links.peers, &others, wanted).await;
                fetched.map_err(|NotFetched { reason, is_final }| NoCopy { reason, is_final })
            };
            closed.run_until_cancelled(fetched).await.unwrap_or_else(|| Err(stops()))
        })
    });
}

/// Has the store flushed with what a partition has, and waits for it a short time.
async fn until_stored(partition: &Partition, needed: u64) -> Result<(), String> {
    let exports = partition.exports().ok_or("this broker has no exporters")?;
    let deadline = Instant::now() + FLUSH_TIME;
    let mut looks = tokio::time::interval(FLUSH_LOOK);
    loop {
        let own = exports.status().exporters.into_iter().filter(|exporter| !exporter.is_shared);
        let position = own.map(|exporter| exporter.acknowledged_position).min().unwrap_or(u64::MAX);
        if position >= needed {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("its store goes up to {position}"));
        }
        for exporter in exports.status().exporters {
            exports.hasten(&exporter.id);
        }
        looks.tick().await;
    }
}

/// Sends a copy of this broker's store to one that asks for it. Answers once it has arrived.
pub(crate) async fn give(node: &Node, to: u32, request: Bytes) -> Result<Bytes, String> {
    let wanted = cluster::wanted_positions(request)?;
    let cluster = node.cluster.as_ref().ok_or("this broker is alone")?;
    let copies = node.options().partition.export.copies();
    let copies = copies.ok_or_else(|| format!("{NO_COPY} is at this broker"))?;
    if let Some(reason) = node.options().store.as_ref().and_then(|store| store.lacking()) {
        return Err(format!("{NO_COPY} is whole at this broker: {reason}"));
    }
    let mut needed_of = BTreeMap::new();
    for partition in node.all() {
        let at_least = wanted.get(&partition.number()).copied().unwrap_or_default();
        let needed = needed(partition, at_least)?;
        until_stored(partition, needed).await?;
        needed_of.insert(partition.number(), needed);
    }
    let links = &cluster.links;
    let _giving = links.copies.giving.try_lock().map_err(|_| "it makes a copy for another broker")?;
    let path = links.copies.path("sent");
    let (made, target) = (Arc::clone(copies), path.clone());
    let file = tokio::task::spawn_blocking(move || {
        let made = made.make(&target);
        let file = made.and_then(|positions| {
            let position = |partition| positions.get(partition).copied().unwrap_or_default();
            let behind = needed_of.iter().find(|(partition, needed)| position(partition) < **needed);
            match behind {
                None => File::open(&target).map_err(|error| error.to_string()),
                Some((partition, _)) => {
                    Err(format!("its store goes up to {} of partition {partition}", position(partition)))
                }
            }
        });
        // It is there as long as it is open.
        let _ = std::fs::remove_file(target);
        file
    });
    let file = file.await.map_err(|error| error.to_string())??;
    let peer = links.peers.peer(u64::from(to)).ok_or("the broker has no address")?;
    tracing::info!(broker = to, "a copy of the store is sent to another broker");
    let sent = peer.upload(RequestKind::StoreCopy.alone(), transport::pieces(file)).await;
    sent.map_err(|error| error.to_string())
}
