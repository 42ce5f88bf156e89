//! Connections: accepts them, serves HTTP/1.1 on them, ends them.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use broker_api::Broker;
use http::{Request, Response, StatusCode};
use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::problem::Failure;
use super::reply::{ReplyBody, failure_to_http};
use super::{Gateway, Options, batch_searches};
use crate::connection::accept::Port;
use crate::connection::http1::{self, Http1, Stop};
use crate::connection::peer::{Deadlines, Peer};
use crate::connection::places::Limits;

/// Serves until `shutdown`, then lets requests in flight finish for as long as the options say.
pub async fn serve(
    listener: TcpListener,
    broker: Arc<dyn Broker>,
    options: Options,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let settings = options.connections.settings;
    let port = Port {
        name: "REST",
        listener,
        tls: options.tls.clone(),
        limits: Limits {
            places: options.max_connections,
            per_address: settings.per_address.min(options.max_connections),
            for_probes: 0,
        },
        deadlines: Deadlines { head: settings.head_timeout, idle: None, slow: settings.slow_timeout },
        connections: options.connections.clone(),
        grace: options.stop_timeout,
    };
    let gateway = Arc::new(Gateway::new(broker, options, shutdown.clone()));
    let stop = Arc::new(Stop::default());
    let mut searches = JoinSet::new();
    searches.spawn(batch_searches::run(Arc::clone(&gateway), shutdown.clone()));
    let stopping = || {
        searches.abort_all();
        stop.stop();
    };
    let drive = {
        let stop = Arc::clone(&stop);
        move |socket, peer: Arc<Peer>| {
            let (gateway, stop) = (Arc::clone(&gateway), Arc::clone(&stop));
            async move {
                let service = service_fn(|mut request: Request<_>| {
                    let gateway = Arc::clone(&gateway);
                    if gateway.options.access.wants_addresses() {
                        request.extensions_mut().insert(peer.address());
                    }
                    async move { Ok::<_, Infallible>(gateway.answer(request).await) }
                });
                let options = &gateway.options;
                let http1 = Http1 {
                    idle_timeout: options.idle_timeout,
                    connections: &options.connections,
                    stop: &stop,
                    no_room,
                };
                http1::converse(socket, &peer, http1, service).await;
            }
        }
    };
    port.serve(&shutdown, stopping, drive).await;
    searches.shutdown().await;
    Ok(())
}

fn no_room(path: &str) -> Response<ReplyBody> {
    let detail = "the limit of bytes being received is reached; try again later";
    failure_to_http(&Failure::new(StatusCode::SERVICE_UNAVAILABLE, "RESOURCE_EXHAUSTED", detail), path, None)
}
