//! Small servers in the test's own process that play the gateway.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use client::{GrpcClient, GrpcOptions, RestClient, RestOptions};
use grpc::gateway_server::{Gateway, GatewayServer};
use parking_lot::Mutex;
use tokio::{net::TcpListener, sync::mpsc};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{Request, Response, Status};

/// Serves `router` on a free port.
pub async fn rest_server(router: axum::Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

pub fn rest_client(address: SocketAddr, connections: usize) -> RestClient {
    let options = RestOptions { address: format!("http://{address}"), connections, ..RestOptions::default() };
    RestClient::new(options).unwrap()
}

/// Serves `gateway` on a free port.
pub async fn grpc_server(gateway: FakeGateway) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tonic::transport::Server::builder().add_service(GatewayServer::new(gateway));
    tokio::spawn(async move { server.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap() });
    address
}

pub fn grpc_client(address: SocketAddr) -> GrpcClient {
    GrpcClient::new(GrpcOptions { address: address.to_string(), ..GrpcOptions::default() }).unwrap()
}

pub fn job(key: i64) -> grpc::ActivatedJob {
    grpc::ActivatedJob {
        key,
        r#type: "work".to_owned(),
        process_instance_key: key + 1000,
        custom_headers: "{}".to_owned(),
        retries: 3,
        deadline: i64::MAX,
        variables: r#"{"a": 1}"#.to_owned(),
        ..Default::default()
    }
}

/// Memory and answers of the fake.
#[derive(Default)]
pub struct Book {
    /// Jobs that a poll takes.
    pub waiting: VecDeque<grpc::ActivatedJob>,
    /// Jobs that a stream takes.
    pub streamed: VecDeque<grpc::ActivatedJob>,
    pub created: Vec<grpc::CreateProcessInstanceRequest>,
    pub completed: Vec<(i64, String)>,
    pub failed: Vec<grpc::FailJobRequest>,
    pub thrown: Vec<grpc::ThrowErrorRequest>,
    /// Jobs whose time limit was set anew, each as often as that was done.
    pub renewed: Vec<i64>,
    /// The server refuses time limits.
    pub forbids_renewals: bool,
    /// This job is gone.
    pub gone: Option<i64>,
    /// So many completions are refused as overload first.
    pub refusals: usize,
}

#[derive(Clone, Default)]
pub struct FakeGateway {
    pub book: Arc<Mutex<Book>>,
}

type Answer<T> = Result<Response<T>, Status>;

macro_rules! gateway {
    (unused { $($method:ident: $request:ident => $response:ident,)* } $($used:tt)*) => {
        #[tonic::async_trait]
        impl Gateway for FakeGateway {
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
        evaluate_decision: EvaluateDecisionRequest => EvaluateDecisionResponse,
        deploy_process: DeployProcessRequest => DeployProcessResponse,
        publish_message: PublishMessageRequest => PublishMessageResponse,
        resolve_incident: ResolveIncidentRequest => ResolveIncidentResponse,
        set_variables: SetVariablesRequest => SetVariablesResponse,
        update_job_retries: UpdateJobRetriesRequest => UpdateJobRetriesResponse,
        modify_process_instance: ModifyProcessInstanceRequest => ModifyProcessInstanceResponse,
        migrate_process_instance: MigrateProcessInstanceRequest => MigrateProcessInstanceResponse,
        delete_resource: DeleteResourceRequest => DeleteResourceResponse,
        broadcast_signal: BroadcastSignalRequest => BroadcastSignalResponse,
        evaluate_conditional: EvaluateConditionalRequest => EvaluateConditionalResponse,
    }

    type ActivateJobsStream = ReceiverStream<Result<grpc::ActivateJobsResponse, Status>>;
    type StreamActivatedJobsStream = ReceiverStream<Result<grpc::ActivatedJob, Status>>;

    async fn topology(&self, _: Request<grpc::TopologyRequest>) -> Answer<grpc::TopologyResponse> {
        let partition = grpc::Partition { partition_id: 1, role: 0, health: 0 };
        let broker = grpc::BrokerInfo { host: "here".to_owned(), partitions: vec![partition], ..Default::default() };
        Ok(Response::new(grpc::TopologyResponse { brokers: vec![broker], cluster_size: 1, ..Default::default() }))
    }

    async fn deploy_resource(&self, request: Request<grpc::DeployResourceRequest>) -> Answer<grpc::DeployResourceResponse> {
        let deployed = |resource: grpc::Resource| grpc::Deployment {
            metadata: Some(grpc::deployment::Metadata::Process(grpc::ProcessMetadata {
                bpmn_process_id: String::from_utf8(resource.content).unwrap(),
                version: 1,
                process_definition_key: 7,
                resource_name: resource.name,
                tenant_id: String::new(),
            })),
        };
        let deployments = request.into_inner().resources.into_iter().map(deployed).collect();
        Ok(Response::new(grpc::DeployResourceResponse { key: 5, deployments, tenant_id: "<default>".to_owned() }))
    }

    async fn create_process_instance(&self, request: Request<grpc::CreateProcessInstanceRequest>) -> Answer<grpc::CreateProcessInstanceResponse> {
        let request = request.into_inner();
        if request.bpmn_process_id == "missing" {
            return Err(Status::not_found("no such process"));
        }
        let mut book = self.book.lock();
        book.created.push(request);
        let process_instance_key = book.created.len() as i64;
        Ok(Response::new(grpc::CreateProcessInstanceResponse { process_instance_key, ..Default::default() }))
    }

    async fn cancel_process_instance(&self, _: Request<grpc::CancelProcessInstanceRequest>) -> Answer<grpc::CancelProcessInstanceResponse> {
        Err(Status::resource_exhausted("too much to do"))
    }

    async fn activate_jobs(&self, request: Request<grpc::ActivateJobsRequest>) -> Answer<Self::ActivateJobsStream> {
        let wanted = request.into_inner().max_jobs_to_activate as usize;
        let mut book = self.book.lock();
        let count = wanted.min(book.waiting.len());
        let jobs: Vec<_> = book.waiting.drain(..count).collect();
        let (sender, receiver) = mpsc::channel(1);
        if !jobs.is_empty() {
            sender.try_send(Ok(grpc::ActivateJobsResponse { jobs })).unwrap();
        }
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn stream_activated_jobs(&self, _: Request<grpc::StreamActivatedJobsRequest>) -> Answer<Self::StreamActivatedJobsStream> {
        let (sender, receiver) = mpsc::channel(1);
        let jobs = std::mem::take(&mut self.book.lock().streamed);
        tokio::spawn(async move {
            for job in jobs {
                if sender.send(Ok(job)).await.is_err() {
                    return;
                }
            }
            sender.closed().await;
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn complete_job(&self, request: Request<grpc::CompleteJobRequest>) -> Answer<grpc::CompleteJobResponse> {
        let request = request.into_inner();
        let mut book = self.book.lock();
        if book.refusals > 0 {
            book.refusals -= 1;
            return Err(Status::resource_exhausted("later"));
        }
        book.completed.push((request.job_key, request.variables));
        Ok(Response::new(grpc::CompleteJobResponse {}))
    }

    async fn update_job_timeout(&self, request: Request<grpc::UpdateJobTimeoutRequest>) -> Answer<grpc::UpdateJobTimeoutResponse> {
        let key = request.into_inner().job_key;
        let mut book = self.book.lock();
        if book.forbids_renewals {
            return Err(Status::permission_denied("not you"));
        }
        if book.gone == Some(key) {
            return Err(Status::not_found("no such job"));
        }
        book.renewed.push(key);
        Ok(Response::new(grpc::UpdateJobTimeoutResponse {}))
    }

    async fn fail_job(&self, request: Request<grpc::FailJobRequest>) -> Answer<grpc::FailJobResponse> {
        self.book.lock().failed.push(request.into_inner());
        Ok(Response::new(grpc::FailJobResponse {}))
    }

    async fn throw_error(&self, request: Request<grpc::ThrowErrorRequest>) -> Answer<grpc::ThrowErrorResponse> {
        self.book.lock().thrown.push(request.into_inner());
        Ok(Response::new(grpc::ThrowErrorResponse {}))
    }
}
