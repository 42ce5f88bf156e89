//! The port: what is served on it, to whom, and what one connection may take. [`super::http2`] drives the connections.

use std::sync::Arc;

use h2::server::Builder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::calls::{ConnectionCalls, Services};
use super::http2::Http2;
use super::options::Options;
use crate::connection::accept::Port;
use crate::connection::peer::{Deadlines, Peer};
use crate::connection::places::Limits;

/// Bytes that one call may send before the server reads it: a typical request, so that it takes no round trip.
const CALL_WINDOW_BYTES: u32 = 256 * 1024;
/// Bytes that all calls of a connection together may send before the server reads them.
const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;
/// Bytes of a response buffered for a client that does not read. Small: jobs in here reach no worker.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Limit of the headers of one call.
const HEADER_BYTES_MAX: u32 = 16 * 1024;
/// The table of headers that a client may have a connection remember (RFC 7541 §4.2), in bytes.
const HEADER_TABLE_BYTES: u32 = 4 * 1024;
/// How many calls a client may reset before they were looked at; a process full of closing workers resets many at once.
const PENDING_RESETS_MAX: usize = 1024;

/// Accepts until `shutdown`, then waits for what is open.
pub(super) async fn serve(
    listener: TcpListener,
    services: Services,
    options: &Options,
    shutdown: CancellationToken,
) {
    let settings = options.connections.settings;
    let port = Port {
        name: "gRPC",
        listener,
        tls: options.tls.clone(),
        limits: Limits {
            places: options.connections_max,
            per_address: settings.per_address.min(options.connections_max),
            for_probes: 0,
        },
        deadlines: Deadlines {
            head: settings.head_timeout,
            idle: Some(options.idle_timeout),
            slow: settings.slow_timeout,
        },
        connections: options.connections.clone(),
        grace: options.shutdown_grace,
    };
    let (http2, stop) = (http2(options), shutdown.clone());
    let drive = move |socket, peer: Arc<Peer>| {
        http2.clone().converse(socket, ConnectionCalls { services: services.clone(), peer }, stop.clone())
    };
    port.serve(&shutdown, || (), drive).await;
}

fn http2(options: &Options) -> Http2 {
    let mut builder = Builder::new();
    builder
        .initial_window_size(CALL_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buffer_size(SEND_BUFFER_BYTES)
        .max_header_list_size(HEADER_BYTES_MAX)
        .header_table_size(HEADER_TABLE_BYTES)
        .max_concurrent_streams(options.calls_per_connection_max)
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX);
    Http2 {
        builder,
        keep_alive_interval: options.keep_alive_interval,
        keep_alive_timeout: options.keep_alive_timeout,
    }
}
