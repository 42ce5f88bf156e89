//! The operations that are served, one file each. To add one: a file and a line in the table below.

use std::borrow::Cow;

use broker::api::{Answer, SubmitError};
use bytes::Bytes;
use protocol::{Command, Document, Key, Query, QueryReply};

use super::contract::Operation;
use super::exchange::Gateway;
use super::fields::{Fields, parse_key};
use super::multipart::Form;
use super::problem::Failure;
use super::reply::Reply;

/// A validated request.
pub(crate) struct Call<'a> {
    gateway: &'a Gateway,
    operation: Operation,
    /// Values of the placeholders, in the order of the path.
    parameters: &'a [Cow<'a, str>],
    /// The body, if it is JSON.
    pub(super) fields: Fields<'a>,
    /// The body, if it is a form.
    pub(super) form: Form,
    /// The buffer behind `fields`.
    body: &'a Bytes,
}

impl<'a> Call<'a> {
    /// A call without the properties of its body yet.
    pub(super) fn new(
        gateway: &'a Gateway,
        operation: Operation,
        parameters: &'a [Cow<'a, str>],
        body: &'a Bytes,
    ) -> Self {
        let fields =
            operation.spec().body.as_ref().map_or_else(Fields::none, |body| Fields::new(body.schema));
        Self { gateway, operation, parameters, fields, form: Form::default(), body }
    }

    /// Whether the tenants that the request names, or leaves out, are as this gateway has it.
    fn check_tenants(&self) -> Result<(), Failure> {
        let (tenancy, id) = (self.gateway.options.tenancy, self.operation.spec().id);
        match self.operation {
            Operation::CreateProcessInstance
            | Operation::PublishMessage
            | Operation::CorrelateMessage
            | Operation::BroadcastSignal
            | Operation::EvaluateDecision
            | Operation::EvaluateConditionals => tenancy.check(id, self.fields.text("tenantId").as_deref()),
            Operation::CreateDeployment => tenancy.check(id, self.form.text("tenantId")),
            Operation::EvaluateExpression => {
                self.fields.text("tenantId").map_or(Ok(()), |tenant_id| tenancy.check_named(id, &tenant_id))
            }
            Operation::ActivateJobs if self.fields.text("tenantFilter").as_deref() != Some("ASSIGNED") => {
                tenancy.check_list(id, &self.fields.names("tenantIds"))
            }
            Operation::CreateTenantClusterVariable
            | Operation::GetTenantClusterVariable
            | Operation::UpdateTenantClusterVariable
            | Operation::DeleteTenantClusterVariable => tenancy.check_named(id, &self.parameters[0]),
            _ => Ok(()),
        }
        .map_err(Failure::invalid)
    }

    /// The key that is the first placeholder.
    fn key(&self) -> Result<Key, Failure> {
        parse_key(self.operation.spec().path_parameters[0].name, &self.parameters[0])
    }

    /// A free object of the body as variables.
    fn document(&self, name: &str) -> Result<Document, Failure> {
        self.fields.document(name, self.body)
    }

    /// Submits a command; `intent` is its name in refusals.
    async fn submit(&self, intent: &str, command: Command) -> Result<Answer, Failure> {
        self.gateway.broker.submit(command).await.map_err(|error| Failure::submit(error, intent))
    }

    /// Asks for what lives.
    async fn read(&self, query: Query) -> Result<QueryReply, Failure> {
        self.gateway.broker.read(query).await.map_err(Failure::read)
    }

    /// Submits a command that answers with nothing but its success.
    async fn submit_for_nothing(&self, intent: &str, command: Command) -> Result<Reply, Failure> {
        let answer = self.submit(intent, command).await?;
        Ok(Reply::no_content(answer.timing))
    }
}

/// A broker's answer of a kind that its command or query never gets.
fn unexpected(response: &impl std::fmt::Debug) -> Failure {
    let text = format!("{response:?}");
    let kind = text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    Failure::submit(SubmitError::Internal(format!("the broker gave an answer of another kind: {kind}")), "")
}

macro_rules! served {
    ($($operation:ident in $module:ident,)*) => {
        $(mod $module;)*

        /// The operations that are served; the rest of the contract answers 501.
        #[cfg(test)]
        pub(crate) const SERVED: &[Operation] = &[$(Operation::$operation),*];

        /// Runs the operation of a call.
        pub(crate) async fn dispatch(call: &Call<'_>) -> Result<Reply, Failure> {
            match call.operation {
                $(Operation::$operation => {
                    call.check_tenants()?;
                    $module::handle(call).await
                })*
                other => {
                    let id = other.spec().id;
                    Err(Failure::not_served(format!("the operation {id} is not served by this release")))
                }
            }
        }
    };
}

served! {
    ActivateJobs in activate_jobs,
    CancelProcessInstance in cancel_process_instance,
    CompleteJob in complete_job,
    CorrelateMessage in correlate_message,
    CreateDeployment in create_deployment,
    CreateElementInstanceVariables in create_element_instance_variables,
    CreateProcessInstance in create_process_instance,
    DeleteResource in delete_resource,
    EvaluateDecision in evaluate_decision,
    EvaluateExpression in evaluate_expression,
    FailJob in fail_job,
    GetElementInstance in get_element_instance,
    GetIncident in get_incident,
    GetLicense in get_license,
    GetProcessInstance in get_process_instance,
    GetProcessInstanceCallHierarchy in get_process_instance_call_hierarchy,
    GetStatus in get_status,
    GetTopology in get_topology,
    MigrateProcessInstance in migrate_process_instance,
    GetVariable in get_variable,
    ModifyProcessInstance in modify_process_instance,
    PinClock in pin_clock,
    PublishMessage in publish_message,
    ResetClock in reset_clock,
    ResolveIncident in resolve_incident,
    ThrowJobError in throw_job_error,
    UpdateJob in update_job,
}
