//! HTTP/1.1 on one connection, of the REST port or the management port.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::refusals::Reason;
use super::unread::{Lent, lend};
use super::{Connections, linger};

/// The longest head of a request, and the first size of the read buffer's limit, in bytes.
const MAX_READ_BUFFER: usize = 128 * 1024;

/// How connections learn that they shall end.
#[derive(Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    /// Read on each poll of a connection, instead of the token with its lock.
    flag: AtomicBool,
}

impl Stop {
    /// Connections end after the request that they are at.
    pub(crate) fn stop(&self) {
        self.flag.store(true, Ordering::Release);
        self.token.cancel();
    }

    fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }
}

/// Serves the requests of one connection. `head_timeout` is the longest time without a whole head of a request.
pub(crate) async fn converse<S, B>(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    head_timeout: Duration,
    service: S,
    connections: &Connections,
    stop: &Stop,
) where
    S: Service<Request<Lent>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let service = service_fn(|request: Request<Incoming>| {
        let (request, rest) = lend(request);
        let answer = service.call(request);
        async move {
            let mut response = answer.await?;
            if let Some(rest) = rest {
                rest.settle(&mut response).await;
            }
            if let Some(reason) = Reason::of_status(response.status()) {
                connections.refusals.note(reason);
            }
            Ok::<_, Infallible>(response)
        }
    });
    // No `pipeline_flush`: with it, hyper keeps its answer to a malformed head to itself, and few clients pipeline.
    let ended = {
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(head_timeout)
                .max_buf_size(MAX_READ_BUFFER)
                .serve_connection(TokioIo::new(&mut stream), service)
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
        match ended {
            Some(ended) => ended,
            None => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    match ended {
        // Nobody waits for an answer.
        Err(error) if error.is_timeout() => return,
        Err(error) if error.is_parse() => connections.refusals.note(Reason::Malformed),
        // What else goes wrong with the peer is the peer's affair.
        Ok(()) | Err(_) => {}
    }
    linger::close(&mut stream, stop.is_stopped()).await;
}
