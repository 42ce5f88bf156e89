//! Copies of the embedded store, from one broker to another that lacks records which are in no log any more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use protocol::{FIRST_PARTITION, PartitionId};
use transport::{CallError, Lane, Parts};

use crate::peer_request::RequestKind;
use crate::peers::{ReplicaPeers, write_parts};

/// The first words of a broker that will have no copy either.
pub const NO_COPY: &str = "no copy";

/// Copies of this broker that are under way, to it and from it.
pub struct StoreCopies {
    scratch: PathBuf,
    number: AtomicU64,
    /// Held by the one copy that is made for another broker.
    pub giving: tokio::sync::Mutex<()>,
    wanted: Mutex<Wanted>,
}

/// Positions of partitions: that of the first one, and those of others with their numbers.
fn encode(wanted: &BTreeMap<PartitionId, u64>) -> Bytes {
    let mut encoded = BytesMut::with_capacity(10 * wanted.len() + 8);
    encoded.put_u64(wanted.get(&FIRST_PARTITION).copied().unwrap_or_default());
    for (partition, position) in wanted.iter().filter(|(partition, _)| **partition != FIRST_PARTITION) {
        encoded.put_u16(*partition);
        encoded.put_u64(*position);
    }
    encoded.freeze()
}

/// Reads the positions that another broker wants a copy to have.
pub fn wanted_positions(mut request: Bytes) -> Result<BTreeMap<PartitionId, u64>, String> {
    let failed = |error: bytes::TryGetError| error.to_string();
    let mut wanted = BTreeMap::from([(FIRST_PARTITION, request.try_get_u64().map_err(failed)?)]);
    while request.has_remaining() {
        let partition = request.try_get_u16().map_err(failed)?;
        wanted.insert(partition, request.try_get_u64().map_err(failed)?);
    }
    Ok(wanted)
}

/// The reason why no other broker has sent a copy.
#[derive(Debug)]
pub struct NotFetched {
    /// The reasons of all.
    pub reason: String,
    /// Whether no broker will have a copy later.
    pub is_final: bool,
}

/// The copy that this broker asks for.
#[derive(Default)]
enum Wanted {
    #[default]
    Nothing,
    /// Of the broker that was asked; others may not give one.
    CopyOf(u64),
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

    /// A new file for a copy on its way.
    pub fn path(&self, prefix: &str) -> PathBuf {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.scratch.join(format!("{prefix}-store-{number}"))
    }

    /// Obtains a copy that goes up to positions of partitions, from whichever of the others has one.
    pub async fn fetch(
        &self,
        peers: &ReplicaPeers,
        others: &[u64],
        at_least: &BTreeMap<PartitionId, u64>,
    ) -> Result<PathBuf, NotFetched> {
        let request = RequestKind::StoreCopy.with(&encode(at_least));
        let mut reasons = Vec::new();
        let mut is_final = true;
        for other in others {
            let Some(peer) = peers.peer(*other) else { continue };
            *self.wanted.lock() = Wanted::CopyOf(*other);
            let given = peer.call(Lane::Requests, request.clone()).await;
            let arrived = std::mem::take(&mut *self.wanted.lock());
            match (given, arrived) {
                // It has arrived, whatever became of the answer.
                (_, Wanted::Arrived(file)) => return Ok(file),
                (Ok(_), _) => {
                    is_final = false;
                    reasons.push(format!("broker {other} sent nothing"));
                }
                (Err(error), _) => {
                    is_final &= matches!(&error, CallError::Failed(reason) if reason.starts_with(NO_COPY));
                    reasons.push(format!("broker {other}: {error}"));
                }
            }
        }
        Err(NotFetched { reason: reasons.join("; "), is_final })
    }

    /// Takes a copy, if that broker was asked for one.
    pub async fn receive(&self, from: u32, parts: Parts) -> Result<Bytes, String> {
        let is_wanted =
            |wanted: &Wanted| matches!(wanted, Wanted::CopyOf(asked) if *asked == u64::from(from));
        if !is_wanted(&self.wanted.lock()) {
            return Err("no copy of the store is wanted".to_owned());
        }
        let path = self.path("received");
        let written = write_parts(path.clone(), parts).await;
        let mut wanted = self.wanted.lock();
        match written {
            Ok(()) if is_wanted(&wanted) => {
                *wanted = Wanted::Arrived(path);
                Ok(Bytes::new())
            }
            written => {
                // A file that stays is removed with the next start.
                let _ = std::fs::remove_file(path);
                Err(written.err().unwrap_or_else(|| "the copy came too late".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_positions_are_read_as_they_were_written() {
        for wanted in [BTreeMap::from([(1, 7)]), BTreeMap::from([(1, 0), (2, u64::MAX), (12, 1)])] {
            assert_eq!(wanted_positions(encode(&wanted)), Ok(wanted));
        }
        assert_eq!(encode(&BTreeMap::from([(1, 7)])).len(), 8, "as with one partition");
        for cut in [0, 7, 9, 17] {
            let encoded = encode(&BTreeMap::from([(1, 7), (2, 9)]));
            assert!(wanted_positions(encoded.slice(..cut)).is_err(), "{cut}");
        }
    }
}
