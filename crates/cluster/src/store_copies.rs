//! Copies of the embedded store, from one broker to another that lacks records which are in no log any more.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
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

    /// Obtains a copy that goes up to a position, from whichever of the others has one.
    pub async fn fetch(
        &self,
        peers: &ReplicaPeers,
        others: &[u64],
        at_least: u64,
    ) -> Result<PathBuf, NotFetched> {
        let request = RequestKind::StoreCopy.about(at_least, &[]);
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
