//! HTTP/1.1 on one connection, of the REST port or the management port.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use super::accept::Port;
use super::answer::Answer;
use super::peer::Peer;
use super::refusals::Reason;
use super::socket::Socket;
use super::unread::{Lent, lend};
use super::{Connections, linger};

/// The longest head of a request, and the first size of the read buffer's limit, in bytes.
const MAX_READ_BUFFER: usize = 128 * 1024;

/// The answer to a head that finds no room.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Signal for connections to end.
#[derive(Default)]
struct Stop {
    token: CancellationToken,
    /// Read on each poll of a connection, instead of the token with its lock.
    flag: AtomicBool,
}

impl Stop {
    /// Ends each connection after its present request.
    fn stop(&self) {
        self.flag.store(true, Ordering::Release);
        self.token.cancel();
    }

    fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }
}

/// How HTTP/1.1 is spoken on a port.
pub(crate) struct Http1<R> {
    /// The longest time without a request.
    pub(crate) idle_timeout: Duration,
    /// The answer when there is no room for the body of a request to this path.
    pub(crate) no_room: fn(&str) -> R,
}

impl Port {
    /// Serves HTTP/1.1 until `shutdown`, calls `stopping`, and waits for the requests under way. `answer` answers one
    /// request of a connection.
    pub(crate) async fn serve_http1<B, F>(
        self,
        shutdown: &CancellationToken,
        stopping: impl FnOnce(),
        Http1 { idle_timeout, no_room }: Http1<Response<B>>,
        answer: impl Fn(Request<Lent>, &Peer) -> F + Clone + Send + Sync + 'static,
    ) where
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let stop = Arc::new(Stop::default());
        let drive = {
            let (connections, stop) = (self.connections.clone(), Arc::clone(&stop));
            move |socket, peer: Arc<Peer>| {
                let (connections, stop, answer) = (connections.clone(), Arc::clone(&stop), answer.clone());
                let http1 = Http1 { idle_timeout, no_room };
                async move { converse(socket, &peer, http1, &connections, &stop, answer).await }
            }
        };
        let stopping = || {
            stopping();
            stop.stop();
        };
        self.serve(shutdown, stopping, drive).await;
    }
}

/// Answers a head that found no room. After an earlier answer, the client may be in the middle of it.
async fn refuse_head(socket: &mut Socket, peer: &Peer) {
    if !peer.has_begun() {
        // A client that has gone needs no answer; one that takes none is ended by the deadline for slow readers.
        let _ = socket.write_all(NO_ROOM).await;
    }
}

/// Serves the requests of one connection.
async fn converse<B, F>(
    mut socket: Socket,
    peer: &Arc<Peer>,
    Http1 { idle_timeout, no_room }: Http1<Response<B>>,
    connections: &Connections,
    stop: &Stop,
    answer: impl Fn(Request<Lent>, &Peer) -> F,
) where
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes> + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    peer.count_heads(&connections.budget);
    let service = service_fn(|request: Request<Incoming>| {
        let call = peer.call();
        let (request, rest) = lend(request, &connections.budget);
        let path = rest.is_some().then(|| request.uri().path().to_owned());
        let answer = answer(request, peer);
        async move {
            let mut response = answer.await;
            if let (Some(rest), Some(path)) = (rest, path) {
                if rest.is_over_budget() {
                    response = no_room(&path);
                    connections.refusals.note(Reason::Budget);
                }
                rest.settle(&mut response).await;
            }
            if let Some(reason) = Reason::of_status(response.status()) {
                connections.refusals.note(reason);
            }
            let budget = Arc::clone(&connections.budget);
            Ok::<_, Infallible>(response.map(|body| Answer::new(body, call, budget)))
        }
    });
    // No `pipeline_flush`: with it, hyper keeps its answer to a malformed head to itself, and few clients pipeline.
    let ended = {
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(idle_timeout)
                .max_buf_size(MAX_READ_BUFFER)
                .serve_connection(TokioIo::new(&mut socket), service)
        );
        let mut stopping = pin!(stop.token.cancelled());
        let mut watched = false;
        let ended = poll_fn(|context| {
            // One look registers the waker of this task; later ones are only worth it after the flag is up.
            let look = !std::mem::replace(&mut watched, true) || stop.is_stopped();
            if look && stopping.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            connection.as_mut().poll(context).map(Some)
        })
        .await;
        if let Some(ended) = ended {
            ended
        } else {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if peer.count_no_heads() {
        connections.refusals.note(Reason::Budget);
        refuse_head(&mut socket, peer).await;
    }
    match ended {
        // No client waits for an answer.
        Err(error) if error.is_timeout() => return,
        Err(error) if error.is_parse() => connections.refusals.note(Reason::Malformed),
        // Other faults of the peer are ignored.
        Ok(()) | Err(_) => {}
    }
    linger::close(&mut socket, stop.is_stopped()).await;
}
