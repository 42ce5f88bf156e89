//! The gRPC client: one method per call of `gateway_protocol.Gateway` that this crate serves.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::Stream;
use grpc::gateway_client::GatewayClient;
use tokio::sync::Semaphore;
use tonic::{
    Request, Streaming,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

use crate::fault::{fault_in, whole};
use crate::stream::Connector;
use crate::{
    ActivateJobs, Address, Broker, ClientConfig, CompleteJob, CreateInstance, Definition, Deployed,
    Deployment, Error, FailJob, Job, Partition, ProcessInstance, ProcessInstanceResult, PublishMessage,
    PublishedMessage, Resource, SetVariables, StreamJobs, ThrowError, Topology, UpdateJob, rest::millis,
};

/// Port of the gRPC gateway where none is given.
const PORT_DEFAULT: u16 = 26500;
/// The largest message read or written: a batch of jobs with large documents.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The longest the server itself waits when a long poll does not say how long, with room to spare.
const SERVER_WAIT_MAX: Duration = Duration::from_mins(1);

/// Settings of a [`GrpcClient`].
#[derive(Debug, Clone)]
pub struct GrpcOptions {
    /// `http://host:port`, `https://host:port` or `host:port`.
    pub address: String,
    /// HTTP/2 connections; calls take turns.
    pub connections: usize,
    /// Calls in flight at a time over all connections; more wait. At least one. Long polls and streams do not count.
    pub window: usize,
    /// How long a call may take. Long polls and awaited results may take this longer than asked for.
    pub request_timeout: Duration,
    /// Value of the `authorization` metadata.
    pub authorization: Option<String>,
    /// How TLS is spoken, where the address asks for it.
    pub tls: Option<Arc<ClientConfig>>,
}

impl Default for GrpcOptions {
    fn default() -> Self {
        Self {
            address: "http://localhost:26500".to_owned(),
            connections: 1,
            window: 256,
            request_timeout: Duration::from_secs(10),
            authorization: None,
            tls: None,
        }
    }
}

/// Speaks the gRPC gateway protocol. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct GrpcClient {
    shared: Arc<ClientState>,
}

struct ClientState {
    address: String,
    endpoint: Endpoint,
    connector: Connector,
    channels: Vec<GatewayClient<Channel>>,
    next: AtomicUsize,
    window: Semaphore,
    request_timeout: Duration,
    authorization: Option<MetadataValue<Ascii>>,
}

/// Jobs as the server hands them over. A client that does not read gets no more than fits the connection's window.
pub struct JobStream {
    jobs: Streaming<grpc::ActivatedJob>,
}

impl Stream for JobStream {
    type Item = Result<Job, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.jobs).poll_next(context);
        next.map(|item| item.map(|job| job.map(Job::from).map_err(Error::from)))
    }
}

/// Runs one short call: room in the window, a connection, a time limit, the error's translation.
macro_rules! call {
    ($client:expr, $method:ident, $message:expr) => {{
        let client: &GrpcClient = $client;
        let _permit = client.shared.window.acquire().await.expect("it is never closed");
        let request = client.request($message, client.shared.request_timeout);
        client
            .channel()
            .$method(request)
            .await
            .map(tonic::Response::into_inner)
            .map_err(|status| client.failed(status))
    }};
}

impl GrpcClient {
    /// Prepares a client; connects with the first call. Must run inside a tokio runtime.
    pub fn new(options: GrpcOptions) -> Result<Self, Error> {
        let address = Address::parse(&options.address, PORT_DEFAULT)?;
        let connector = Connector::new(address, options.tls.as_ref(), b"h2")?;
        let address = connector.address().authority();
        // The connector speaks TLS; what the scheme is for the server to know.
        let scheme = if connector.address().tls { "https" } else { "http" };
        let invalid = |reason| Error::Address { address: options.address.clone(), reason };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
            .map_err(|_| invalid("the address has invalid characters"))?
            .tcp_nodelay(true)
            .connect_timeout(options.request_timeout)
            .http2_keep_alive_interval(Duration::from_secs(30));
        let channels = (0..options.connections.max(1))
            .map(|_| client(endpoint.connect_with_connector_lazy(connector.clone())))
            .collect();
        let authorization = match &options.authorization {
            None => None,
            Some(text) => {
                Some(text.parse().map_err(|_| invalid("the authorization has invalid characters"))?)
            }
        };
        Ok(Self {
            shared: Arc::new(ClientState {
                address,
                endpoint,
                connector,
                channels,
                next: AtomicUsize::new(0),
                window: Semaphore::new(options.window.clamp(1, Semaphore::MAX_PERMITS)),
                request_timeout: options.request_timeout,
                authorization,
            }),
        })
    }

    /// `Topology`.
    pub async fn topology(&self) -> Result<Topology, Error> {
        call!(self, topology, grpc::TopologyRequest {}).map(topology)
    }

    /// `DeployResource`.
    pub async fn deploy(
        &self,
        resources: &[Resource<'_>],
        tenant_id: Option<&str>,
    ) -> Result<Deployment, Error> {
        let resource = |file: &Resource<'_>| grpc::Resource {
            name: file.name.to_owned(),
            content: file.content.to_vec(),
        };
        let message = grpc::DeployResourceRequest {
            resources: resources.iter().map(resource).collect(),
            tenant_id: text(tenant_id),
        };
        call!(self, deploy_resource, message).map(deployment)
    }

    /// `CreateProcessInstance`.
    pub async fn create_instance(&self, command: &CreateInstance<'_>) -> Result<ProcessInstance, Error> {
        call!(self, create_process_instance, create(command)).map(|answer| ProcessInstance {
            key: answer.process_instance_key,
            process_definition_id: answer.bpmn_process_id,
            process_definition_key: answer.process_definition_key,
            version: answer.version,
            tenant_id: answer.tenant_id,
        })
    }

    /// `CreateProcessInstanceWithResult`: answers when the instance has ended, or fails after `wait`.
    pub async fn create_instance_with_result(
        &self,
        command: &CreateInstance<'_>,
        fetch_variables: &[&str],
        wait: Duration,
    ) -> Result<ProcessInstanceResult, Error> {
        let message = grpc::CreateProcessInstanceWithResultRequest {
            request: Some(create(command)),
            request_timeout: millis(wait),
            fetch_variables: texts(fetch_variables),
        };
        let request = self.request(message, self.shared.request_timeout + wait);
        let answer = self.channel().create_process_instance_with_result(request).await;
        let answer = answer.map_err(|status| self.failed(status))?.into_inner();
        let instance = ProcessInstance {
            key: answer.process_instance_key,
            process_definition_id: answer.bpmn_process_id,
            process_definition_key: answer.process_definition_key,
            version: answer.version,
            tenant_id: answer.tenant_id,
        };
        Ok(ProcessInstanceResult { instance, variables: answer.variables })
    }

    /// `CancelProcessInstance`.
    pub async fn cancel_instance(&self, process_instance_key: i64) -> Result<(), Error> {
        let message = grpc::CancelProcessInstanceRequest { process_instance_key, operation_reference: None };
        call!(self, cancel_process_instance, message).map(drop)
    }

    /// `ActivateJobs`: the jobs, none when there are none in time.
    pub async fn activate_jobs(&self, command: &ActivateJobs<'_>) -> Result<Vec<Job>, Error> {
        let message = grpc::ActivateJobsRequest {
            r#type: command.job_type.to_owned(),
            worker: command.worker.to_owned(),
            timeout: millis(command.timeout),
            max_jobs_to_activate: i32::try_from(command.jobs_max).unwrap_or(i32::MAX),
            fetch_variable: texts(command.fetch_variables),
            // Zero means "the server's default" there, a negative number "do not wait".
            request_timeout: match command.wait {
                None => 0,
                Some(Duration::ZERO) => -1,
                Some(wait) => millis(wait),
            },
            tenant_ids: texts(command.tenant_ids),
        };
        let time_limit = self.shared.request_timeout + command.wait.unwrap_or(SERVER_WAIT_MAX);
        let answer = self.channel().activate_jobs(self.request(message, time_limit)).await;
        let mut batches = answer.map_err(|status| self.failed(status))?.into_inner();
        let mut jobs = Vec::new();
        while let Some(batch) = batches.message().await.map_err(|status| self.failed(status))? {
            jobs.extend(batch.jobs.into_iter().map(Job::from));
        }
        Ok(jobs)
    }

    /// `StreamActivatedJobs`, on a connection of its own: a reader that is slow holds back only itself.
    ///
    /// `window_bytes` is how much may be under way unread (HTTP/2 counts from 1 to 2^31-1).
    pub async fn stream_jobs(&self, command: &StreamJobs<'_>, window_bytes: u32) -> Result<JobStream, Error> {
        let endpoint = self
            .shared
            .endpoint
            .clone()
            .initial_stream_window_size(window_bytes)
            .initial_connection_window_size(window_bytes);
        let message = grpc::StreamActivatedJobsRequest {
            r#type: command.job_type.to_owned(),
            worker: command.worker.to_owned(),
            timeout: millis(command.timeout),
            fetch_variable: texts(command.fetch_variables),
            tenant_ids: texts(command.tenant_ids),
        };
        let channel =
            endpoint.connect_with_connector(self.shared.connector.clone()).await.map_err(|error| {
                Error::Connect {
                    address: self.shared.address.clone(),
                    fault: fault_in(&error),
                    reason: error.to_string(),
                }
            })?;
        let mut request = Request::new(message);
        self.authorize(&mut request);
        let answer = client(channel).stream_activated_jobs(request).await;
        Ok(JobStream { jobs: answer.map_err(|status| self.failed(status))?.into_inner() })
    }

    /// `CompleteJob`.
    pub async fn complete_job(&self, command: &CompleteJob<'_>) -> Result<(), Error> {
        let message = grpc::CompleteJobRequest {
            job_key: command.job_key,
            variables: text(command.variables),
            result: None,
        };
        call!(self, complete_job, message).map(drop)
    }

    /// `FailJob`.
    pub async fn fail_job(&self, command: &FailJob<'_>) -> Result<(), Error> {
        let message = grpc::FailJobRequest {
            job_key: command.job_key,
            retries: command.retries,
            error_message: command.error_message.to_owned(),
            retry_back_off: millis(command.retry_backoff),
            variables: text(command.variables),
        };
        call!(self, fail_job, message).map(drop)
    }

    /// `ThrowError`.
    pub async fn throw_error(&self, command: &ThrowError<'_>) -> Result<(), Error> {
        let message = grpc::ThrowErrorRequest {
            job_key: command.job_key,
            error_code: command.error_code.to_owned(),
            error_message: command.error_message.to_owned(),
            variables: text(command.variables),
        };
        call!(self, throw_error, message).map(drop)
    }

    /// `UpdateJobRetries` and `UpdateJobTimeout`, one call each.
    pub async fn update_job(&self, command: &UpdateJob) -> Result<(), Error> {
        let job_key = command.job_key;
        if let Some(retries) = command.retries {
            let message = grpc::UpdateJobRetriesRequest { job_key, retries, operation_reference: None };
            call!(self, update_job_retries, message)?;
        }
        if let Some(timeout) = command.timeout {
            let timeout = millis(timeout);
            let message = grpc::UpdateJobTimeoutRequest { job_key, timeout, operation_reference: None };
            call!(self, update_job_timeout, message)?;
        }
        Ok(())
    }

    /// `PublishMessage`.
    pub async fn publish_message(&self, command: &PublishMessage<'_>) -> Result<PublishedMessage, Error> {
        let message = grpc::PublishMessageRequest {
            name: command.name.to_owned(),
            correlation_key: command.correlation_key.to_owned(),
            time_to_live: millis(command.time_to_live),
            message_id: text(command.message_id),
            variables: text(command.variables),
            tenant_id: text(command.tenant_id),
            business_id: None,
        };
        call!(self, publish_message, message)
            .map(|answer| PublishedMessage { key: answer.key, tenant_id: answer.tenant_id })
    }

    /// `SetVariables`.
    pub async fn set_variables(&self, command: &SetVariables<'_>) -> Result<(), Error> {
        let message = grpc::SetVariablesRequest {
            element_instance_key: command.element_instance_key,
            variables: command.variables.to_owned(),
            local: command.local,
            operation_reference: None,
        };
        call!(self, set_variables, message).map(drop)
    }

    /// `ResolveIncident`.
    pub async fn resolve_incident(&self, incident_key: i64) -> Result<(), Error> {
        let message = grpc::ResolveIncidentRequest { incident_key, operation_reference: None };
        call!(self, resolve_incident, message).map(drop)
    }

    /// `DeleteResource`.
    pub async fn delete_resource(&self, resource_key: i64) -> Result<(), Error> {
        let message = grpc::DeleteResourceRequest { resource_key, operation_reference: None };
        call!(self, delete_resource, message).map(drop)
    }

    fn channel(&self) -> GatewayClient<Channel> {
        let turn = self.shared.next.fetch_add(1, Ordering::Relaxed);
        self.shared.channels[turn % self.shared.channels.len()].clone()
    }

    fn request<T>(&self, message: T, time_limit: Duration) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(time_limit);
        self.authorize(&mut request);
        request
    }

    fn authorize<T>(&self, request: &mut Request<T>) {
        if let Some(authorization) = &self.shared.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
    }

    /// A status that the transport made up says that nobody was there.
    #[cold]
    fn failed(&self, status: tonic::Status) -> Error {
        let made_here = std::error::Error::source(&status).is_some();
        if made_here && status.code() == tonic::Code::Unavailable {
            let address = self.shared.address.clone();
            return Error::Connect { address, fault: fault_in(&status), reason: innermost(&status) };
        }
        // The connection ended under the request.
        use tonic::Code as C;
        if made_here && matches!(status.code(), C::Cancelled | C::Unknown | C::Internal) {
            let address = self.shared.address.clone();
            let reason = std::error::Error::source(&status).map_or_else(String::new, whole);
            return Error::Broken { address, fault: fault_in(&status), reason };
        }
        Error::from(status)
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn client(channel: Channel) -> GatewayClient<Channel> {
    GatewayClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
}

fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}

fn create(command: &CreateInstance<'_>) -> grpc::CreateProcessInstanceRequest {
    let (process_definition_key, bpmn_process_id, version) = match command.definition {
        Definition::Key(key) => (key, String::new(), 0),
        Definition::Id { id, version } => (0, id.to_owned(), version.unwrap_or(-1)),
    };
    let start = |id: &&str| grpc::ProcessInstanceCreationStartInstruction { element_id: (*id).to_owned() };
    grpc::CreateProcessInstanceRequest {
        process_definition_key,
        bpmn_process_id,
        version,
        variables: text(command.variables),
        start_instructions: command.start_before.iter().map(start).collect(),
        tenant_id: text(command.tenant_id),
        operation_reference: None,
        runtime_instructions: Vec::new(),
        tags: texts(command.tags),
    }
}

fn topology(answer: grpc::TopologyResponse) -> Topology {
    let partition = |partition: grpc::Partition| Partition {
        partition_id: partition.partition_id,
        role: partition.role().as_str_name().to_ascii_lowercase(),
        health: partition.health().as_str_name().to_ascii_lowercase(),
    };
    let broker = |broker: grpc::BrokerInfo| Broker {
        node_id: broker.node_id,
        host: broker.host,
        port: broker.port,
        version: broker.version,
        partitions: broker.partitions.into_iter().map(partition).collect(),
    };
    Topology {
        brokers: answer.brokers.into_iter().map(broker).collect(),
        cluster_size: answer.cluster_size,
        partitions_count: answer.partitions_count,
        replication_factor: answer.replication_factor,
        gateway_version: answer.gateway_version,
    }
}

fn deployment(answer: grpc::DeployResourceResponse) -> Deployment {
    use grpc::deployment::Metadata;
    let part = |kind, id, version, key, resource_name| Deployed { kind, id, version, key, resource_name };
    let deployed = |deployment: grpc::Deployment| {
        deployment.metadata.map(|metadata| match metadata {
            Metadata::Process(it) => {
                part("process", it.bpmn_process_id, it.version, it.process_definition_key, it.resource_name)
            }
            Metadata::Decision(it) => {
                part("decision", it.dmn_decision_id, it.version, it.decision_key, String::new())
            }
            Metadata::DecisionRequirements(it) => {
                let (id, key) = (it.dmn_decision_requirements_id, it.decision_requirements_key);
                part("decision requirements", id, it.version, key, it.resource_name)
            }
            Metadata::Form(it) => part("form", it.form_id, it.version, it.form_key, it.resource_name),
        })
    };
    Deployment {
        key: answer.key,
        tenant_id: answer.tenant_id,
        deployed: answer.deployments.into_iter().filter_map(deployed).collect(),
    }
}
