//! HTTP/2 on one connection: its calls, one task each, its pings, and its end.
//!
//! Bytes go to the connection only as far as the client's windows have room for them; what is over waits with its
//! call. So a call whose client does not read is known, and ends alone.

use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Ping, PingPong, Reason, RecvStream, SendStream};
use http::{Request, Response};
use http_body::Body as _;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;

use super::calls::ConnectionCalls;
use super::handed::Handed;
use crate::Connections;
use crate::connection::answer::{Answer, written};
use crate::connection::peer::{PROGRESS_BYTES, Peer};
use crate::connection::places::PRESSURE_FACTOR;
use crate::connection::refusals;
use crate::connection::socket::Socket;

/// How long the last words with the client of an idle connection may take.
const RETIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Silence is looked for so often in the time that it may last.
const LOOKS_PER_INTERVAL: u32 = 4;

/// How HTTP/2 is spoken.
#[derive(Clone)]
pub(super) struct Http2 {
    pub(super) builder: Builder,
    pub(super) keep_alive_interval: Duration,
    pub(super) keep_alive_timeout: Duration,
}

/// The call has ended before its answer did.
struct Ended;

impl Http2 {
    /// Serves the calls of one connection until it ends.
    pub(super) async fn converse(self, socket: Socket, calls: ConnectionCalls, shutdown: CancellationToken) {
        let handshake = self.builder.handshake::<_, Bytes>(socket);
        let mut connection = tokio::select! {
            connection = handshake => match connection {
                Ok(connection) => connection,
                Err(error) => return note(&error),
            },
            () = shutdown.cancelled() => return,
        };
        let peer = Arc::clone(&calls.peer);
        let pings = connection.ping_pong().expect("nobody has asked for it before");
        let mut lost = pin!(is_lost(pings, &peer, self.keep_alive_interval, self.keep_alive_timeout));
        let (mut stopped, mut retired) = (pin!(shutdown.cancelled()), pin!(peer.retire.cancelled()));
        let mut late: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(pending());
        let mut is_ending = false;
        loop {
            tokio::select! {
                biased;
                call = connection.accept() => match call {
                    Some(Ok((request, respond))) => {
                        tokio::spawn(serve(calls.clone(), request, respond));
                    }
                    Some(Err(error)) => return note(&error),
                    None => return,
                },
                () = &mut stopped, if !is_ending => {
                    is_ending = true;
                    connection.graceful_shutdown();
                }
                () = &mut retired, if !is_ending => {
                    is_ending = true;
                    connection.graceful_shutdown();
                    late = Box::pin(sleep(RETIRE_TIMEOUT));
                }
                () = &mut lost => return,
                () = &mut late => return,
            }
        }
    }
}

/// Clients that vanish or speak something else are everyday life, not worth more than a look on demand.
fn note(error: &h2::Error) {
    tracing::debug!(%error, "a gRPC connection ended with an error");
}

/// Resolves when the client is gone: it was silent for `interval`, and gave no answer to a ping.
async fn is_lost(mut pings: PingPong, peer: &Peer, interval: Duration, answer: Duration) {
    let (mut seen, mut quiet) = (peer.received(), 0);
    loop {
        sleep(interval / LOOKS_PER_INTERVAL).await;
        let received = peer.received();
        quiet = if received == seen { quiet + 1 } else { 0 };
        seen = received;
        if quiet < LOOKS_PER_INTERVAL {
            continue;
        }
        quiet = 0;
        let asked = pings.send_ping(Ping::opaque());
        let answered = timeout(answer, poll_fn(|context| pings.poll_pong(context))).await;
        if asked.is_err() || !matches!(answered, Ok(Ok(_))) {
            return;
        }
    }
}

async fn serve(calls: ConnectionCalls, request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let (peer, connections) = (Arc::clone(&calls.peer), calls.services.connections.clone());
    let answered = {
        let mut answer = pin!(calls.call(request));
        let answered = poll_fn(|context| match answer.as_mut().poll(context) {
            Poll::Ready(answered) => Poll::Ready(Some(answered)),
            Poll::Pending => respond.poll_reset(context).map(|_| None),
        });
        answered.await
    };
    // Without one, the client has ended the call.
    let Some(answered) = answered else { return };
    let (head, body) = answered.response.into_parts();
    let is_whole = body.is_end_stream();
    let Ok(stream) = respond.send_response(Response::from_parts(head, ()), is_whole) else { return };
    if !is_whole {
        let sending = Sending { stream, peer, connections, handed: answered.handed, since: None, taken: 0 };
        let _ = sending.send(body).await;
    }
}

/// An answer on its way.
struct Sending {
    stream: SendStream<Bytes>,
    peer: Arc<Peer>,
    connections: Connections,
    handed: Arc<Handed>,
    /// Time since which the client takes nothing, or less than [`PROGRESS_BYTES`].
    since: Option<Instant>,
    taken: u64,
}

impl Sending {
    async fn send(mut self, mut body: Answer<Body>) -> Result<(), Ended> {
        loop {
            let stream = &mut self.stream;
            let frame = poll_fn(|context| match stream.poll_reset(context) {
                Poll::Ready(_) => Poll::Ready(Err(Ended)),
                Poll::Pending => Pin::new(&mut body).poll_frame(context).map(Ok),
            });
            match frame.await? {
                None => return self.stream.send_data(Bytes::new(), true).map_err(|_| Ended),
                Some(Err(_)) => {
                    self.stream.send_reset(Reason::INTERNAL_ERROR);
                    return Err(Ended);
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.send_data(bytes).await?,
                    Err(frame) => {
                        let trailers = frame.into_trailers().unwrap_or_default();
                        return self.stream.send_trailers(trailers).map_err(|_| Ended);
                    }
                },
            }
        }
    }

    async fn send_data(&mut self, mut bytes: Bytes) -> Result<(), Ended> {
        while !bytes.is_empty() {
            self.stream.reserve_capacity(bytes.len());
            let room = self.room().await?.min(bytes.len());
            let piece = written(bytes.split_to(room), &self.peer);
            self.stream.send_data(piece, false).map_err(|_| Ended)?;
            self.taken += room as u64;
            if self.taken >= PROGRESS_BYTES {
                self.since = None;
            }
        }
        self.since = None;
        self.handed.are_sent();
        Ok(())
    }

    /// Bytes that the client has room for, at least one. Without any for too long, the call ends.
    async fn room(&mut self) -> Result<usize, Ended> {
        loop {
            let room = self.stream.capacity();
            if room > 0 {
                return Ok(room);
            }
            let slow = self.connections.settings.slow_timeout;
            if self.since.is_none() {
                (self.since, self.taken) = (Some(Instant::now()), 0);
            } else if self.is_overdue(slow) {
                // To clients of gRPC this is RESOURCE_EXHAUSTED. A status would wait behind what is not read.
                self.stream.send_reset(Reason::ENHANCE_YOUR_CALM);
                self.connections.refusals.note(refusals::Reason::SlowReader);
                return Err(Ended);
            }
            let stream = &mut self.stream;
            let more = poll_fn(|context| match stream.poll_reset(context) {
                Poll::Ready(_) => Poll::Ready(None),
                Poll::Pending => stream.poll_capacity(context).map(|room| room.and_then(Result::ok)),
            });
            // After a part of the time, there may be less of it.
            if let Ok(None) = timeout(slow / PRESSURE_FACTOR, more).await {
                return Err(Ended);
            }
        }
    }

    fn is_overdue(&self, slow: Duration) -> bool {
        let factor = if self.connections.budget.is_tight() { PRESSURE_FACTOR } else { 1 };
        self.since.is_some_and(|since| since.elapsed() >= slow / factor)
    }
}
