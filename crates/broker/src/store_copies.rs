//! Copies of the embedded store, from one broker to another that lacks records which are in no log any more.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes};
use export::Copies;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use transport::{Lane, Parts};

use crate::cluster::Links;
use crate::node::Node;
use crate::peer_request::RequestKind;
use crate::peers::{ReplicaPeers, write_parts};

/// Time that another broker waits for the store to have what it asks for.
const FLUSH_TIME: Duration = Duration::from_secs(5);
const FLUSH_LOOK: Duration = Duration::from_millis(50);

/// Copies of this broker that are under way, to it and from it.
pub(crate) struct StoreCopies {
    scratch: PathBuf,
    number: AtomicU64,
    /// Held by the one copy that is made for another broker.
    giving: tokio::sync::Mutex<()>,
    wanted: Mutex<Wanted>,
}

/// The copy that this broker asks for.
#[derive(Default)]
enum Wanted {
    #[default]
    Nothing,
    Copy,
    Arrived(PathBuf),
}

impl StoreCopies {
    /// None are under way. Files of those that are go to `scratch`.
    pub fn new(scratch: &Path) -> Self {
        Self {
            scratch: scratch.to_owned(),
            number: AtomicU64::new(0),
            giving: tokio::sync::Mutex::default(),
            wanted: Mutex::default(),
        }
    }

    fn path(&self, prefix: &str) -> PathBuf {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.scratch.join(format!("{prefix}-store-{number}"))
    }

    /// Obtains a copy that goes up to a position, from whichever of the others has one.
    async fn fetch(&self, peers: &ReplicaPeers, others: &[u64], at_least: u64) -> Result<PathBuf, String> {
        let request = RequestKind::StoreCopy.about(at_least, &[]);
        let mut reasons = Vec::new();
        for other in others {
            let Some(peer) = peers.peer(*other) else { continue };
            *self.wanted.lock() = Wanted::Copy;
            let given = peer.call(Lane::Requests, request.clone()).await;
            let arrived = std::mem::take(&mut *self.wanted.lock());
            match (given, arrived) {
                // It has arrived, whatever became of the answer.
                (_, Wanted::Arrived(file)) => return Ok(file),
                (Ok(_), _) => reasons.push(format!("broker {other} sent nothing")),
                (Err(error), _) => reasons.push(format!("broker {other}: {error}")),
            }
        }
        Err(reasons.join("; "))
    }

    /// Takes a copy, if this broker has asked for one.
    pub async fn receive(&self, parts: Parts) -> Result<Bytes, String> {
        if !matches!(*self.wanted.lock(), Wanted::Copy) {
            return Err("no copy of the store is wanted".to_owned());
        }
        let path = self.path("received");
        let written = write_parts(path.clone(), parts).await;
        let mut wanted = self.wanted.lock();
        match (written, &*wanted) {
            (Ok(()), Wanted::Copy) => {
                *wanted = Wanted::Arrived(path);
                Ok(Bytes::new())
            }
            (written, _) => {
                // A file that stays is removed with the next start.
                let _ = std::fs::remove_file(path);
                Err(written.err().unwrap_or_else(|| "the copy came too late".to_owned()))
            }
        }
    }
}

/// Lets exporters fetch copies from other brokers. Their threads wait until the broker stops.
pub(crate) fn fetch_with(copies: &Copies, links: &Arc<Links>) {
    let (links, runtime) = (Arc::downgrade(links), Handle::current());
    copies.fetch_with(move |at_least| {
        let links = links.upgrade().ok_or("the broker stops")?;
        let closed: CancellationToken = links.closing();
        runtime.block_on(async {
            let others = links.other_numbers();
            let fetched = links.copies.fetch(&links.peers, &others, at_least);
            closed.run_until_cancelled(fetched).await.unwrap_or_else(|| Err("the broker stops".to_owned()))
        })
    });
}

/// Position of the last record up to a position, or of a later one.
pub(crate) fn needed(node: &Node, at_least: u64) -> Result<u64, String> {
    let exports = node.exports().ok_or("this broker has no exporters")?;
    // In this order: the records up to the position that was handed on have come then.
    let handed_on = node.handed_on();
    if handed_on < at_least {
        return Err(format!("it has records up to {handed_on}"));
    }
    Ok(exports.last().min(at_least))
}

/// Has the store flushed, and waits for it a short time.
async fn until_stored(node: &Node, needed: u64) -> Result<(), String> {
    let exports = node.exports().ok_or("this broker has no exporters")?;
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
pub(crate) async fn give(node: &Node, to: u32, mut request: Bytes) -> Result<Bytes, String> {
    let at_least = request.try_get_u64().map_err(|error| error.to_string())?;
    let router = node.router.as_ref().ok_or("this broker is alone")?;
    let copies = node.options().export.copies().ok_or("this broker has no embedded store")?;
    let needed = needed(node, at_least)?;
    until_stored(node, needed).await?;
    let links = &router.links;
    let _giving = links.copies.giving.try_lock().map_err(|_| "it makes a copy for another broker")?;
    let path = links.copies.path("sent");
    let (made, target) = (Arc::clone(copies), path.clone());
    let file = tokio::task::spawn_blocking(move || {
        let made = made.make(&target);
        let file = made.and_then(|position| match File::open(&target) {
            Ok(_) if position < needed => Err(format!("its store goes up to {position}")),
            opened => opened.map_err(|error| error.to_string()),
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
