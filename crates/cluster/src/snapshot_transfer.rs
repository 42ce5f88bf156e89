//! Snapshots on their way to other brokers: one at a time from here, throttled, and continued after a lost connection.
//!
//! The view of the state is written to a file first, so it pins space in the state file no longer than that takes.
//! Checksums inside the snapshot are compared by its receiver before anything is given up for it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use replication::SnapshotBody;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use transport::{BrokerIdentity, CallError, Lane, Parts, Peer, Pieces};

use crate::metric_definitions::{SnapshotEvent, snapshot_event, snapshot_to_send};
use crate::peer_request::RequestKind;
use data_directory::{SyncedFile, check_room};

/// Bytes per second of a snapshot by default.
pub const BYTES_PER_SECOND: u64 = 64 << 20;
/// Time-out of a snapshot without progress; then another broker has its turn.
const RESUME_PATIENCE: Duration = Duration::from_secs(30);
/// Interval at which a broker that was lost is asked how much it has, and time-out of its answer.
const RESUME_LOOK: Duration = Duration::from_millis(100);
const RESUME_ANSWER: Duration = Duration::from_secs(2);
/// Copies of a snapshot that its receiver has at a time: the file, and the state built from it.
const COPIES_OF_RECEIVER: u64 = 2;

/// A part of a snapshot, as it is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Announced {
    group: u64,
    /// The replica that it is for.
    replica: u64,
    /// Number of the snapshot, given by its source for one life.
    transfer: u64,
    /// Bytes before this part.
    offset: u64,
    /// Bytes of all parts.
    total: u64,
}

impl Announced {
    const BYTES: usize = 1 + 5 * 8;

    fn message(self, head: &Bytes) -> Bytes {
        let mut message = BytesMut::with_capacity(Self::BYTES + head.len());
        message.put_u8(RequestKind::Snapshot as u8);
        for number in [self.group, self.replica, self.transfer, self.offset, self.total] {
            message.put_u64(number);
        }
        message.put(&head[..]);
        message.freeze()
    }

    /// The part of a message, and the head of the request that it belongs to.
    fn read(mut message: Bytes) -> Result<(Self, Bytes), String> {
        if message.len() < Self::BYTES || RequestKind::of(&message) != Some(RequestKind::Snapshot) {
            return Err("a snapshot of unknown kind".to_owned());
        }
        message.advance(1);
        let [group, replica, transfer, offset, total] = [(); 5].map(|()| message.get_u64());
        Ok((Self { group, replica, transfer, offset, total }, message))
    }
}

/// A temporary file, removed when it is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left over, it is removed with the next start; the state machine may have taken it.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The source of snapshots.
pub(crate) struct SnapshotSender {
    scratch: PathBuf,
    pace: Arc<Pace>,
    transfers: AtomicU64,
    /// Held by the one snapshot that is under way.
    turn: tokio::sync::Mutex<()>,
}

impl SnapshotSender {
    pub fn new(scratch: PathBuf, bytes_per_second: u64) -> Self {
        let pace = Arc::new(Pace { bytes_per_second, next: Mutex::new(Instant::now()) });
        Self { scratch, pace, transfers: AtomicU64::new(1), turn: tokio::sync::Mutex::default() }
    }

    /// Sends a snapshot with the head of its request, and brings the answer.
    pub async fn send(
        &self,
        peer: &Peer,
        (group, replica): (u64, u64),
        head: &Bytes,
        body: SnapshotBody,
    ) -> Result<Bytes, String> {
        // Refused and not waited for: meanwhile the view would pin space. It comes again with a newer one.
        let _turn = self.turn.try_lock().map_err(|_| "a snapshot is under way to another broker")?;
        let transfer = self.transfers.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch(self.scratch.join(format!("sent-{group}-{transfer}")));
        let (path, total) = write_out(body, scratch.0.clone()).await?;
        let mut announced = Announced { group, replica, transfer, offset: 0, total };
        loop {
            let pieces = self.pieces(&path, announced).await?;
            let sent = peer.upload(announced.message(head), pieces).await;
            snapshot_to_send(0);
            let reason = match sent {
                Ok(answer) => {
                    snapshot_event(SnapshotEvent::Sent);
                    return Ok(answer);
                }
                Err(CallError::Lost(reason) | CallError::NotSent(reason)) => reason,
                Err(error) => return Err(error.to_string()),
            };
            announced.offset = received(peer, announced).await.ok_or(reason)?;
            snapshot_event(SnapshotEvent::Resumed);
            tracing::info!(group, offset = announced.offset, total, "a snapshot is continued");
        }
    }

    /// The pieces of a file from an offset on, as fast as they may go.
    async fn pieces(&self, path: &Path, announced: Announced) -> Result<Pieces, String> {
        let (path, pace) = (path.to_owned(), Arc::clone(&self.pace));
        let opened = tokio::task::spawn_blocking(move || {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(announced.offset))?;
            Ok(file)
        });
        let failed = |error: std::io::Error| error.to_string();
        let file = opened.await.map_err(|error| error.to_string())?.map_err(failed)?;
        let mut pieces = transport::pieces(file);
        let (sender, paced) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut left = announced.total.saturating_sub(announced.offset);
            while let Some(piece) = pieces.recv().await {
                let bytes = piece.as_ref().map_or(0, Bytes::len) as u64;
                pace.take(bytes).await;
                left = left.saturating_sub(bytes);
                snapshot_to_send(left);
                // The upload may have ended before.
                if sender.send(piece).await.is_err() {
                    return;
                }
            }
        });
        Ok(paced)
    }
}

/// Bytes of a snapshot that have arrived, once the connection is there again; none if it must be begun anew.
async fn received(peer: &Peer, announced: Announced) -> Option<u64> {
    let message = RequestKind::SnapshotReceived.about(announced.transfer, &[]);
    let deadline = Instant::now() + RESUME_PATIENCE;
    while Instant::now() < deadline {
        let asked = timeout(RESUME_ANSWER, peer.call(Lane::Requests, message.clone())).await;
        match asked {
            Ok(Ok(mut answer)) => return answer.try_get_u64().ok().filter(|got| *got <= announced.total),
            Ok(Err(CallError::Failed(reason))) if reason == UNKNOWN => return None,
            _ => sleep(RESUME_LOOK).await,
        }
    }
    None
}

/// The file of a snapshot, and its length.
async fn write_out(body: SnapshotBody, target: PathBuf) -> Result<(PathBuf, u64), String> {
    let written = tokio::task::spawn_blocking(move || {
        let path = body.into_file(&target).map_err(|error| error.to_string())?;
        let length = std::fs::metadata(&path).map_err(|error| error.to_string())?.len();
        Ok((path, length))
    });
    written.await.map_err(|error| error.to_string())?
}

/// Limits the rate of bytes.
struct Pace {
    bytes_per_second: u64,
    next: Mutex<Instant>,
}

impl Pace {
    /// Waits until these bytes may go.
    async fn take(&self, bytes: u64) {
        let cost = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second.max(1) as f64);
        let at = {
            let mut next = self.next.lock();
            let at = (*next).max(Instant::now());
            *next = at + cost;
            at
        };
        sleep_until(at).await;
    }
}

/// The answer about a snapshot of which nothing is here.
const UNKNOWN: &str = "nothing of the snapshot is here";

/// A snapshot that has come in part.
struct PartOfSnapshot {
    /// Directory and life of its source.
    source: (u64, u64),
    transfer: u64,
    received: u64,
    file: Scratch,
}

/// The state of what a source sends.
enum Arrival {
    /// It is being written.
    UnderWay,
    Waiting(PartOfSnapshot),
}

/// The target of snapshots: at most one of each other broker.
#[derive(Clone)]
pub(crate) struct SnapshotReceiver {
    scratch: PathBuf,
    numbers: Arc<AtomicU64>,
    arrivals: Arc<Mutex<HashMap<u32, Arrival>>>,
}

/// A snapshot that has come whole: the group and the replica that it is for, the head of its request, and its file.
pub(crate) struct ReceivedSnapshot {
    pub group: u64,
    pub replica: u64,
    pub head: Bytes,
    pub path: PathBuf,
    _file: Scratch,
}

impl SnapshotReceiver {
    pub fn new(scratch: PathBuf) -> Self {
        Self { scratch, numbers: Arc::default(), arrivals: Arc::default() }
    }

    /// Answers how much of a snapshot has come.
    pub fn received(&self, from: &BrokerIdentity, mut request: Bytes) -> Result<Bytes, String> {
        request.advance(1);
        let transfer = request.try_get_u64().map_err(|error| error.to_string())?;
        match self.arrivals.lock().get(&from.broker) {
            Some(Arrival::UnderWay) => Err("the connection before is not over".to_owned()),
            Some(Arrival::Waiting(part))
                if part.transfer == transfer && part.source == (from.directory, from.life) =>
            {
                Ok(Bytes::copy_from_slice(&part.received.to_be_bytes()))
            }
            _ => Err(UNKNOWN.to_owned()),
        }
    }

    /// Takes a snapshot, or the rest of one.
    pub async fn receive(
        &self,
        from: &BrokerIdentity,
        message: Bytes,
        parts: Parts,
    ) -> Result<ReceivedSnapshot, String> {
        let (announced, head) = Announced::read(message)?;
        let part = self.begin(from, announced)?;
        let (this, broker) = (self.clone(), from.broker);
        // The thread outlives the connection, and this future.
        let written = tokio::task::spawn_blocking(move || this.write(broker, part, announced, parts));
        let file = written.await.map_err(|error| error.to_string())??;
        snapshot_event(SnapshotEvent::Received);
        Ok(ReceivedSnapshot {
            group: announced.group,
            replica: announced.replica,
            head,
            path: file.0.clone(),
            _file: file,
        })
    }

    fn begin(&self, from: &BrokerIdentity, announced: Announced) -> Result<PartOfSnapshot, String> {
        let mut arrivals = self.arrivals.lock();
        if matches!(arrivals.get(&from.broker), Some(Arrival::UnderWay)) {
            return Err("another snapshot of the same broker is under way".to_owned());
        }
        let source = (from.directory, from.life);
        let waiting = match arrivals.remove(&from.broker) {
            Some(Arrival::Waiting(part)) if part.source == source && part.transfer == announced.transfer => {
                Some(part)
            }
            // An earlier one is not wanted any more, and its file goes.
            _ => None,
        };
        let part = match waiting {
            Some(part) if announced.offset == part.received => part,
            None if announced.offset == 0 => {
                check_room(&self.scratch, announced.total.saturating_mul(COPIES_OF_RECEIVER))?;
                let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                let file = Scratch(self.scratch.join(format!("received-{number}")));
                File::create(&file.0).map_err(|error| format!("'{}': {error}", file.0.display()))?;
                PartOfSnapshot { source, transfer: announced.transfer, received: 0, file }
            }
            _ => return Err(UNKNOWN.to_owned()),
        };
        arrivals.insert(from.broker, Arrival::UnderWay);
        Ok(part)
    }

    /// Writes what comes. A snapshot that is cut waits for its rest, any other error ends it.
    fn write(
        &self,
        broker: u32,
        mut part: PartOfSnapshot,
        announced: Announced,
        mut parts: Parts,
    ) -> Result<Scratch, String> {
        let written = write_parts_to(&mut part, announced.total, &mut parts);
        let mut arrivals = self.arrivals.lock();
        arrivals.remove(&broker);
        match written {
            Ok(()) => Ok(part.file),
            Err((reason, is_cut)) => {
                if is_cut {
                    arrivals.insert(broker, Arrival::Waiting(part));
                } else {
                    snapshot_event(SnapshotEvent::Refused);
                }
                Err(reason)
            }
        }
    }
}

/// An error says whether the connection was lost, so that the rest may come later.
fn write_parts_to(part: &mut PartOfSnapshot, total: u64, parts: &mut Parts) -> Result<(), (String, bool)> {
    let path = part.file.0.clone();
    let failed = |error: std::io::Error| (format!("'{}': {error}", path.display()), false);
    let mut file = File::options().write(true).open(&path).map_err(failed)?;
    file.seek(SeekFrom::Start(part.received)).map_err(failed)?;
    let mut file = SyncedFile::new(file);
    loop {
        let next = Handle::current().block_on(parts.next()).map_err(|reason| (reason, true))?;
        let Some(bytes) = next else { break };
        file.write_all(&bytes).map_err(failed)?;
        part.received += bytes.len() as u64;
        if part.received > total {
            return Err((format!("a snapshot of more than the {total} bytes that it was to have"), false));
        }
    }
    if part.received < total {
        return Err((format!("a snapshot of {} bytes, it was to have {total}", part.received), false));
    }
    file.finish().map_err(failed)
}

#[cfg(test)]
mod tests;
