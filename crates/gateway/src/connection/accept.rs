//! Accepting connections: bounded in number, one task each, until the server stops.

use std::sync::Arc;
use std::time::Duration;

use auth::ServerTls;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::refusals::{Reason, Refusals};

/// How long accepting pauses when the system has no more file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long a client may take for the handshake of TLS.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection with TLS, if the client manages. `name` is for the log.
pub(crate) async fn encrypted(
    name: &'static str,
    tls: &ServerTls,
    stream: TcpStream,
    refusals: &Arc<Refusals>,
) -> Option<impl AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => Some(stream),
        // Clients that speak something else or trust nobody are everyday life.
        Ok(Err(error)) => {
            tracing::debug!(%error, "a {name} connection has no TLS");
            refusals.note(Reason::Handshake);
            None
        }
        Err(_) => {
            tracing::debug!("a {name} connection was too slow for TLS");
            refusals.note(Reason::Timeout);
            None
        }
    }
}

/// Accepts until `shutdown`, then waits for what is open. `drive` serves one connection to its end; of `name` the log speaks.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    name: &'static str,
    listener: TcpListener,
    connections_max: usize,
    shutdown: &CancellationToken,
    drive: impl Fn(TcpStream) -> F,
) {
    let places = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
    let connections = TaskTracker::new();
    let next = async || {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        (listener.accept().await, place)
    };
    loop {
        let (accepted, place) = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            next = next() => next,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = drive(stream);
                connections.spawn(async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a {name} connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}
