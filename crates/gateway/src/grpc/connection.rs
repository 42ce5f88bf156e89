//! Connections: HTTP/2, with TLS if asked, one task each, bounded in number.

use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt};
use grpc::gateway_server::GatewayServer;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::{Code, Status};
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::HealthService;

use super::request_body::RequestBody;
use super::service::Service;
use super::{Options, status};
use crate::connection::accept::Port;
use crate::connection::answer::Answer;
use crate::connection::peer::{Deadlines, Peer};
use crate::connection::places::Limits;
use crate::connection::refusals::{Reason, Refusals};
use crate::connection::socket::Socket;
use crate::{Access, Connections};

/// What one call may send before the server reads it: a typical request, so that it takes no round trip.
const CALL_WINDOW_BYTES: u32 = 256 * 1024;
/// The same for all calls of a connection.
const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;
/// What is kept of a response for a client that does not read. Small: jobs in here are in nobody's hands.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Limit of the headers of one call.
const HEADER_BYTES_MAX: u32 = 16 * 1024;
/// The table of headers that a client may have a connection remember (RFC 7541 §4.2), in bytes.
const HEADER_TABLE_BYTES: u32 = 4 * 1024;
/// How many calls a client may reset before they were looked at; a process full of closing workers resets many at once.
const PENDING_RESETS_MAX: usize = 1024;
/// How long the last words with the client of an idle connection may take.
const RETIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// How messages of tonic begin, as they are sent, about requests that it cannot read.
const UNREAD: [(Code, &str); 2] = [
    (Code::Internal, "failed%20to%20decode%20Protobuf%20message"),
    (Code::ResourceExhausted, "Error%20decompressing:%20size%20limit"),
];

/// What is served on the port.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) connections: Connections,
    /// How long the message of a call may take to arrive.
    pub(super) message_timeout: Duration,
    pub(super) access: Access,
    pub(super) gateway: GatewayServer<Service>,
    pub(super) health: HealthServer<HealthService>,
}

/// The same, for one connection.
struct OfConnection {
    services: Services,
    peer: Arc<Peer>,
}

impl hyper::service::Service<Request<Incoming>> for OfConnection {
    type Response = Response<Answer<Body>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Answer<Body>>, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let call = self.peer.call();
        let (timeout, budget) =
            (self.services.message_timeout, Arc::clone(&self.services.connections.budget));
        let mut request = request.map(|body| RequestBody::new(body, budget.receive(), timeout));
        if self.services.access.wants_addresses() {
            request.extensions_mut().insert(self.peer.address());
        }
        let answer = self.services.answer(request);
        async move { Ok(answer.await?.map(|body| Answer::new(body, call, budget))) }.boxed()
    }
}

impl Services {
    fn answer(
        &self,
        request: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Body>, Infallible>> {
        let path = request.uri().path();
        if path.starts_with("/gateway_protocol.Gateway/") {
            let (access, mut gateway) = (self.access.clone(), self.gateway.clone());
            let refusals = Arc::clone(&self.connections.refusals);
            async move {
                let (mut head, body) = request.into_parts();
                let response = match access.authenticate(&head).await {
                    Ok(principal) => {
                        head.extensions.insert(principal);
                        gateway.call(Request::from_parts(head, body)).await.map(reword_unread)?
                    }
                    Err(refusal) => status::of_refusal(&refusal).into_http(),
                };
                note(&refusals, &response);
                Ok(response)
            }
            .boxed()
        } else if path.starts_with("/grpc.health.v1.Health/") {
            self.health.clone().call(request).boxed()
        } else {
            let status = Status::unimplemented(format!("There is no method '{path}' here"));
            let response = status.into_http();
            note(&self.connections.refusals, &response);
            ready(Ok(response)).boxed()
        }
    }
}

/// A message that cannot be read is INVALID_ARGUMENT, which clients do not send again. To tonic one over the limit is
/// OUT_OF_RANGE, or RESOURCE_EXHAUSTED if it is compressed, and one that is no such message, of texts that are not UTF-8
/// for example, is INTERNAL.
fn reword_unread(mut response: Response<Body>) -> Response<Body> {
    let Some(code) = response.headers().get(Status::GRPC_STATUS) else { return response };
    let code = Code::from_bytes(code.as_bytes());
    let is_unread = match UNREAD.iter().find(|(of, _)| *of == code) {
        Some((_, beginning)) => {
            let message = response.headers().get(Status::GRPC_MESSAGE).map(HeaderValue::as_bytes);
            message.is_some_and(|text| text.starts_with(beginning.as_bytes()))
        }
        None => code == Code::OutOfRange,
    };
    if is_unread {
        response.headers_mut().insert(Status::GRPC_STATUS, HeaderValue::from(Code::InvalidArgument as i32));
    }
    response
}

/// Counts a refusal. Those of calls that were answered before they failed come too late for it.
fn note(refusals: &Arc<Refusals>, response: &Response<Body>) {
    let code = response.headers().get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes()));
    if let Some(reason) = code.and_then(Reason::of_code) {
        refusals.note(reason);
    }
}

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
    let (builder, stop) = (builder(options), shutdown.clone());
    let drive = move |socket, peer: Arc<Peer>| {
        let services = OfConnection { services: services.clone(), peer: Arc::clone(&peer) };
        converse(socket, peer, builder.clone(), services, stop.clone())
    };
    port.serve(&shutdown, || (), drive).await;
}

fn builder(options: &Options) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(CALL_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_header_list_size(HEADER_BYTES_MAX)
        .header_table_size(HEADER_TABLE_BYTES)
        .max_concurrent_streams(options.calls_per_connection_max)
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .keep_alive_interval(options.keep_alive_interval)
        .keep_alive_timeout(options.keep_alive_timeout);
    builder
}

async fn converse(
    socket: Socket,
    peer: Arc<Peer>,
    builder: http2::Builder<TokioExecutor>,
    services: OfConnection,
    shutdown: CancellationToken,
) {
    let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), services));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        () = peer.retire.cancelled() => {
            connection.as_mut().graceful_shutdown();
            match timeout(RETIRE_TIMEOUT, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    // Clients that vanish or speak something else are everyday life, not worth more than a look on demand.
    if let Err(error) = ended {
        tracing::debug!(%error, "a gRPC connection ended with an error");
    }
}
