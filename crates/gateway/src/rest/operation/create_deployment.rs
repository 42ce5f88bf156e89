//! `POST /v2/deployments`: a form with one part `resources` for each file.

use protocol::{
    Command, Deploy, DeployedDecision, DeployedFile, DeployedProcess, DeployedRequirements, Name, Resource,
    Response,
};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Object, object, separate};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let resources = call
        .form
        .files
        .iter()
        .map(|file| Resource { name: Name::from(file.name.as_str()), content: file.content.to_vec() });
    let deploy = Deploy {
        resources: resources.collect(),
        tenant_id: call.form.text("tenantId").map_or_else(Name::default_tenant, Name::from),
    };
    let answer = call.submit("CREATE", Command::Deploy(deploy)).await?;
    let Response::Deployed(deployment) = &answer.response else { return Err(unexpected(&answer.response)) };
    let count = deployment.processes.len() + 2 * deployment.decisions.len();
    let mut out = Vec::with_capacity(128 + 384 * count);
    object(&mut out)
        .with("deploymentKey", Digits(deployment.deployment_key))
        .with("tenantId", &deployment.tenant_id)
        .array("deployments", |out| {
            write_all(PROCESS, &deployment.processes, out, write_process);
            write_all(DECISION, &deployment.decisions, out, write_decision);
            write_all(REQUIREMENTS, &deployment.decision_requirements, out, write_requirements);
            write_all(FORM, &deployment.forms, out, |form, object| write_file(FORM, form, object));
            write_all(RESOURCE, &deployment.resources, out, |file, object| {
                write_file(RESOURCE, file, object)
            });
        })
        .end();
    Ok(Reply::json(out).timed(answer.timing))
}

const PROCESS: &str = "processDefinition";
const DECISION: &str = "decisionDefinition";
const REQUIREMENTS: &str = "decisionRequirements";
const FORM: &str = "form";
const RESOURCE: &str = "resource";

/// Definitions of one kind, each in an object that has a member for every kind and one of them set.
fn write_all<T>(
    kind: &str,
    items: &[T],
    out: &mut Vec<u8>,
    write: impl for<'a> Fn(&T, Object<'a>) -> Object<'a>,
) {
    for item in items {
        separate(out);
        let mut members = object(out);
        for other in [PROCESS, DECISION, REQUIREMENTS, FORM, RESOURCE] {
            members = if other == kind {
                members.object(other, |members| write(item, members))
            } else {
                members.with(other, ())
            };
        }
        members.end();
    }
}

fn write_process<'a>(process: &DeployedProcess, object: Object<'a>) -> Object<'a> {
    object
        .with("processDefinitionId", &process.process_id)
        .with("processDefinitionVersion", process.version)
        .with("resourceName", &process.resource_name)
        .with("tenantId", &process.tenant_id)
        .with("processDefinitionKey", Digits(process.process_definition_key))
}

fn write_decision<'a>(decision: &DeployedDecision, object: Object<'a>) -> Object<'a> {
    object
        .with("decisionDefinitionId", &decision.id)
        .with("version", decision.version)
        .with("name", &decision.name)
        .with("tenantId", &decision.tenant_id)
        .with("decisionRequirementsId", &decision.requirements_id)
        .with("decisionDefinitionKey", Digits(decision.key))
        .with("decisionRequirementsKey", Digits(decision.requirements_key))
}

fn write_requirements<'a>(graph: &DeployedRequirements, object: Object<'a>) -> Object<'a> {
    object
        .with("decisionRequirementsId", &graph.id)
        .with("decisionRequirementsName", &graph.name)
        .with("version", graph.version)
        .with("resourceName", &graph.resource_name)
        .with("tenantId", &graph.tenant_id)
        .with("decisionRequirementsKey", Digits(graph.key))
}

fn write_file<'a>(kind: &str, file: &DeployedFile, object: Object<'a>) -> Object<'a> {
    let (id, key) = if kind == FORM { ("formId", "formKey") } else { ("resourceId", "resourceKey") };
    object
        .with(id, &file.id)
        .with("version", file.version)
        .with("resourceName", &file.resource_name)
        .with("tenantId", &file.tenant_id)
        .with(key, Digits(file.key))
}
