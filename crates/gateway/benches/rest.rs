//! Cost of the REST gateway around a broker that answers at once.
//!
//! `answer` has no socket: route, negotiate, validate, convert, serialise. `wire` is everything, client included, on
//! one thread, so that its differences are differences in CPU: a bare axum server that parses the same request and
//! answers, a bare hyper one that does not even parse, and the gateway.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use broker_api::{
    Activation, Answer, Broker, ExpressionResult, JobRequest, JobStream, Positions, Recorded, Requester,
    SubmitError, Timing, Topology,
};
use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use gateway::rest::{Gateway, Options, serve};
use http::{Request, Response as HttpResponse};
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use protocol::{
    ActivatedJob, Command, CreateInstance, Document, InstanceCreated, JobKind, JobListenerEventType, Name,
    Query, QueryReply, Response,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Connections of the `wire` benchmarks; each has one request under way.
const CONNECTIONS: usize = 64;

struct InstantBroker {
    jobs: Vec<ActivatedJob>,
}

impl Broker for InstantBroker {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        let response = match command {
            Command::CreateInstance(create) => Response::InstanceCreated(InstanceCreated {
                process_definition_key: 2_251_799_813_685_249,
                process_id: "order-process".into(),
                version: 1,
                process_instance_key: 2_251_799_813_685_250,
                tenant_id: create.tenant_id,
                tags: create.tags,
                business_id: create.business_id,
            }),
            _ => Response::Done,
        };
        ready(Ok(Answer { response, timing: Timing::default(), partition: 1, position: 0 })).boxed()
    }

    fn create_with_result(
        &self,
        _: Option<Requester>,
        _: CreateInstance,
        _: Vec<Name>,
        _: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        ready(Err(SubmitError::Unavailable(String::new()))).boxed()
    }

    fn activate_jobs(
        &self,
        _: JobRequest,
        _: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        ready(Ok(Activation { jobs: self.jobs.clone(), positions: Positions::default() })).boxed()
    }

    fn stream_jobs(&self, _: JobRequest) -> Result<JobStream, SubmitError> {
        Err(SubmitError::Unavailable(String::new()))
    }

    fn read(&self, _: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        ready(Err(SubmitError::Unavailable(String::new()))).boxed()
    }

    fn grants_version(&self) -> u64 {
        0
    }

    fn hasten_exports(&self, _: &str) -> Recorded {
        Recorded::default()
    }

    fn evaluate_expression(
        &self,
        _: String,
        _: Document,
        _: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        ready(Err(SubmitError::Unavailable(String::new()))).boxed()
    }

    fn topology(&self) -> Topology {
        Topology {
            cluster_id: String::new(),
            brokers: Vec::new(),
            cluster_size: 1,
            partitions_count: 1,
            replication_factor: 1,
        }
    }

    fn max_message_bytes(&self) -> usize {
        4 * 1024 * 1024
    }
}

fn job() -> ActivatedJob {
    ActivatedJob {
        key: 2_251_799_813_685_300,
        job_type: "collect-money".into(),
        process_instance_key: 2_251_799_813_685_250,
        root_process_instance_key: 2_251_799_813_685_250,
        process_id: "order-process".into(),
        process_definition_version: 1,
        process_definition_key: 2_251_799_813_685_249,
        element_id: "collect-money-task".into(),
        element_instance_key: 2_251_799_813_685_299,
        custom_headers_json: "{}".into(),
        worker: "bench".into(),
        retries: 3,
        deadline_ms: 1_900_000_000_000,
        variables: Document::parse(Bytes::from(variables(200))).expect("variables"),
        tenant_id: Name::default_tenant(),
        kind: JobKind::BpmnElement,
        listener_event_type: JobListenerEventType::Unspecified,
        user_task: None,
        tags: Vec::new(),
        business_id: None,
        priority: 0,
        lease: None,
    }
}

/// Variables of about this many bytes of JSON: short numbers, texts and objects, as in real ones.
fn variables(bytes: usize) -> String {
    let mut json = String::from("{\"orderId\":\"o-4711\",\"items\":[");
    while json.len() + 80 < bytes {
        if !json.ends_with('[') {
            json.push(',');
        }
        json.push_str(r#"{"sku":"A-1002","name":"a thing of some kind","price":12.50,"count":3}"#);
    }
    json.push_str("],\"paid\":false}");
    json
}

fn creation(bytes: usize) -> Bytes {
    let variables = variables(bytes);
    format!(r#"{{"processDefinitionId":"order-process","tenantId":"<default>","variables":{variables}}}"#)
        .into()
}

fn post(path: &str, body: &Bytes) -> Request<Full<Bytes>> {
    let request = Request::post(path).header("content-type", "application/json").header("accept", "*/*");
    request.body(Full::new(body.clone())).expect("a request")
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn answer(criterion: &mut Criterion) {
    let gateway = Gateway::new(
        Arc::new(InstantBroker { jobs: vec![job(); 32] }),
        Options::default(),
        CancellationToken::new(),
    );
    let runtime = runtime();
    let mut group = criterion.benchmark_group("answer");
    for (name, bytes) in [("create_200_bytes", 200), ("create_32_kib", 32 * 1024)] {
        let body = creation(bytes);
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || post("/v2/process-instances", &body),
                |request| runtime.block_on(gateway.answer(request)),
                BatchSize::SmallInput,
            );
        });
    }
    for (name, path, body) in [
        ("complete_empty", "/v2/jobs/2251799813685300/completion", Bytes::new()),
        (
            "activate_32_jobs",
            "/v2/jobs/activation",
            Bytes::from_static(br#"{"type":"collect-money","timeout":60000,"maxJobsToActivate":32}"#),
        ),
    ] {
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || post(path, &body),
                |request| runtime.block_on(gateway.answer(request)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Client connections with one buffer each.
struct Load {
    connections: Vec<(TcpStream, Vec<u8>)>,
    request: Vec<u8>,
}

impl Load {
    async fn connect(address: SocketAddr, body: &Bytes) -> Self {
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(address).await.expect("a connection");
            stream.set_nodelay(true).expect("an option");
            connections.push((stream, Vec::with_capacity(4096)));
        }
        let mut request = format!(
            "POST /v2/process-instances HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        Self { connections, request }
    }

    /// One request on each connection.
    async fn round(&mut self) {
        for (stream, _) in &mut self.connections {
            stream.write_all(&self.request).await.expect("sent");
        }
        for (stream, buffer) in &mut self.connections {
            buffer.clear();
            // The answers are one object at the end of one small segment.
            while buffer.last() != Some(&b'}') {
                assert!(stream.read_buf(buffer).await.expect("received") > 0);
            }
            assert!(buffer.starts_with(b"HTTP/1.1 200"));
        }
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Creation {
    process_definition_id: String,
    tenant_id: String,
    variables: Box<serde_json::value::RawValue>,
}

async fn bare_axum(listener: TcpListener) {
    let handler = |Json(creation): Json<Creation>| async move { Json(creation) };
    let router = axum::Router::new().route("/v2/process-instances", axum::routing::post(handler));
    axum::serve(listener, router).await.expect("served");
}

async fn bare_hyper(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.expect("accepted");
        stream.set_nodelay(true).expect("an option");
        let service = service_fn(|request: Request<hyper::body::Incoming>| async {
            let body = request.into_body().collect().await.expect("a body").to_bytes();
            Ok::<_, Infallible>(HttpResponse::new(Full::new(body)))
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn wire(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wire_64_connections");
    group.throughput(Throughput::Elements(CONNECTIONS as u64));
    let body = creation(200);
    for name in ["bare_axum", "bare_hyper", "gateway"] {
        let runtime = runtime();
        let mut load = runtime.block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
            let address = listener.local_addr().expect("an address");
            match name {
                "bare_axum" => drop(tokio::spawn(bare_axum(listener))),
                "bare_hyper" => drop(tokio::spawn(bare_hyper(listener))),
                _ => {
                    let broker = Arc::new(InstantBroker { jobs: Vec::new() });
                    drop(tokio::spawn(serve(listener, broker, Options::default(), CancellationToken::new())));
                }
            }
            Load::connect(address, &body).await
        });
        group.bench_function(name, |bencher| bencher.iter(|| runtime.block_on(load.round())));
    }
    group.finish();
}

criterion_group!(benches, answer, wire);
criterion_main!(benches);
