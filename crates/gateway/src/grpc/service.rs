//! The methods of `gateway_protocol.Gateway`: read the request, ask the broker, write the answer.

use std::sync::Arc;
use std::time::Duration;

use auth::Principal;
use broker_api::{Activation, Answer, Broker, JobRequest, Positions, Requester, SubmitError};
use grpc as pb;
use protocol::{Caller, Command, CreateInstance, Name, Response as Reply};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Response, Status};

use crate::{Access, Tenancy, position};

use super::activation::{JobBatches, PushedJobs};
use super::handed::Handed;
use super::metrics::{Method, Metrics};
use super::options::Options;
use super::request_key::RequestKey;
use super::{decision, deployment, event, job, message, process_instance, status, topology, variables};

/// Longest time-out of a poll, whatever it asks for.
const POLL_TIMEOUT_MAX: Duration = Duration::from_hours(24);

pub(super) struct Service {
    broker: Arc<dyn Broker>,
    poll_timeout: Duration,
    result_timeout: Duration,
    listener_timeout: Duration,
    tells_positions: bool,
    tenancy: Tenancy,
    access: Access,
    shutdown: CancellationToken,
    metrics: Metrics,
}

impl Service {
    pub(super) fn new(broker: Arc<dyn Broker>, options: &Options, shutdown: CancellationToken) -> Self {
        Self {
            broker,
            poll_timeout: options.poll_timeout,
            result_timeout: options.result_timeout,
            listener_timeout: options.listener_timeout,
            tells_positions: options.tells_positions,
            tenancy: options.tenancy,
            access: options.access.clone(),
            shutdown,
            metrics: Metrics::new(options.traces.as_ref()),
        }
    }

    /// Reads a command from a request, submits it for whoever sent that, and writes the answer.
    async fn submit<R: Send + Sync, T>(
        &self,
        method: &Arc<Method>,
        name: &str,
        request: Request<R>,
        read: impl FnOnce(R) -> Result<Command, Status>,
        write: impl FnOnce(Reply) -> Result<T, Status>,
    ) -> Result<Response<T>, Status> {
        let mut call = method.start(request.metadata());
        let caller = self.caller(name, &request).await;
        let key = RequestKey::of(&request);
        let read = |caller| {
            let (key, command) = (key?, read(request.into_inner())?);
            let idempotency = key.map(|key| key.with([name.as_bytes(), &command.encode()]));
            Ok(command.asked_by(caller).once(idempotency))
        };
        let result = match caller.and_then(read) {
            Ok(command) => match self.answer(command).await {
                Ok(answer) => {
                    call.took(answer.timing);
                    let positions = answer.positions();
                    write(answer.response).map(|message| self.respond(message, &positions))
                }
                Err(error) => Err(status::of_submit(name, error)),
            },
            Err(status) => Err(status),
        };
        call.ends(code_of(&result));
        result
    }

    /// A response that tells how far the log was.
    fn respond<T>(&self, message: T, positions: &Positions) -> Response<T> {
        let mut response = Response::new(message);
        if self.tells_positions {
            position::write(positions, response.metadata_mut().as_mut());
        }
        response
    }

    /// The caller of a request's command.
    async fn caller<R: Sync>(&self, name: &str, request: &Request<R>) -> Result<Option<Caller>, Status> {
        let Some(principal) = request.extensions().get::<Arc<Principal>>() else { return Ok(None) };
        let caller = self.access.caller(&self.broker, principal).await;
        caller.map_err(|error| status::of_submit(name, error))
    }

    /// Submits a command. Listeners of a user task may hold the answer back, but not for ever.
    async fn answer(&self, mut command: Command) -> Result<Answer, SubmitError> {
        if command.request_id_mut().is_none() {
            return self.broker.submit(command).await;
        }
        let timeout = self.listener_timeout;
        tokio::time::timeout(timeout, self.broker.submit(command)).await.unwrap_or_else(|_| {
            Err(SubmitError::Timeout(format!(
                "Expected listeners to be done within {} ms, but they were not; the command is not taken back",
                timeout.as_millis()
            )))
        })
    }

    /// Whether a request may name, or leave out, its tenant.
    fn check_tenant(&self, name: &str, tenant_id: &str) -> Result<(), Status> {
        let named = (!tenant_id.is_empty()).then_some(tenant_id);
        self.tenancy.check(name, named).map_err(Status::invalid_argument)
    }

    /// Whether a request for jobs may name, or leave out, its tenants.
    fn check_tenants(&self, tenant_ids: &[String]) -> Result<(), Status> {
        let named: Vec<&String> = tenant_ids.iter().filter(|tenant_id| !tenant_id.is_empty()).collect();
        self.tenancy.check_list("ACTIVATE", &named).map_err(Status::invalid_argument)
    }

    /// The tenants of a request for jobs.
    async fn demand<R: Send + Sync>(
        &self,
        request: Request<R>,
        tenant_ids: fn(&R) -> &[String],
        read: fn(R) -> Result<JobRequest, Status>,
    ) -> Result<JobRequest, Status> {
        let caller = self.caller("ACTIVATE", &request).await?;
        let principal = request.extensions().get::<Arc<Principal>>().cloned();
        let request = request.into_inner();
        self.check_tenants(tenant_ids(&request))?;
        let mut jobs = read(request)?;
        jobs.caller = caller;
        if let Some(principal) = principal {
            let named = Some(std::mem::take(&mut jobs.tenant_ids));
            let tenant_ids = self.access.tenants_of_jobs(&self.broker, &principal, named).await;
            jobs.tenant_ids = tenant_ids.map_err(|error| status::of_submit("ACTIVATE", error))?;
        }
        Ok(jobs)
    }

    /// How long a poll is held: 0 leaves it to the server, below 0 asks not to wait.
    fn poll_wait(&self, request_timeout_ms: i64) -> Option<Duration> {
        match u64::try_from(request_timeout_ms) {
            Err(_) => None,
            Ok(0) => Some(self.poll_timeout),
            Ok(ms) => Some(Duration::from_millis(ms).min(POLL_TIMEOUT_MAX)),
        }
    }
}

/// Where the connection of a call learns which jobs it carries.
fn handed<R>(request: &Request<R>) -> Arc<Handed> {
    request.extensions().get::<Arc<Handed>>().cloned().unwrap_or_default()
}

fn code_of<T>(result: &Result<T, Status>) -> Code {
    result.as_ref().map_or_else(Status::code, |_| Code::Ok)
}

/// Answers a command that has nothing to tell, where others read the response.
#[allow(clippy::unnecessary_wraps)]
fn done<T: Default>(_: Reply) -> Result<T, Status> {
    Ok(T::default())
}

#[tonic::async_trait]
impl pb::gateway_server::Gateway for Service {
    type ActivateJobsStream = JobBatches;
    type StreamActivatedJobsStream = PushedJobs;

    async fn activate_jobs(
        &self,
        request: Request<pb::ActivateJobsRequest>,
    ) -> Result<Response<JobBatches>, Status> {
        let mut call = self.metrics.activate_jobs.start(request.metadata());
        let handed = handed(&request);
        let wait = self.poll_wait(request.get_ref().request_timeout);
        let activation = match self.demand(request, |request| &request.tenant_ids, job::activate).await {
            Ok(request) => tokio::select! {
                biased;
                activation = self.broker.activate_jobs(request, wait) => {
                    activation.map_err(|error| status::of_submit("ACTIVATE", error))
                }
                () = self.shutdown.cancelled() => Err(status::stopping()),
            },
            Err(status) => Err(status),
        };
        match activation {
            Ok(Activation { jobs, positions }) => {
                Ok(self.respond(JobBatches::new(jobs, Arc::clone(&self.broker), handed, call), &positions))
            }
            Err(status) => {
                call.ends(status.code());
                Err(status)
            }
        }
    }

    async fn stream_activated_jobs(
        &self,
        request: Request<pb::StreamActivatedJobsRequest>,
    ) -> Result<Response<PushedJobs>, Status> {
        let mut call = self.metrics.stream_activated_jobs.start(request.metadata());
        let handed = handed(&request);
        let demand = self.demand(request, |request| &request.tenant_ids, job::stream).await;
        let jobs = demand.and_then(|request| {
            self.broker.stream_jobs(request).map_err(|error| status::of_submit("ACTIVATE", error))
        });
        match jobs {
            Ok(jobs) => Ok(Response::new(PushedJobs::new(
                jobs,
                self.shutdown.clone().cancelled_owned(),
                self.metrics.job_streams.clone(),
                self.metrics.pushed.clone(),
                Arc::clone(&self.broker),
                handed,
                call,
            ))),
            Err(status) => {
                call.ends(status.code());
                Err(status)
            }
        }
    }

    async fn cancel_process_instance(
        &self,
        request: Request<pb::CancelProcessInstanceRequest>,
    ) -> Result<Response<pb::CancelProcessInstanceResponse>, Status> {
        self.submit(
            &self.metrics.cancel_process_instance,
            "CANCEL",
            request,
            |request| process_instance::cancel(&request),
            done,
        )
        .await
    }

    async fn complete_job(
        &self,
        request: Request<pb::CompleteJobRequest>,
    ) -> Result<Response<pb::CompleteJobResponse>, Status> {
        self.submit(&self.metrics.complete_job, "COMPLETE", request, job::complete, done).await
    }

    async fn create_process_instance(
        &self,
        request: Request<pb::CreateProcessInstanceRequest>,
    ) -> Result<Response<pb::CreateProcessInstanceResponse>, Status> {
        let method = &self.metrics.create_process_instance;
        let read = |request: pb::CreateProcessInstanceRequest| {
            self.check_tenant("CREATE", &request.tenant_id)?;
            process_instance::create(request).map(Command::CreateInstance)
        };
        self.submit(method, "CREATE", request, read, process_instance::created).await
    }

    async fn create_process_instance_with_result(
        &self,
        request: Request<pb::CreateProcessInstanceWithResultRequest>,
    ) -> Result<Response<pb::CreateProcessInstanceWithResultResponse>, Status> {
        let mut call = self.metrics.create_with_result.start(request.metadata());
        let caller = self.caller("CREATE_WITH_AWAITING_RESULT", &request).await;
        let key = RequestKey::of(&request);
        let request = request.into_inner();
        let timeout = match u64::try_from(request.request_timeout) {
            Ok(ms) if ms > 0 => Duration::from_millis(ms).min(POLL_TIMEOUT_MAX),
            _ => self.result_timeout,
        };
        let tenant_id = request.request.as_ref().map_or("", |request| &*request.tenant_id);
        let checked = self.check_tenant("CREATE_WITH_AWAITING_RESULT", tenant_id);
        let request = checked.and_then(|()| process_instance::create_with_result(request));
        let result = match request.and_then(|request| Ok((request, caller?, key?))) {
            // A broker that is about to stop answers whoever waits: it knows whether the command is accepted.
            Ok(((command, fetch_variables), caller, key)) => {
                let requester = Some(awaiting(caller, key, &command, &fetch_variables));
                let answer =
                    self.broker.create_with_result(requester, command, fetch_variables, timeout).await;
                answer.map_err(|error| status::of_submit("CREATE_WITH_AWAITING_RESULT", error)).and_then(
                    |answer| {
                        let positions = answer.positions();
                        let message = process_instance::completed(answer.response)?;
                        Ok(self.respond(message, &positions))
                    },
                )
            }
            Err(status) => Err(status),
        };
        call.ends(code_of(&result));
        result
    }

    async fn deploy_process(
        &self,
        request: Request<pb::DeployProcessRequest>,
    ) -> Result<Response<pb::DeployProcessResponse>, Status> {
        self.submit(
            &self.metrics.deploy_process,
            "CREATE",
            request,
            deployment::deploy_process,
            deployment::processes_deployed,
        )
        .await
    }

    async fn deploy_resource(
        &self,
        request: Request<pb::DeployResourceRequest>,
    ) -> Result<Response<pb::DeployResourceResponse>, Status> {
        let read = |request: pb::DeployResourceRequest| {
            self.check_tenant("CREATE", &request.tenant_id)?;
            deployment::deploy_resource(request)
        };
        self.submit(&self.metrics.deploy_resource, "CREATE", request, read, deployment::resources_deployed)
            .await
    }

    async fn fail_job(
        &self,
        request: Request<pb::FailJobRequest>,
    ) -> Result<Response<pb::FailJobResponse>, Status> {
        self.submit(&self.metrics.fail_job, "FAIL", request, job::fail, done).await
    }

    async fn throw_error(
        &self,
        request: Request<pb::ThrowErrorRequest>,
    ) -> Result<Response<pb::ThrowErrorResponse>, Status> {
        self.submit(&self.metrics.throw_error, "THROW_ERROR", request, job::throw_error, done).await
    }

    async fn publish_message(
        &self,
        request: Request<pb::PublishMessageRequest>,
    ) -> Result<Response<pb::PublishMessageResponse>, Status> {
        let read = |request: pb::PublishMessageRequest| {
            self.check_tenant("PUBLISH", &request.tenant_id)?;
            message::publish(request)
        };
        self.submit(&self.metrics.publish_message, "PUBLISH", request, read, message::published).await
    }

    async fn resolve_incident(
        &self,
        request: Request<pb::ResolveIncidentRequest>,
    ) -> Result<Response<pb::ResolveIncidentResponse>, Status> {
        self.submit(
            &self.metrics.resolve_incident,
            "RESOLVE",
            request,
            |request| variables::resolve_incident(&request),
            done,
        )
        .await
    }

    async fn set_variables(
        &self,
        request: Request<pb::SetVariablesRequest>,
    ) -> Result<Response<pb::SetVariablesResponse>, Status> {
        self.submit(&self.metrics.set_variables, "UPDATE", request, variables::set, variables::were_set).await
    }

    async fn topology(
        &self,
        request: Request<pb::TopologyRequest>,
    ) -> Result<Response<pb::TopologyResponse>, Status> {
        let mut call = self.metrics.topology.start(request.metadata());
        call.ends(Code::Ok);
        Ok(Response::new(topology::message(self.broker.topology())))
    }

    async fn update_job_retries(
        &self,
        request: Request<pb::UpdateJobRetriesRequest>,
    ) -> Result<Response<pb::UpdateJobRetriesResponse>, Status> {
        let method = &self.metrics.update_job_retries;
        self.submit(method, "UPDATE_RETRIES", request, |request| job::update_retries(&request), done).await
    }

    async fn update_job_timeout(
        &self,
        request: Request<pb::UpdateJobTimeoutRequest>,
    ) -> Result<Response<pb::UpdateJobTimeoutResponse>, Status> {
        let method = &self.metrics.update_job_timeout;
        self.submit(method, "UPDATE_TIMEOUT", request, |request| job::update_timeout(&request), done).await
    }

    async fn delete_resource(
        &self,
        request: Request<pb::DeleteResourceRequest>,
    ) -> Result<Response<pb::DeleteResourceResponse>, Status> {
        self.submit(
            &self.metrics.delete_resource,
            "DELETE",
            request,
            |request| deployment::delete(&request),
            done,
        )
        .await
    }

    async fn evaluate_decision(
        &self,
        request: Request<pb::EvaluateDecisionRequest>,
    ) -> Result<Response<pb::EvaluateDecisionResponse>, Status> {
        let read = |request: pb::EvaluateDecisionRequest| {
            self.check_tenant("EVALUATE", &request.tenant_id)?;
            decision::evaluate(request)
        };
        self.submit(&self.metrics.evaluate_decision, "EVALUATE", request, read, decision::evaluated).await
    }

    async fn modify_process_instance(
        &self,
        request: Request<pb::ModifyProcessInstanceRequest>,
    ) -> Result<Response<pb::ModifyProcessInstanceResponse>, Status> {
        self.submit(&self.metrics.modify_process_instance, "MODIFY", request, process_instance::modify, done)
            .await
    }

    async fn migrate_process_instance(
        &self,
        request: Request<pb::MigrateProcessInstanceRequest>,
    ) -> Result<Response<pb::MigrateProcessInstanceResponse>, Status> {
        self.submit(
            &self.metrics.migrate_process_instance,
            "MIGRATE",
            request,
            process_instance::migrate,
            done,
        )
        .await
    }

    async fn broadcast_signal(
        &self,
        request: Request<pb::BroadcastSignalRequest>,
    ) -> Result<Response<pb::BroadcastSignalResponse>, Status> {
        let read = |request: pb::BroadcastSignalRequest| {
            self.check_tenant("BROADCAST", &request.tenant_id)?;
            event::broadcast(request)
        };
        self.submit(&self.metrics.broadcast_signal, "BROADCAST", request, read, event::broadcasted).await
    }

    async fn evaluate_conditional(
        &self,
        request: Request<pb::EvaluateConditionalRequest>,
    ) -> Result<Response<pb::EvaluateConditionalResponse>, Status> {
        let read = |request: pb::EvaluateConditionalRequest| {
            self.check_tenant("EVALUATE", &request.tenant_id)?;
            event::evaluate(request)
        };
        self.submit(&self.metrics.evaluate_conditional, "EVALUATE", request, read, event::evaluated).await
    }
}

/// The sender of a creation that waits for the result.
fn awaiting(
    caller: Option<Caller>,
    key: Option<RequestKey>,
    command: &CreateInstance,
    fetch_variables: &[Name],
) -> Requester {
    let idempotency = key.map(|key| {
        let command = Command::CreateInstance(command.clone()).encode();
        let names = fetch_variables.iter().map(|name| name.as_bytes());
        key.with([b"CREATE_WITH_AWAITING_RESULT".as_slice(), &command].into_iter().chain(names))
    });
    Requester { caller, idempotency }
}
