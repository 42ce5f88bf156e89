//! Connections: accepts them, serves HTTP/1.1 on them, ends them.

use std::io;
use std::sync::Arc;

use broker_api::Broker;
use http::{Request, Response};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::problem::Failure;
use super::problem_code::Code;
use super::reply::{ReplyBody, failure_to_http};
use super::{Gateway, Options, batch_searches};
use crate::connection::accept::Port;
use crate::connection::http1::Http1;
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
    let http1 = Http1 { idle_timeout: options.idle_timeout, no_room };
    let gateway = Arc::new(Gateway::new(broker, options, shutdown.clone()));
    let mut searches = JoinSet::new();
    searches.spawn(batch_searches::run(Arc::clone(&gateway), shutdown.clone()));
    let answer = move |mut request: Request<_>, peer: &Peer| {
        let gateway = Arc::clone(&gateway);
        if gateway.options.access.wants_addresses() {
            request.extensions_mut().insert(peer.address());
        }
        async move { gateway.answer(request).await }
    };
    port.serve_http1(&shutdown, || searches.abort_all(), http1, answer).await;
    searches.shutdown().await;
    Ok(())
}

fn no_room(path: &str) -> Response<ReplyBody> {
    let detail = "the limit of bytes being received is reached; try again later";
    failure_to_http(&Failure::new(Code::ResourceExhausted, detail), path, None)
}
