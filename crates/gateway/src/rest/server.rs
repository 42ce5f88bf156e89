//! Connections: accepts them, serves HTTP/1.1 on them, ends them.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use broker::api::Broker;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Gateway, Options, batch_searches};

/// The pause after a failed accept, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The longest head of a request, and the first size of the read buffer's limit, in bytes.
const MAX_READ_BUFFER: usize = 128 * 1024;

/// How a connection learns that it shall end.
struct Stop {
    token: CancellationToken,
    /// Read on each poll of a connection, instead of the token with its lock.
    flag: AtomicBool,
}

/// Serves until `shutdown`, then lets requests in flight finish for as long as the options say.
pub async fn serve(
    listener: TcpListener,
    broker: Arc<dyn Broker>,
    options: Options,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let stop_timeout = options.stop_timeout;
    let places = Arc::new(Semaphore::new(options.max_connections));
    let gateway = Arc::new(Gateway::new(broker, options, shutdown.clone()));
    let stop = Arc::new(Stop { token: CancellationToken::new(), flag: AtomicBool::new(false) });
    let mut searches = JoinSet::new();
    searches.spawn(batch_searches::run(Arc::clone(&gateway), shutdown.clone()));
    let mut connections = JoinSet::new();
    let mut accepting = true;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(ended) = connections.join_next() => note_panic(ended),
            accepted = accept(&listener, &places) => match accepted {
                Ok((stream, place)) => {
                    accepting = true;
                    connections.spawn(connection(stream, place, Arc::clone(&gateway), Arc::clone(&stop)));
                }
                Err(error) => {
                    if std::mem::take(&mut accepting) {
                        tracing::warn!(%error, "no REST connections can be accepted; trying on");
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    searches.shutdown().await;
    stop.flag.store(true, Ordering::Release);
    stop.token.cancel();
    let finish = async {
        while let Some(ended) = connections.join_next().await {
            note_panic(ended);
        }
    };
    if timeout(stop_timeout, finish).await.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "REST requests did not finish in time and are cut off"
        );
        connections.shutdown().await;
    }
    Ok(())
}

/// Waits for a free place first, so that the system's backlog holds what is too much.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

fn note_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a REST connection ended by a panic");
    }
}

async fn connection(stream: TcpStream, place: OwnedSemaphorePermit, gateway: Arc<Gateway>, stop: Arc<Stop>) {
    // Fails on a socket that is closed already; serving it then ends by itself.
    let _ = stream.set_nodelay(true);
    match gateway.options.tls.clone() {
        None => converse(stream, gateway, stop).await,
        Some(tls) => {
            if let Some(stream) = crate::accept::encrypted("REST", &tls, stream).await {
                converse(stream, gateway, stop).await;
            }
        }
    }
    drop(place);
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    gateway: Arc<Gateway>,
    stop: Arc<Stop>,
) {
    let idle_timeout = gateway.options.idle_timeout;
    let service = service_fn(move |request| {
        let gateway = Arc::clone(&gateway);
        async move { Ok::<_, Infallible>(gateway.answer(request).await) }
    });
    // No `pipeline_flush`: with it, hyper keeps its answer to a malformed head to itself, and few clients pipeline.
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle_timeout)
            .max_buf_size(MAX_READ_BUFFER)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut stopping = pin!(stop.token.cancelled());
    let mut watched = false;
    let ended = poll_fn(|context| {
        // One look registers the waker of this task; later ones are only worth it after the flag is up.
        let look = !std::mem::replace(&mut watched, true) || stop.flag.load(Ordering::Acquire);
        if look && stopping.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        connection.as_mut().poll(context).map(Some)
    })
    .await;
    if ended.is_none() {
        connection.as_mut().graceful_shutdown();
        // What goes wrong with the peer now is the peer's affair.
        let _ = connection.await;
    }
}
