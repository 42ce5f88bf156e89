//! The connection to another broker, made again whenever it breaks.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use rustls::pki_types::ServerName;
use tokio::io::AsyncRead;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::call::{CallError, Partial, WINDOW};
use crate::complaints::Complaints;
use crate::frame::{FIRST_FRAME, FRAME_BYTES_MAX, Frame, FrameKind, Lane, invalid};
use crate::handshake::{Agreed, BrokerIdentity, HandshakeError, connect};
use crate::secret::prove;
use crate::writer::{Closed, Outgoing, queues};
use crate::{Duplex, Shared, TransportOptions};

/// Time to reach the other side.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The first time between two attempts; it doubles with each.
const MIN_BACKOFF: Duration = Duration::from_millis(50);
/// A broker that starts or stops is away for so long, which is nothing to warn of. Each reason of a longer absence is
/// told once.
const SHORT_ABSENCE: Duration = Duration::from_secs(5);

/// The state of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerStatus {
    /// The first attempt is under way.
    Connecting,
    /// The other side answers.
    Connected(BrokerIdentity),
    /// It does not, for this reason; it is tried again.
    Down(String),
}

/// Another broker that this one calls.
pub struct Peer {
    state: Arc<PeerState>,
    status: watch::Receiver<PeerStatus>,
    limit: usize,
    _running: DropGuard,
}

struct PeerState {
    next_call: AtomicU64,
    connection: Mutex<Option<Connection>>,
}

/// A connection that works.
#[derive(Clone)]
struct Connection {
    outgoing: Outgoing,
    pending: Shared<HashMap<u64, Pending>>,
}

/// A call that waits for its answer.
struct Pending {
    answer: oneshot::Sender<Result<Bytes, CallError>>,
    partial: Partial,
    /// Parts of an upload that may be sent.
    credit: Option<Arc<Semaphore>>,
}

/// Tells the other side when nobody waits any more.
struct WaitingCall {
    connection: Connection,
    call: u64,
    lane: Lane,
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        if self.connection.pending.lock().remove(&self.call).is_some() {
            let cancel = Frame::new(FrameKind::Cancel, self.lane, self.call, Bytes::new());
            self.connection.outgoing.send_if_room(cancel);
        }
    }
}

impl Peer {
    /// Connects to a broker at an address, `host:port`, for as long as this lives.
    pub fn new(identity: BrokerIdentity, broker: u32, address: String, options: TransportOptions) -> Self {
        let (sender, status) = watch::channel(PeerStatus::Connecting);
        let stop = CancellationToken::new();
        let state = Arc::new(PeerState { next_call: AtomicU64::new(1), connection: Mutex::new(None) });
        let limit = options.max_message_bytes;
        let keeper = Keeper { identity, broker, address, options, state: Arc::clone(&state), status: sender };
        let stopped = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = keeper.run() => {}
                () = stopped.cancelled() => {}
            }
        });
        Self { state, status, limit, _running: stop.drop_guard() }
    }

    /// The state of the connection, and each change of it.
    pub fn status(&self) -> watch::Receiver<PeerStatus> {
        self.status.clone()
    }

    /// Calls the other broker. A call that is dropped is cancelled there.
    pub async fn call(&self, lane: Lane, request: Bytes) -> Result<Bytes, CallError> {
        let connection = self.connected().await?;
        if request.len() > self.limit {
            return Err(CallError::TooLarge { bytes: request.len(), limit: self.limit });
        }
        let (call, _waiting, answer) = self.register(&connection, lane, None);
        let sent = connection.outgoing.send_message(FrameKind::Request, lane, call, &request).await;
        answered(sent, answer).await
    }

    /// Sends a file with its head, and waits for the answer to it.
    pub async fn upload(&self, head: Bytes, mut file: Pieces) -> Result<Bytes, CallError> {
        let connection = self.connected().await?;
        if head.len() > FRAME_BYTES_MAX {
            return Err(CallError::TooLarge { bytes: head.len(), limit: FRAME_BYTES_MAX });
        }
        let credit = Arc::new(Semaphore::new(WINDOW));
        let (call, _waiting, mut answer) = self.register(&connection, Lane::Bulk, Some(Arc::clone(&credit)));
        let unread = |error: io::Error| CallError::NotSent(format!("the file cannot be read: {error}"));
        let send = async {
            let upload = Frame::new(FrameKind::Upload, Lane::Bulk, call, head);
            connection.outgoing.send(upload).await.map_err(|Closed| lost())?;
            let mut piece = file.recv().await.transpose().map_err(unread)?;
            loop {
                let next = file.recv().await.transpose().map_err(unread)?;
                credit.acquire().await.map_err(|_| lost())?.forget();
                let part = Frame::new(FrameKind::Part, Lane::Bulk, call, piece.unwrap_or_default());
                let part = Frame { is_last: next.is_none(), ..part };
                connection.outgoing.send(part).await.map_err(|Closed| lost())?;
                if next.is_none() {
                    return Ok(());
                }
                piece = next;
            }
        };
        tokio::select! {
            // The other side may have seen enough before the end.
            answer = &mut answer => return answer.unwrap_or_else(|_| Err(lost())),
            sent = send => sent?,
        }
        answer.await.unwrap_or_else(|_| Err(lost()))
    }

    fn register(
        &self,
        connection: &Connection,
        lane: Lane,
        credit: Option<Arc<Semaphore>>,
    ) -> (u64, WaitingCall, oneshot::Receiver<Result<Bytes, CallError>>) {
        let call = self.state.next_call.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        connection
            .pending
            .lock()
            .insert(call, Pending { answer: sender, partial: Partial::default(), credit });
        (call, WaitingCall { connection: connection.clone(), call, lane }, answer)
    }

    async fn connected(&self) -> Result<Connection, CallError> {
        if let Some(connection) = self.state.connection.lock().clone() {
            return Ok(connection);
        }
        let mut status = self.status.clone();
        let seen = status.wait_for(|status| !matches!(status, PeerStatus::Connecting)).await;
        let seen = seen.map_or(PeerStatus::Connecting, |status| status.clone());
        match (self.state.connection.lock().clone(), seen) {
            (Some(connection), _) => Ok(connection),
            (None, PeerStatus::Down(reason)) => Err(CallError::NotSent(reason)),
            (None, _) => Err(CallError::NotSent("there is no connection".to_owned())),
        }
    }
}

fn lost() -> CallError {
    CallError::Lost("the connection has ended".to_owned())
}

async fn answered(
    sent: Result<(), Closed>,
    answer: oneshot::Receiver<Result<Bytes, CallError>>,
) -> Result<Bytes, CallError> {
    match sent {
        // Frames that were queued may have been written.
        Err(Closed) => Err(lost()),
        Ok(()) => answer.await.unwrap_or_else(|_| Err(lost())),
    }
}

/// A file on its way, in pieces that a frame has room for.
pub type Pieces = mpsc::Receiver<io::Result<Bytes>>;

/// The pieces of a file, read on a thread that may block.
pub fn pieces(mut file: impl Read + Send + 'static) -> Pieces {
    let (sender, pieces) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut bytes = Vec::with_capacity(FRAME_BYTES_MAX);
            let read = file.by_ref().take(FRAME_BYTES_MAX as u64).read_to_end(&mut bytes);
            let piece = match read {
                Ok(0) => return,
                Ok(_) => Ok(bytes.into()),
                Err(error) => Err(error),
            };
            let is_over = piece.is_err();
            // The upload may have ended before.
            if sender.blocking_send(piece).is_err() || is_over {
                return;
            }
        }
    });
    pieces
}

/// Keeps the connection.
struct Keeper {
    identity: BrokerIdentity,
    broker: u32,
    address: String,
    options: TransportOptions,
    state: Arc<PeerState>,
    status: watch::Sender<PeerStatus>,
}

impl Keeper {
    async fn run(self) {
        let mut backoff = MIN_BACKOFF;
        let mut connected = Instant::now();
        let mut told = None;
        // A stranger at the other's address may give another reason each time.
        let complaints = Complaints::default();
        loop {
            let (reason, is_refusal) = match self.open().await {
                Ok((stream, agreed)) => {
                    backoff = MIN_BACKOFF;
                    told = None;
                    tracing::info!(peer = self.broker, address = self.address, "connected to a broker");
                    let reason = self.work(stream, agreed).await;
                    connected = Instant::now();
                    tracing::info!(peer = self.broker, reason, "a connection to a broker has ended");
                    (reason, false)
                }
                Err(error) => {
                    (error.to_string(), !matches!(error, HandshakeError::Io(_) | HandshakeError::Silent))
                }
            };
            let is_long = is_refusal || connected.elapsed() >= SHORT_ABSENCE;
            if is_long && told.as_ref() != Some(&reason) && complaints.admit(&reason) {
                tracing::warn!(
                    peer = self.broker,
                    address = self.address,
                    reason,
                    "a broker cannot be reached"
                );
                told = Some(reason.clone());
            }
            self.down(reason);
            tokio::time::sleep(backoff / 2 + backoff.mul_f64(any_part() / 2.0)).await;
            backoff = (backoff * 2).min(self.options.max_backoff);
        }
    }

    fn down(&self, reason: String) {
        let down = PeerStatus::Down(reason);
        self.status.send_if_modified(|known| {
            let is_new = *known != down;
            *known = down;
            is_new
        });
    }

    async fn open(&self) -> Result<(Box<dyn Duplex>, Agreed), HandshakeError> {
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let connecting = timeout(CONNECT_TIMEOUT, self.options.network.connect(&self.address));
        let stream = connecting.await.map_err(late)??;
        let secured = timeout(CONNECT_TIMEOUT, self.secured(stream));
        let mut stream = secured.await.map_err(late)??;
        let agreed = connect(&mut stream, &self.identity, self.broker, self.options.compresses).await?;
        Ok((stream, agreed))
    }

    /// Has both sides prove that they are of the cluster, by what is configured.
    async fn secured(&self, mut stream: Box<dyn Duplex>) -> Result<Box<dyn Duplex>, HandshakeError> {
        if let Some(certificates) = &self.options.certificates {
            let host = self.address.rsplit_once(':').map_or(&*self.address, |(host, _)| host);
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
            let name = name.map_err(|error| invalid(format!("'{host}': {error}")))?;
            let connected = certificates.connector().connect(name, stream).await;
            stream = Box::new(connected.map_err(HandshakeError::of_tls)?);
        }
        if let Some(secret) = &self.options.secret {
            stream = prove(stream, secret).await?;
        }
        Ok(stream)
    }

    /// Works until the connection ends; tells why.
    async fn work(&self, stream: Box<dyn Duplex>, agreed: Agreed) -> String {
        let (mut reading, writing) = tokio::io::split(stream);
        let (outgoing, queues) = queues();
        let connection = Connection { outgoing, pending: Shared::default() };
        *self.state.connection.lock() = Some(connection.clone());
        self.status.send_replace(PeerStatus::Connected(agreed.peer));
        let reason = tokio::select! {
            written = queues.write_to(writing, agreed.compresses, self.options.write_timeout) => written.err().map(|error| error.to_string()),
            read = self.read(&mut reading, &connection) => Some(read),
        };
        *self.state.connection.lock() = None;
        let reason = reason.unwrap_or_else(|| "the connection has ended".to_owned());
        for (_, pending) in connection.pending.lock().drain() {
            // Calls that were dropped need no answer.
            let _ = pending.answer.send(Err(CallError::Lost(reason.clone())));
        }
        reason
    }

    async fn read(&self, stream: &mut (impl AsyncRead + Unpin), connection: &Connection) -> String {
        for number in FIRST_FRAME.. {
            let frame = match timeout(self.options.silence, Frame::read(stream, number)).await {
                Ok(Ok(Some(frame))) => frame,
                Ok(Ok(None)) => return "the other side has closed the connection".to_owned(),
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return "the other side is silent".to_owned(),
            };
            if let Err(reason) = self.take(&frame, connection) {
                return reason;
            }
        }
        unreachable!("numbers of frames do not end")
    }

    fn take(&self, frame: &Frame, connection: &Connection) -> Result<(), String> {
        let mut pending = connection.pending.lock();
        match frame.kind {
            FrameKind::Ping => {}
            FrameKind::Credit => {
                if let Some(credit) = pending.get(&frame.call).and_then(|call| call.credit.as_ref()) {
                    credit.add_permits(1);
                }
            }
            FrameKind::Response | FrameKind::Failure => {
                let Some(call) = pending.get_mut(&frame.call) else { return Ok(()) };
                let Some(message) = call.partial.add(frame, self.options.max_message_bytes)? else {
                    return Ok(());
                };
                let call = pending.remove(&frame.call).expect("it was just found");
                let answer = match frame.kind {
                    FrameKind::Response => Ok(message),
                    _ => Err(CallError::Failed(String::from_utf8_lossy(&message).into_owned())),
                };
                // The caller may have gone.
                let _ = call.answer.send(answer);
            }
            kind => return Err(format!("a frame of kind {kind:?} instead of an answer")),
        }
        Ok(())
    }
}

/// A number from 0 to 1, so that brokers do not try all at once.
fn any_part() -> f64 {
    f64::from((RandomState::new().hash_one(0) % 1000) as u32) / 1000.0
}
