//! Servers that do nothing but answer: what HTTP and gRPC alone cost, to compare the real one with.
//!
//! Both read the same requests into the same shapes as the real server's clients see; there is no log and no engine.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::IntoResponse,
    routing::{get, post},
};
use grpc::gateway_server::{Gateway, GatewayServer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio_stream::Empty;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

/// The largest body that is read; payloads of the measurements stay far below.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Keys look like real ones, so that answers are as long.
const FIRST_KEY: i64 = 2_251_799_813_685_249;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Create {
    process_definition_id: String,
    #[serde(default)]
    process_definition_version: Option<i32>,
    #[serde(default)]
    variables: Option<Box<RawValue>>,
    #[serde(default)]
    tenant_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    process_definition_id: String,
    process_definition_version: i32,
    tenant_id: String,
    variables: serde_json::Map<String, serde_json::Value>,
    process_definition_key: String,
    process_instance_key: String,
    tags: Vec<String>,
    business_id: Option<String>,
}

#[derive(Clone, Default)]
struct Keys(Arc<AtomicI64>);

impl Keys {
    fn next(&self) -> i64 {
        FIRST_KEY + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

async fn create(State(keys): State<Keys>, Json(request): Json<Create>) -> impl IntoResponse {
    // The document is checked while it is read and then dropped: nobody wants it.
    drop(request.variables);
    Json(Created {
        process_definition_id: request.process_definition_id,
        process_definition_version: request.process_definition_version.unwrap_or(1),
        tenant_id: request.tenant_id.unwrap_or_else(|| "<default>".to_owned()),
        variables: serde_json::Map::new(),
        process_definition_key: FIRST_KEY.to_string(),
        process_instance_key: keys.next().to_string(),
        tags: Vec::new(),
        business_id: None,
    })
}

/// Serves creations over REST until the listener fails.
pub async fn serve_rest(listener: TcpListener) -> std::io::Result<()> {
    let router = Router::new()
        .route("/v2/process-instances", post(create))
        .route("/v2/status", get(|| async { StatusCode::NO_CONTENT }))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(Keys::default());
    axum::serve(without_delay(listener), router).await
}

fn without_delay(listener: TcpListener) -> impl axum::serve::Listener<Addr = SocketAddr> {
    use axum::serve::ListenerExt;
    listener.tap_io(|stream| {
        // Without it answers may wait for the client's acknowledgement; a failure only costs time.
        let _ = stream.set_nodelay(true);
    })
}

/// Serves creations over gRPC until the listener fails.
pub async fn serve_grpc(listener: TcpListener) -> Result<(), tonic::transport::Error> {
    tonic::transport::Server::builder()
        .add_service(GatewayServer::new(Keys::default()))
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
        .await
}

type Answer<T> = Result<Response<T>, Status>;

macro_rules! gateway {
    (unused { $($method:ident: $request:ident => $response:ident,)* } $($used:tt)*) => {
        #[tonic::async_trait]
        impl Gateway for Keys {
            $($used)*
            $(async fn $method(&self, _: Request<grpc::$request>) -> Answer<grpc::$response> {
                Err(Status::unimplemented("the reference server only starts instances"))
            })*
        }
    };
}

gateway! {
    unused {
        create_process_instance_with_result: CreateProcessInstanceWithResultRequest => CreateProcessInstanceWithResultResponse,
        cancel_process_instance: CancelProcessInstanceRequest => CancelProcessInstanceResponse,
        complete_job: CompleteJobRequest => CompleteJobResponse,
        fail_job: FailJobRequest => FailJobResponse,
        throw_error: ThrowErrorRequest => ThrowErrorResponse,
        evaluate_decision: EvaluateDecisionRequest => EvaluateDecisionResponse,
        deploy_process: DeployProcessRequest => DeployProcessResponse,
        deploy_resource: DeployResourceRequest => DeployResourceResponse,
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

    type ActivateJobsStream = Empty<Result<grpc::ActivateJobsResponse, Status>>;
    type StreamActivatedJobsStream = Empty<Result<grpc::ActivatedJob, Status>>;

    async fn activate_jobs(&self, _: Request<grpc::ActivateJobsRequest>) -> Answer<Self::ActivateJobsStream> {
        Ok(Response::new(tokio_stream::empty()))
    }

    async fn stream_activated_jobs(&self, _: Request<grpc::StreamActivatedJobsRequest>) -> Answer<Self::StreamActivatedJobsStream> {
        Ok(Response::new(tokio_stream::empty()))
    }

    async fn create_process_instance(&self, request: Request<grpc::CreateProcessInstanceRequest>) -> Answer<grpc::CreateProcessInstanceResponse> {
        let request = request.into_inner();
        if serde_json::from_str::<&RawValue>(&request.variables).is_err() {
            return Err(Status::invalid_argument("variables are no JSON"));
        }
        Ok(Response::new(grpc::CreateProcessInstanceResponse {
            process_definition_key: FIRST_KEY,
            bpmn_process_id: request.bpmn_process_id,
            version: request.version.max(1),
            process_instance_key: self.next(),
            tenant_id: "<default>".to_owned(),
            tags: request.tags,
        }))
    }
}
