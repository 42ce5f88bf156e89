//! One method per REST operation: path, body, and what the answer is read as.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, uri::PathAndQuery};
use serde::Deserialize;

use super::{
    Outgoing, RestClient,
    body::Object,
    multipart,
    pool::Class,
    wire::{
        WireDeployment, WireExpression, WireInstance, WireInstanceKey, WireJobs, WireMessage, WireTopology,
    },
};
use crate::{
    ActivateJobs, CompleteJob, CorrelateMessage, CorrelatedMessage, CreateInstance, Definition, Deployment,
    Error, EvaluateExpression, EvaluatedExpression, FailJob, Found, Job, ProcessInstance,
    ProcessInstanceResult, PublishMessage, PublishedMessage, Resource, SetVariables, ThrowError, Topology,
    UpdateJob,
};

/// The longest the server itself waits when a long poll does not say how long, with room to spare.
const SERVER_WAIT_MAX: Duration = Duration::from_mins(1);

impl RestClient {
    /// `GET /topology`.
    pub async fn topology(&self) -> Result<Topology, Error> {
        let path = self.path("topology", &["/topology"])?;
        let body = self.send(self.get(path)).await?;
        read::<WireTopology>("topology", &body).map(Topology::from)
    }

    /// `GET /status`: succeeds when the cluster can process.
    pub async fn status(&self) -> Result<(), Error> {
        let path = self.path("status", &["/status"])?;
        self.send(self.get(path)).await.map(drop)
    }

    /// `POST /deployments`.
    pub async fn deploy(
        &self,
        resources: &[Resource<'_>],
        tenant_id: Option<&str>,
    ) -> Result<Deployment, Error> {
        let answer = self.deploy_for_answer(resources, tenant_id).await?;
        read::<WireDeployment>("deploy", answer.as_bytes()).map(Deployment::from)
    }

    /// Like [`Self::deploy`]; the answer as JSON text.
    pub async fn deploy_for_answer(
        &self,
        resources: &[Resource<'_>],
        tenant_id: Option<&str>,
    ) -> Result<String, Error> {
        let (content_type, body) = multipart::encode(resources, tenant_id);
        let mut request = self.json(self.path("deploy", &["/deployments"])?, body);
        request.content_type = HeaderValue::try_from(content_type).ok();
        text("deploy", &self.send(request).await?)
    }

    /// `POST /process-instances`.
    pub async fn create_instance(&self, command: &CreateInstance<'_>) -> Result<ProcessInstance, Error> {
        let body = self.send_create(create(command).finish()).await?;
        read::<WireInstance<'_>>("create process instance", &body).map(ProcessInstance::from)
    }

    /// Like [`Self::create_instance`], but reads nothing of the answer except the key.
    pub async fn create_instance_key(&self, command: &CreateInstance<'_>) -> Result<i64, Error> {
        let body = self.send_create(create(command).finish()).await?;
        read::<WireInstanceKey>("create process instance", &body).map(|answer| answer.process_instance_key.0)
    }

    /// The body of [`Self::create_instance`], or, with a time, of [`Self::create_instance_with_result`].
    pub fn creation(command: &CreateInstance<'_>, wait: Option<Duration>) -> String {
        let mut body = create(command);
        if let Some(wait) = wait {
            body = body.boolean("awaitCompletion", true).millis("requestTimeout", wait);
        }
        String::from_utf8_lossy(&body.finish()).into_owned()
    }

    async fn send_create(&self, body: Bytes) -> Result<Bytes, Error> {
        self.send(self.json(self.shared.create_instance.clone(), body)).await
    }

    /// `POST /process-instances` with `awaitCompletion`: answers when the instance has ended, or fails after `wait`.
    pub async fn create_instance_with_result(
        &self,
        command: &CreateInstance<'_>,
        fetch_variables: &[&str],
        wait: Duration,
    ) -> Result<ProcessInstanceResult, Error> {
        let body = create(command)
            .boolean("awaitCompletion", true)
            .millis("requestTimeout", wait)
            .strings("fetchVariables", fetch_variables)
            .finish();
        let mut request = self.json(self.shared.create_instance.clone(), body);
        request.class = Class::Long;
        request.time_limit += wait;
        let body = self.send(request).await?;
        read::<WireInstance<'_>>("create process instance", &body).map(ProcessInstanceResult::from)
    }

    /// `POST /process-instances/{key}/cancellation`.
    pub async fn cancel_instance(&self, process_instance_key: i64) -> Result<(), Error> {
        self.act(
            "cancel process instance",
            "/process-instances/",
            process_instance_key,
            "/cancellation",
            Object::new(2),
        )
        .await
    }

    /// `POST /jobs/activation`: the jobs, none when there are none in time.
    pub async fn activate_jobs(&self, command: &ActivateJobs<'_>) -> Result<Vec<Job>, Error> {
        let mut body = Object::new(256)
            .string("type", command.job_type)
            .string("worker", command.worker)
            .millis("timeout", command.timeout)
            .integer("maxJobsToActivate", i64::from(command.jobs_max))
            .strings("fetchVariable", command.fetch_variables)
            .strings("tenantIds", command.tenant_ids);
        // Zero means "the server's default" there, a negative number "do not wait".
        match command.wait {
            Some(Duration::ZERO) => body = body.integer("requestTimeout", -1),
            Some(wait) => body = body.millis("requestTimeout", wait),
            None => {}
        }
        let mut request = self.json(self.shared.activate_jobs.clone(), body.finish());
        request.class = Class::Long;
        request.time_limit += command.wait.unwrap_or(SERVER_WAIT_MAX);
        let body = self.send(request).await?;
        let wire = read::<WireJobs<'_>>("activate jobs", &body)?;
        Ok(wire.jobs.into_iter().map(Job::from).collect())
    }

    /// `POST /jobs/{key}/completion`.
    pub async fn complete_job(&self, command: &CompleteJob<'_>) -> Result<(), Error> {
        let body =
            Object::new(32 + command.variables.map_or(0, str::len)).raw("variables", command.variables);
        self.act("complete job", "/jobs/", command.job_key, "/completion", body).await
    }

    /// `POST /jobs/{key}/failure`.
    pub async fn fail_job(&self, command: &FailJob<'_>) -> Result<(), Error> {
        let body = Object::new(256)
            .integer("retries", i64::from(command.retries))
            .string("errorMessage", command.error_message)
            .millis("retryBackOff", command.retry_backoff)
            .raw("variables", command.variables);
        self.act("fail job", "/jobs/", command.job_key, "/failure", body).await
    }

    /// `POST /jobs/{key}/error`.
    pub async fn throw_error(&self, command: &ThrowError<'_>) -> Result<(), Error> {
        let body = Object::new(256)
            .string("errorCode", command.error_code)
            .string("errorMessage", command.error_message)
            .raw("variables", command.variables);
        self.act("throw error", "/jobs/", command.job_key, "/error", body).await
    }

    /// `PATCH /jobs/{key}`.
    pub async fn update_job(&self, command: &UpdateJob) -> Result<(), Error> {
        let mut changes = Object::new(64);
        if let Some(retries) = command.retries {
            changes = changes.integer("retries", i64::from(retries));
        }
        if let Some(timeout) = command.timeout {
            changes = changes.millis("timeout", timeout);
        }
        let changes = changes.finish();
        let body = Object::new(96).raw("changeset", std::str::from_utf8(&changes).ok()).finish();
        let mut key = itoa::Buffer::new();
        let mut request = self.json(self.path("update job", &["/jobs/", key.format(command.job_key)])?, body);
        request.method = Method::PATCH;
        self.send(request).await.map(drop)
    }

    /// `POST /messages/publication`.
    pub async fn publish_message(&self, command: &PublishMessage<'_>) -> Result<PublishedMessage, Error> {
        let body = Object::new(256)
            .string("name", command.name)
            .string("correlationKey", command.correlation_key)
            .millis("timeToLive", command.time_to_live)
            .optional_string("messageId", command.message_id)
            .optional_string("tenantId", command.tenant_id)
            .raw("variables", command.variables)
            .finish();
        let path = self.path("publish message", &["/messages/publication"])?;
        let body = self.send(self.json(path, body)).await?;
        read::<WireMessage<'_>>("publish message", &body).map(PublishedMessage::from)
    }

    /// `POST /messages/correlation`.
    pub async fn correlate_message(
        &self,
        command: &CorrelateMessage<'_>,
    ) -> Result<CorrelatedMessage, Error> {
        let body = Object::new(256)
            .string("name", command.name)
            .string("correlationKey", command.correlation_key)
            .optional_string("tenantId", command.tenant_id)
            .raw("variables", command.variables)
            .finish();
        let path = self.path("correlate message", &["/messages/correlation"])?;
        let body = self.send(self.json(path, body)).await?;
        read::<WireMessage<'_>>("correlate message", &body).map(CorrelatedMessage::from)
    }

    /// `PUT /element-instances/{key}/variables`.
    pub async fn set_variables(&self, command: &SetVariables<'_>) -> Result<(), Error> {
        let body = Object::new(64 + command.variables.len())
            .raw("variables", Some(command.variables))
            .boolean("local", command.local)
            .finish();
        let mut key = itoa::Buffer::new();
        let key = key.format(command.element_instance_key);
        let mut request =
            self.json(self.path("set variables", &["/element-instances/", key, "/variables"])?, body);
        request.method = Method::PUT;
        self.send(request).await.map(drop)
    }

    /// `POST /incidents/{key}/resolution`.
    pub async fn resolve_incident(&self, incident_key: i64) -> Result<(), Error> {
        self.act("resolve incident", "/incidents/", incident_key, "/resolution", Object::new(2)).await
    }

    /// `POST /resources/{key}/deletion`: a process definition, decision requirements, form or other resource.
    pub async fn delete_resource(&self, resource_key: i64) -> Result<(), Error> {
        self.act("delete resource", "/resources/", resource_key, "/deletion", Object::new(2)).await
    }

    /// `POST /expression/evaluation`.
    pub async fn evaluate_expression(
        &self,
        command: &EvaluateExpression<'_>,
    ) -> Result<EvaluatedExpression, Error> {
        let body = Object::new(256)
            .string("expression", command.expression)
            .optional_string("tenantId", command.tenant_id)
            .raw("variables", command.variables)
            .finish();
        let path = self.path("evaluate expression", &["/expression/evaluation"])?;
        let body = self.send(self.json(path, body)).await?;
        read::<WireExpression<'_>>("evaluate expression", &body).map(EvaluatedExpression::from)
    }

    /// `POST /{collection}/search`. `request` is the body: filter, sort and page.
    pub async fn search(&self, collection: &str, request: &str) -> Result<Found, Error> {
        let path = self.path("search", &["/", collection, "/search"])?;
        let request = self.json(path, Bytes::copy_from_slice(request.as_bytes()));
        let answer = self.send_for_answer(request).await?;
        Ok(Found { json: text("search", &answer.body)?, lag: answer.lag })
    }

    /// `GET /{collection}/{key}`: the answer as JSON text.
    pub async fn find(&self, collection: &str, key: &str) -> Result<String, Error> {
        let path = self.path("find", &["/", collection, "/", key])?;
        text("find", &self.send(self.get(path)).await?)
    }

    pub(super) fn get(&self, path: PathAndQuery) -> Outgoing {
        let mut request = self.json(path, Bytes::new());
        request.method = Method::GET;
        request.content_type = None;
        request
    }

    /// Posts `body` to something addressed by its key; the answer has nothing to read.
    pub(super) async fn act(
        &self,
        operation: &'static str,
        before: &str,
        key: i64,
        after: &str,
        body: Object,
    ) -> Result<(), Error> {
        let mut digits = itoa::Buffer::new();
        let path = self.path(operation, &[before, digits.format(key), after])?;
        self.send(self.json(path, body.finish())).await.map(drop)
    }
}

fn create(command: &CreateInstance<'_>) -> Object {
    let body = Object::new(192 + command.variables.map_or(0, str::len));
    let body = match command.definition {
        Definition::Key(key) => body.key("processDefinitionKey", key),
        Definition::Id { id, version: None } => body.string("processDefinitionId", id),
        Definition::Id { id, version: Some(version) } => {
            body.string("processDefinitionId", id).integer("processDefinitionVersion", i64::from(version))
        }
    };
    body.raw("variables", command.variables)
        .objects("startInstructions", "elementId", command.start_before)
        .strings("tags", command.tags)
        .optional_string("tenantId", command.tenant_id)
}

pub(super) fn text(operation: &'static str, body: &[u8]) -> Result<String, Error> {
    let text = std::str::from_utf8(body);
    text.map(str::to_owned).map_err(|error| Error::Decode { operation, reason: error.to_string() })
}

pub(super) fn read<'a, T: Deserialize<'a>>(operation: &'static str, body: &'a [u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|error| Error::Decode { operation, reason: error.to_string() })
}
