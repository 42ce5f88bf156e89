//! Whole measurements against a server in the same process: REST and gRPC, poll and stream.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bench::{Options, WorkerTransport};
use client::Protocol;
use grpc::gateway_server::{Gateway, GatewayServer};
use parking_lot::Mutex;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Status};

/// An engine of one-task processes, just enough to be measured.
#[derive(Clone, Default)]
struct Engine(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    created: i64,
    waiting: VecDeque<i64>,
    /// Jobs handed out and not completed, with their instance.
    active: BTreeMap<i64, i64>,
    completed: u64,
    unknown_completions: u64,
    stream: Option<mpsc::Sender<Result<grpc::ActivatedJob, Status>>>,
    /// Every so many creations one is refused; zero is never.
    refuse_every: i64,
    deployed: Vec<String>,
}

impl Engine {
    fn create(&self) -> Result<i64, ()> {
        let mut book = self.0.lock();
        book.created += 1;
        let key = book.created;
        if book.refuse_every > 0 && key % book.refuse_every == 0 {
            return Err(());
        }
        // With a stream that has room the job goes out at once, often before the creation is answered.
        let sent = book.stream.as_ref().is_some_and(|stream| stream.try_send(Ok(job(key))).is_ok());
        if sent {
            book.active.insert(key, key);
        } else {
            book.waiting.push_back(key);
        }
        Ok(key)
    }

    fn take(&self, count: usize) -> Vec<i64> {
        let mut book = self.0.lock();
        let count = count.min(book.waiting.len());
        let keys: Vec<i64> = book.waiting.drain(..count).collect();
        book.active.extend(keys.iter().map(|key| (*key, *key)));
        keys
    }

    fn complete(&self, key: i64) -> bool {
        let mut book = self.0.lock();
        let known = book.active.remove(&key).is_some();
        book.completed += u64::from(known);
        book.unknown_completions += u64::from(!known);
        known
    }
}

fn job(key: i64) -> grpc::ActivatedJob {
    grpc::ActivatedJob {
        key,
        r#type: "benchmark-task".to_owned(),
        process_instance_key: key,
        deadline: i64::MAX,
        variables: "{}".to_owned(),
        custom_headers: "{}".to_owned(),
        ..Default::default()
    }
}

async fn rest_create(State(engine): State<Engine>) -> Response {
    let Ok(key) = engine.create() else {
        let problem = json!({"title": "RESOURCE_EXHAUSTED", "status": 503, "detail": "busy"});
        return (StatusCode::SERVICE_UNAVAILABLE, problem.to_string()).into_response();
    };
    json!({"processInstanceKey": key.to_string()}).to_string().into_response()
}

async fn rest_activate(State(engine): State<Engine>, body: String) -> String {
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let wanted = body["maxJobsToActivate"].as_u64().unwrap() as usize;
    let mut keys = engine.take(wanted);
    if keys.is_empty() && body["requestTimeout"] != json!(-1) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        keys = engine.take(wanted);
    }
    let job = |key: i64| {
        let key = key.to_string();
        json!({"jobKey": key, "type": "benchmark-task", "processInstanceKey": key, "processDefinitionId": "benchmark",
            "processDefinitionVersion": 1, "processDefinitionKey": "1", "elementId": "task", "elementInstanceKey": "1",
            "customHeaders": {}, "worker": "", "retries": 3, "deadline": i64::MAX, "variables": {}, "tenantId": ""})
    };
    json!({"jobs": keys.into_iter().map(job).collect::<Vec<_>>()}).to_string()
}

async fn rest_complete(State(engine): State<Engine>, Path(key): Path<i64>) -> StatusCode {
    if engine.complete(key) { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

async fn rest_deploy(State(engine): State<Engine>, body: String) -> String {
    engine.0.lock().deployed.push(body);
    json!({"deploymentKey": "1", "tenantId": "<default>", "deployments": []}).to_string()
}

type Answer<T> = Result<tonic::Response<T>, Status>;

macro_rules! gateway {
    (unused { $($method:ident: $request:ident => $response:ident,)* } $($used:tt)*) => {
        #[tonic::async_trait]
        impl Gateway for Engine {
            $($used)*
            $(async fn $method(&self, _: Request<grpc::$request>) -> Answer<grpc::$response> {
                Err(Status::unimplemented("not in this fake"))
            })*
        }
    };
}

gateway! {
    unused {
        create_process_instance_with_result: CreateProcessInstanceWithResultRequest => CreateProcessInstanceWithResultResponse,
        cancel_process_instance: CancelProcessInstanceRequest => CancelProcessInstanceResponse,
        fail_job: FailJobRequest => FailJobResponse,
        throw_error: ThrowErrorRequest => ThrowErrorResponse,
        evaluate_decision: EvaluateDecisionRequest => EvaluateDecisionResponse,
        deploy_process: DeployProcessRequest => DeployProcessResponse,
        publish_message: PublishMessageRequest => PublishMessageResponse,
        resolve_incident: ResolveIncidentRequest => ResolveIncidentResponse,
        set_variables: SetVariablesRequest => SetVariablesResponse,
        topology: TopologyRequest => TopologyResponse,
        update_job_retries: UpdateJobRetriesRequest => UpdateJobRetriesResponse,
        update_job_timeout: UpdateJobTimeoutRequest => UpdateJobTimeoutResponse,
        modify_process_instance: ModifyProcessInstanceRequest => ModifyProcessInstanceResponse,
        migrate_process_instance: MigrateProcessInstanceRequest => MigrateProcessInstanceResponse,
        delete_resource: DeleteResourceRequest => DeleteResourceResponse,
        broadcast_signal: BroadcastSignalRequest => BroadcastSignalResponse,
        evaluate_conditional: EvaluateConditionalRequest => EvaluateConditionalResponse,
    }

    type ActivateJobsStream = ReceiverStream<Result<grpc::ActivateJobsResponse, Status>>;
    type StreamActivatedJobsStream = ReceiverStream<Result<grpc::ActivatedJob, Status>>;

    async fn deploy_resource(&self, request: Request<grpc::DeployResourceRequest>) -> Answer<grpc::DeployResourceResponse> {
        let names = request.into_inner().resources.into_iter().map(|resource| resource.name);
        self.0.lock().deployed.extend(names);
        Ok(tonic::Response::new(grpc::DeployResourceResponse::default()))
    }

    async fn create_process_instance(&self, _: Request<grpc::CreateProcessInstanceRequest>) -> Answer<grpc::CreateProcessInstanceResponse> {
        let key = self.create().map_err(|()| Status::resource_exhausted("busy"))?;
        Ok(tonic::Response::new(grpc::CreateProcessInstanceResponse { process_instance_key: key, ..Default::default() }))
    }

    async fn activate_jobs(&self, request: Request<grpc::ActivateJobsRequest>) -> Answer<Self::ActivateJobsStream> {
        let jobs = self.take(request.into_inner().max_jobs_to_activate as usize).into_iter().map(job).collect();
        let (sender, receiver) = mpsc::channel(1);
        sender.try_send(Ok(grpc::ActivateJobsResponse { jobs })).unwrap();
        Ok(tonic::Response::new(ReceiverStream::new(receiver)))
    }

    async fn stream_activated_jobs(&self, _: Request<grpc::StreamActivatedJobsRequest>) -> Answer<Self::StreamActivatedJobsStream> {
        let (sender, receiver) = mpsc::channel(1024);
        self.0.lock().stream = Some(sender);
        Ok(tonic::Response::new(ReceiverStream::new(receiver)))
    }

    async fn complete_job(&self, request: Request<grpc::CompleteJobRequest>) -> Answer<grpc::CompleteJobResponse> {
        if self.complete(request.into_inner().job_key) {
            Ok(tonic::Response::new(grpc::CompleteJobResponse {}))
        } else {
            Err(Status::not_found("no such job"))
        }
    }
}

/// Serves `engine` and gives options that point at it.
async fn serve(engine: &Engine) -> Options {
    let metrics = || async {
        "process_cpu_seconds_total 7.5\nprocess_resident_memory_bytes 1000\nbaton_process_disk_written_bytes_total 0\n"
    };
    let router = Router::new()
        .route("/v2/process-instances", post(rest_create))
        .route("/v2/jobs/activation", post(rest_activate))
        .route("/v2/jobs/{key}/completion", post(rest_complete))
        .route("/v2/deployments", post(rest_deploy))
        .route("/metrics", get(metrics))
        .with_state(engine.clone());
    let rest = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let grpc = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = Options {
        rest_address: rest.local_addr().unwrap().to_string(),
        grpc_address: grpc.local_addr().unwrap().to_string(),
        management_address: rest.local_addr().unwrap().to_string(),
        warm_up: Duration::ZERO,
        instances: Some(300),
        concurrency: 8,
        no_progress: true,
        ..Options::default()
    };
    tokio::spawn(async move { axum::serve(rest, router).await.unwrap() });
    let server = tonic::transport::Server::builder().add_service(GatewayServer::new(engine.clone()));
    tokio::spawn(async move { server.serve_with_incoming(TcpListenerStream::new(grpc)).await.unwrap() });
    options
}

async fn check(protocol: Protocol, worker_transport: WorkerTransport, rate: Option<f64>) {
    let engine = Engine::default();
    let options = Options { protocol, worker_transport, rate, ..serve(&engine).await };
    let report = bench::run(&options).await.unwrap();
    assert_eq!((report.created, report.errors(), report.unfinished), (300, 0, 0), "{}", report.table());
    assert_eq!(report.request_latency.as_ref().unwrap().count, 300);
    // Also those that ended after the last creation was answered.
    assert_eq!(report.execution_latency.as_ref().unwrap().count, 300);
    assert_eq!(report.server.resident_bytes, Some(1000.0));
    assert!(report.created_per_second > 0.0);
    let book = engine.0.lock();
    assert_eq!((book.completed, book.unknown_completions, book.active.len()), (300, 0, 0));
    assert_eq!(book.deployed.len(), 1);
    assert!(book.deployed[0].contains("benchmark.bpmn"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rest_and_poll() {
    check(Protocol::Rest, WorkerTransport::Poll, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rest_and_stream() {
    check(Protocol::Rest, WorkerTransport::Stream, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpc_and_poll() {
    check(Protocol::Grpc, WorkerTransport::Poll, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpc_and_stream_in_open_loop() {
    check(Protocol::Grpc, WorkerTransport::Stream, Some(2000.0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejections_are_counted_by_kind_and_do_not_stop_the_run() {
    for protocol in [Protocol::Rest, Protocol::Grpc] {
        let engine = Engine::default();
        engine.0.lock().refuse_every = 10;
        let options = Options { protocol, ..serve(&engine).await };
        let report = bench::run(&options).await.unwrap();
        assert_eq!(report.rejections, BTreeMap::from([("RESOURCE_EXHAUSTED".to_owned(), 30)]));
        assert_eq!((report.created, report.completed, report.unfinished), (270, 270, 0));
    }
}

#[tokio::test]
async fn only_creations_without_workers() {
    let engine = Engine::default();
    let report = bench::run(&Options { no_workers: true, ..serve(&engine).await }).await.unwrap();
    assert_eq!((report.created, report.completed, report.unfinished), (300, 0, 0));
    assert_eq!(report.execution_latency, None);
    assert_eq!(engine.0.lock().waiting.len(), 300);
    // The management port said the same before and after.
    assert_eq!(report.server.cpu_micros_per_instance, Some(0.0));
}

#[tokio::test]
async fn writes_the_files_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let (html, json) = (directory.path().join("page.html"), directory.path().join("report.json"));
    let engine = Engine::default();
    let options = Options { html: Some(html.clone()), report: Some(json.clone()), ..serve(&engine).await };
    let report = bench::run(&options).await.unwrap();
    assert!(std::fs::read_to_string(html).unwrap().contains("<svg"));
    let read: bench::Report = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(read.created, report.created);
}

#[tokio::test]
async fn a_server_that_is_not_there_stops_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rest_address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = bench::run(&Options { rest_address, ..Options::default() }).await.unwrap_err();
    assert!(error.to_string().starts_with("deploy the process: cannot connect"), "{error}");
}

/// The bare servers answer as the client expects.
#[tokio::test]
async fn bare_servers() {
    let (rest, grpc) =
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let options = Options {
        rest_address: rest.local_addr().unwrap().to_string(),
        grpc_address: grpc.local_addr().unwrap().to_string(),
        no_workers: true,
        no_deploy: true,
        no_progress: true,
        warm_up: Duration::ZERO,
        instances: Some(100),
        ..Options::default()
    };
    tokio::spawn(bench::reference::serve_rest(rest));
    tokio::spawn(bench::reference::serve_grpc(grpc));
    for protocol in [Protocol::Rest, Protocol::Grpc] {
        let report = bench::run(&Options { protocol, ..options.clone() }).await.unwrap();
        assert_eq!((report.created, report.errors()), (100, 0), "{}", report.table());
    }
}
