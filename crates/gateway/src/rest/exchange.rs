//! One request and its answer: route, negotiate, read, validate, perform, answer, measure.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use auth::Principal;
use broker_api::{Broker, Timing};
use bytes::Bytes;
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Body;
use search::EXPORTER_ID;
use smallvec::SmallVec;
use tokio_util::sync::CancellationToken;
use traces::{RequestTrace, TRACE_PARENT, Traced, Traces};

use super::Options;
use super::call::Call;
use super::contract::{self, Media, Operation, OperationSpec, Parameter, Schema};
use super::download::forbid_sniffing;
use super::fields::Fields;
use super::gateway::BatchSearches;
use super::gateway::Gateway;
use super::lenient;
use super::metric_definitions::RequestMetrics;
use super::multipart::{self, Form};
use super::negotiate::{check_accept, check_content_type};
use super::operation::perform;
use super::outage::Outage;
use super::parameter::decode;
use super::position::{self, AWAIT_POSITION};
use super::problem::{Failure, Invalid};
use super::problem_code::Code;
use super::refusal::Refusal;
use super::reply::{Reply, ReplyBody, allow, failure_to_http};
use super::request_body::read_body;
use super::route::{RawParameters, Route, route};
use super::session::{LOGIN_BYTES_MAX, SessionCall};
use super::sign_in::SignInCall;
use super::uploads::{self, Reception};
use super::validate::{check_parameter, validate};
use crate::connection::unread::Meter;
use crate::idempotency::{self, IDEMPOTENCY_KEY};

const PUBLIC: &[Operation] =
    &[Operation::GetBoot, Operation::GetStatus, Operation::GetLicense, Operation::CreateAdminUser];

impl Gateway {
    /// A gateway to a broker. Activations stop waiting when `stop` is cancelled.
    pub fn new(broker: Arc<dyn Broker>, options: Options, stop: CancellationToken) -> Self {
        let ids = options.documents.iter().map(|store| store.store_id().to_owned());
        Self {
            documents_outages: ids.map(|id| (id, Outage::default())).collect(),
            broker,
            options,
            stop,
            batch_searches: BatchSearches::default(),
            metrics: RequestMetrics::new(),
        }
    }

    /// Answers one request. The only errors are answers.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: Body<Data = Bytes> + Unpin + Send,
    {
        let mut response = self.respond(request).await;
        forbid_sniffing(response.headers_mut());
        response
    }

    async fn respond<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: Body<Data = Bytes> + Unpin + Send,
    {
        let started = Instant::now();
        let (mut head, body) = request.into_parts();
        if let Some(uri) = self.options.base_path.strip(&head.uri) {
            head.uri = uri;
        }
        let traced =
            self.options.traces.as_ref().and_then(|traces| traces.choose(traceparent(&head.headers)));
        let path = head.uri.path();
        if let Err(detail) = self.options.hosts.check(&head) {
            let failure = Failure::new(Code::HostNotAllowed, detail);
            self.metrics.record(None, failure.status(), started.elapsed());
            return failure_to_http(&failure, path, None);
        }
        if let Some(call) = SessionCall::of(path).filter(|_| head.method == http::Method::POST) {
            let response = self.answer_session(call, &head, body, started).await;
            self.metrics.record(None, response.status(), started.elapsed());
            return response;
        }
        if let Some(call) = SignInCall::of(&head) {
            let result = self.sign_in(call, &head).await;
            let response = result.unwrap_or_else(|refusal| {
                failure_to_http(&refusal.failure, path, refusal.header_for(&head.headers))
            });
            self.metrics.record(None, response.status(), started.elapsed());
            return response;
        }
        #[cfg(feature = "web")]
        if let Some(response) = self.answer_page(&head) {
            self.metrics.record(None, response.status(), started.elapsed());
            return response;
        }
        let (operation, result) = match route(head.method.as_str(), path) {
            Route::Operation(operation, parameters) => {
                let result = match self.authenticate(operation, &head).await {
                    Ok(principal) => {
                        let exchange =
                            self.exchange(operation, &parameters, &principal, &head, body, started);
                        if operation == Operation::AwaitChanges {
                            Box::pin(self.while_signed_in(&head, exchange)).await
                        } else {
                            exchange.await.map_err(Refusal::from)
                        }
                    }
                    Err(refusal) => Err(refusal),
                };
                (Some(operation), result)
            }
            Route::WrongMethod(methods) => (None, Err(wrong_method(methods))),
            Route::Unknown => {
                let detail = "no operation of the API has this path";
                (None, Err(Failure::new(Code::UnknownPath, detail).into()))
            }
        };
        let took = started.elapsed();
        let timing = result.as_ref().ok().and_then(|reply| reply.timing);
        let response = match result {
            Ok(reply) => reply.into_http(self.options.server_timing.then_some(took)),
            Err(refusal) => failure_to_http(&refusal.failure, path, refusal.header_for(&head.headers)),
        };
        self.metrics.record(operation, response.status(), took);
        if let Some((traces, traced)) = self.options.traces.as_ref().zip(traced) {
            report_trace(traces, traced, operation, response.status(), timing.unwrap_or_default());
        }
        response
    }

    async fn answer_session<B>(
        &self,
        call: SessionCall,
        head: &Parts,
        body: B,
        started: Instant,
    ) -> Response<ReplyBody>
    where
        B: Body<Data = Bytes> + Unpin + Send,
    {
        let result = match read_body(body, LOGIN_BYTES_MAX, started + self.options.body_timeout).await {
            Ok(body) => self.change_session(call, head, &body).await,
            Err(failure) => Err(failure.into()),
        };
        result.unwrap_or_else(|refusal| {
            failure_to_http(&refusal.failure, head.uri.path(), refusal.header_for(&head.headers))
        })
    }

    /// The principal of a request. Some operations need no credentials.
    async fn authenticate(&self, operation: Operation, head: &Parts) -> Result<Arc<Principal>, Refusal> {
        let access = &self.options.access;
        if operation == Operation::CreateAdminUser {
            // A page of another site may lead a browser here, and would make itself the administrator.
            self.options
                .set_up_hosts
                .check(head)
                .map_err(|detail| Failure::new(Code::HostNotAllowed, detail))?;
            access.check_site(head)?;
        }
        if PUBLIC.contains(&operation) {
            return Ok(access.anonymous());
        }
        Ok(access.authenticate(head).await?)
    }

    /// Runs an exchange that waits. It ends with the session that it belongs to.
    async fn while_signed_in(
        &self,
        head: &Parts,
        exchange: impl Future<Output = Result<Reply, Failure>>,
    ) -> Result<Reply, Refusal> {
        tokio::select! {
            result = exchange => Ok(result?),
            refusal = self.options.access.until_session_ends(head) => Err(refusal.into()),
        }
    }

    async fn exchange<B>(
        &self,
        operation: Operation,
        raw: &RawParameters<'_>,
        principal: &Arc<Principal>,
        head: &Parts,
        body: B,
        started: Instant,
    ) -> Result<Reply, Failure>
    where
        B: Body<Data = Bytes> + Unpin + Send,
    {
        let spec = operation.spec();
        check_accept(&head.headers, operation)?;
        let parameters = path_parameters(spec, raw)?;
        let query = head.uri.query().unwrap_or_default();
        if !spec.query_parameters.is_empty() {
            check_query(spec.query_parameters, query)?;
        }
        // A body that nobody asked for is not read; hyper discards it.
        let Some(expected) = &spec.body else {
            let body = Bytes::new();
            let mut call = Call::new(self, principal, operation, &parameters, &body);
            call.query = query;
            return self.run(call, &head.headers).await;
        };
        let limit = self.broker.max_message_bytes();
        if matches!(operation, Operation::CreateDocument | Operation::CreateDocuments)
            && !body.is_end_stream()
        {
            check_content_type(&head.headers, expected.media)?;
            let none = Bytes::new();
            let mut call = Call::new(self, principal, operation, &parameters, &none);
            call.query = query;
            let reception = Reception {
                headers: &head.headers,
                schema: expected.schema,
                timeout: self.options.body_timeout,
                message_bytes_max: limit,
                meter: head.extensions.get::<Meter>().cloned().unwrap_or_default(),
            };
            let (form, staged) = uploads::receive(&call, body, reception).await?;
            (call.form, call.staged) = (form, Mutex::new(staged));
            return self.run(call, &head.headers).await;
        }
        let body = present(expected, read_body(body, limit, started + self.options.body_timeout).await?)?;
        let usual;
        let mut fields = Fields::of(expected);
        if !body.is_empty() {
            check_content_type(&head.headers, expected.media)?;
        }
        let (mut content, mut form) = (&body, Form::default());
        match expected.media {
            _ if body.is_empty() => {}
            Media::Multipart => form = multipart::parse(&head.headers, body.clone(), expected.schema).await?,
            Media::Json => match read_fields(expected.schema, &body) {
                Ok(read) => fields = read,
                Err(refused) => {
                    usual = usual_form(expected.schema, &body).ok_or(refused)?;
                    (content, fields) = (&usual, read_fields(expected.schema, &usual)?);
                }
            },
        }
        let mut call = Call::new(self, principal, operation, &parameters, content);
        (call.query, call.fields, call.form) = (query, fields, form);
        self.run(call, &head.headers).await
    }

    /// Runs the operation, once secondary storage is as far as the request wants it.
    async fn run<'a>(&self, mut call: Call<'a>, headers: &'a HeaderMap) -> Result<Reply, Failure> {
        let keys = headers.get_all(IDEMPOTENCY_KEY).iter().map(HeaderValue::as_bytes);
        call.idempotency_key = idempotency::read(keys).map_err(Failure::invalid)?;
        if let Some(storage) = &self.options.storage {
            if let Some(wanted) = headers.get(AWAIT_POSITION) {
                // The position may be another broker's.
                storage.catch_up(&*self.broker, storage.wait_max).await;
                self.broker.hasten_exports(EXPORTER_ID);
                position::wait(storage, &*self.broker, wanted).await?;
            }
            call.follows_hint = position::follows_hint(storage, headers);
            // Not every write of the store is a change that is told.
            call.shares_answers = call.follows_hint && !headers.contains_key(AWAIT_POSITION);
        }
        let mut reply = perform(&call).await?;
        reply.positions = call.positions();
        reply.lag = call.lag();
        reply.gaps = call.gaps();
        Ok(reply)
    }
}

/// A body, or none: JSON `null` stands for one that is absent, where it may be.
fn present(expected: &contract::Body, body: Bytes) -> Result<Bytes, Failure> {
    if expected.required && body.is_empty() {
        return Err(Failure::invalid("request body: is required, but missing"));
    }
    let is_null = !expected.required && expected.media == Media::Json && body.trim_ascii() == b"null";
    Ok(if is_null { Bytes::new() } else { body })
}

fn read_fields<'a>(schema: &'static Schema, body: &'a Bytes) -> Result<Fields<'a>, Failure> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Failure::invalid(format!(
            "request body is not valid JSON: not UTF-8 after {} bytes",
            error.valid_up_to()
        ))
    })?;
    Ok(validate(schema, text)?)
}

/// A body that is refused, as it might be taken.
fn usual_form(schema: &'static Schema, body: &Bytes) -> Option<Bytes> {
    let text = std::str::from_utf8(body).ok()?;
    lenient::usual_form(schema, text).map(Bytes::from)
}

fn traceparent(headers: &HeaderMap) -> Option<&str> {
    headers.get(TRACE_PARENT)?.to_str().ok()
}

/// Tells of a request, by the names of OpenTelemetry's conventions for HTTP.
fn report_trace(
    traces: &Traces,
    traced: Traced,
    operation: Option<Operation>,
    status: StatusCode,
    timing: Timing,
) {
    let spec = operation.map(Operation::spec);
    let mut attributes = vec![("http.response.status_code", status.as_str())];
    attributes.extend(spec.iter().flat_map(|spec| {
        [("http.request.method", spec.method), ("http.route", spec.path), ("baton.operation", spec.id)]
    }));
    traces.report(
        traced,
        &RequestTrace {
            name: spec.map_or("unknown operation", |spec| spec.id),
            attributes: &attributes,
            failed: status.is_server_error(),
            stages: &timing.stages(),
        },
    );
}

fn wrong_method(methods: [bool; 5]) -> Refusal {
    let allow = allow(methods);
    let detail = format!("this path takes {}", allow.to_str().unwrap_or_default());
    let failure = Failure::new(Code::MethodNotAllowed, detail);
    Refusal { failure, header: Some((ALLOW, allow)) }
}

/// Decodes and checks the placeholders.
fn path_parameters<'a>(
    spec: &OperationSpec,
    raw: &RawParameters<'a>,
) -> Result<SmallVec<[Cow<'a, str>; 4]>, Failure> {
    let mut parameters = SmallVec::new();
    for (parameter, raw) in spec.path_parameters.iter().zip(raw) {
        let value = decode(parameter.name, raw)?;
        check_parameter(parameter, &value)?;
        parameters.push(value);
    }
    Ok(parameters)
}

/// Checks the parameters of the query that the operation knows. Unknown ones are ignored, as everywhere on the web.
fn check_query(expected: &[Parameter], query: &str) -> Result<(), Failure> {
    for parameter in expected {
        let mut values = query.split('&').filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name == parameter.name).then_some(value)
        });
        match values.next() {
            Some(value) => check_parameter(parameter, &decode(parameter.name, &value.replace('+', " "))?)?,
            None if parameter.required => {
                return Err(Invalid(format!("{}: is required, but missing", parameter.name)).into());
            }
            None => {}
        }
    }
    Ok(())
}
