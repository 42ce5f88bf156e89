//! Connections: accepts them, serves HTTP/1.1 on them, ends them.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use broker::api::Broker;
use hyper::service::service_fn;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Gateway, Options, batch_searches};
use crate::connection::accept;
use crate::connection::http1::{self, Stop};

/// The pause after a failed accept, most likely for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
    let stop = Arc::new(Stop::default());
    let mut searches = JoinSet::new();
    searches.spawn(batch_searches::run(Arc::clone(&gateway), shutdown.clone()));
    let mut connections = JoinSet::new();
    let mut accepting = true;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(ended) = connections.join_next() => note_panic(ended),
            accepted = next(&listener, &places) => match accepted {
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
    stop.stop();
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
async fn next(
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
        None => converse(stream, gateway, &stop).await,
        Some(tls) => {
            let refusals = &gateway.options.connections.refusals;
            if let Some(stream) = accept::encrypted("REST", &tls, stream, refusals).await {
                converse(stream, gateway, &stop).await;
            }
        }
    }
    drop(place);
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    gateway: Arc<Gateway>,
    stop: &Stop,
) {
    let service = service_fn(|request| {
        let gateway = Arc::clone(&gateway);
        async move { Ok::<_, Infallible>(gateway.answer(request).await) }
    });
    let options = &gateway.options;
    http1::converse(stream, options.idle_timeout, service, &options.connections, stop).await;
}
