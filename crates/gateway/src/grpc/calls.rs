//! Calls of one connection: authenticated, counted, given to their service.

use super::handed::Handed;
use super::request_body::RequestBody;
use super::service::Service;
use super::status;
use crate::connection::answer::Answer;
use crate::connection::budget::Held;
use crate::connection::peer::Peer;
use crate::connection::refusals::{Reason, Refusals};
use crate::{Access, Connections};
use futures::future::{BoxFuture, FutureExt};
use grpc::gateway_server::GatewayServer;
use h2::RecvStream;
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Request, Response};
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::{Code, Status};
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::HealthService;

/// How messages of tonic begin, as they are sent, about requests that it cannot read, and what is added to them:
/// the setting, if it is about a limit.
const UNREAD: [(Code, &str, &str); 3] = [
    (Code::Internal, "failed%20to%20decode%20Protobuf%20message", ""),
    (Code::ResourceExhausted, "Error%20decompressing:%20size%20limit", MESSAGE_LIMIT),
    (Code::OutOfRange, "", MESSAGE_LIMIT),
];

const MESSAGE_LIMIT: &str = "%20(limits.max_message_bytes)";

const MEDIA_TYPE: &str = "application/grpc";

/// Services of the port.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) connections: Connections,
    /// Time-out of the message of a call.
    pub(super) message_timeout: Duration,
    pub(super) access: Access,
    pub(super) gateway: GatewayServer<Service>,
    pub(super) health: HealthServer<HealthService>,
}

/// Bytes of memory that a head takes beside its names and values, as HPACK has it (RFC 7541 §4.1), for each of its
/// fields.
const FIELD_BYTES: usize = 32;

/// The services as the calls of one connection reach them.
#[derive(Clone)]
pub(super) struct ConnectionCalls {
    pub(super) services: Services,
    pub(super) peer: Arc<Peer>,
}

/// The answer to a call, and what the call holds until it has ended.
pub(super) struct Answered {
    pub(super) response: Response<Answer<Body>>,
    pub(super) handed: Arc<Handed>,
    _head: Held,
}

impl ConnectionCalls {
    pub(super) async fn call(self, request: Request<RecvStream>) -> Answered {
        let call = self.peer.call();
        let Connections { budget, refusals, .. } = &self.services.connections;
        let head = budget.receive();
        let handed = Arc::<Handed>::default();
        let response = if head.add(head_bytes(&request)) {
            let (timeout, body) = (self.services.message_timeout, budget.receive());
            let mut request = request.map(|stream| RequestBody::new(stream, body, timeout));
            if let Some(refused) = of_browser(request.headers()) {
                let response = refused.into_http();
                note(refusals, &response);
                let response = response.map(|body| Answer::of_stream(body, call, Arc::clone(budget)));
                return Answered { response, handed, _head: head };
            }
            if self.services.access.wants_addresses() {
                request.extensions_mut().insert(self.peer.address());
            }
            request.extensions_mut().insert(Arc::clone(&handed));
            self.services.answer(request).await
        } else {
            refusals.note(Reason::Budget);
            Status::resource_exhausted("Too many calls are under way at the moment; try again later")
                .into_http()
        };
        let response = response.map(|body| Answer::of_stream(body, call, Arc::clone(budget)));
        Answered { response, handed, _head: head }
    }
}

/// Browsers speak HTTP/2 over TLS, and a page of any site may have them send plain bodies here. No client of the
/// protocol is one, and a browser sends no body of this media type without asking for leave first.
fn of_browser(headers: &HeaderMap) -> Option<Status> {
    let media = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !media.starts_with(MEDIA_TYPE.as_bytes()) {
        return Some(Status::invalid_argument(format!("The content-type is not '{MEDIA_TYPE}'")));
    }
    let names = [ORIGIN.as_str(), "sec-fetch-site"];
    names
        .iter()
        .any(|name| headers.contains_key(*name))
        .then(|| Status::permission_denied("A web page cannot call this port"))
}

fn head_bytes(request: &Request<RecvStream>) -> usize {
    let fields =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_BYTES);
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    path + request.uri().authority().map_or(0, |name| name.as_str().len()) + fields.sum::<usize>()
}

impl Services {
    fn answer(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>> {
        let path = request.uri().path();
        if path.starts_with("/gateway_protocol.Gateway/") {
            let (access, mut gateway) = (self.access.clone(), self.gateway.clone());
            let refusals = Arc::clone(&self.connections.refusals);
            async move {
                let (mut head, body) = request.into_parts();
                let response = match access.authenticate(&head).await {
                    Ok(principal) => {
                        head.extensions.insert(principal);
                        match gateway.call(Request::from_parts(head, body)).await {
                            Ok(response) => reword_unread(response),
                            Err(never) => match never {},
                        }
                    }
                    Err(refusal) => status::of_refusal(&refusal).into_http(),
                };
                note(&refusals, &response);
                response
            }
            .boxed()
        } else if path.starts_with("/grpc.health.v1.Health/") {
            let answer = self.health.clone().call(request);
            async move { answer.await.unwrap_or_else(|never: Infallible| match never {}) }.boxed()
        } else {
            let status = Status::unimplemented(format!("There is no method '{path}' here"));
            let response = status.into_http();
            note(&self.connections.refusals, &response);
            ready(response).boxed()
        }
    }
}

/// A message that cannot be read is INVALID_ARGUMENT, which clients do not send again. To tonic one over the limit
/// is OUT_OF_RANGE, or RESOURCE_EXHAUSTED if it is compressed, and one that is no such message, of texts that are
/// not UTF-8 for example, is INTERNAL.
fn reword_unread(mut response: Response<Body>) -> Response<Body> {
    let Some(code) = response.headers().get(Status::GRPC_STATUS) else { return response };
    let code = Code::from_bytes(code.as_bytes());
    let message = response.headers().get(Status::GRPC_MESSAGE).map_or(&b""[..], HeaderValue::as_bytes);
    let Some((.., more)) =
        UNREAD.iter().find(|(of, beginning, _)| *of == code && message.starts_with(beginning.as_bytes()))
    else {
        return response;
    };
    let message = HeaderValue::from_bytes(&[message, more.as_bytes()].concat());
    let headers = response.headers_mut();
    headers.insert(Status::GRPC_STATUS, HeaderValue::from(Code::InvalidArgument as i32));
    if let Ok(message) = message {
        headers.insert(Status::GRPC_MESSAGE, message);
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
