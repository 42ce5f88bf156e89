//! `POST /v2/deployments`: a form with one part `resources` for each file.

use protocol::{
    Command, Deploy, DeployedDecision, DeployedFile, DeployedProcess, DeployedRequirements, Name, Resource,
    Response,
};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_text};

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
    out.push(b'{');
    member("deploymentKey", &mut out);
    write_key(deployment.deployment_key, &mut out);
    member("tenantId", &mut out);
    write_text(&deployment.tenant_id, &mut out);
    member("deployments", &mut out);
    out.push(b'[');
    write_all(PROCESS, &deployment.processes, &mut out, write_process);
    write_all(DECISION, &deployment.decisions, &mut out, write_decision);
    write_all(REQUIREMENTS, &deployment.decision_requirements, &mut out, write_requirements);
    write_all(FORM, &deployment.forms, &mut out, write_form);
    write_all(RESOURCE, &deployment.resources, &mut out, write_resource);
    out.extend_from_slice(b"]}");
    Ok(Reply::json(out).timed(answer.timing))
}

const PROCESS: &str = "processDefinition";
const DECISION: &str = "decisionDefinition";
const REQUIREMENTS: &str = "decisionRequirements";
const FORM: &str = "form";
const RESOURCE: &str = "resource";

/// Definitions of one kind, each in an object that has a member for every kind and one of them set.
fn write_all<T>(kind: &str, items: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    for item in items {
        if out.last() != Some(&b'[') {
            out.push(b',');
        }
        out.push(b'{');
        for other in [PROCESS, DECISION, REQUIREMENTS, FORM, RESOURCE] {
            member(other, out);
            if other == kind {
                out.push(b'{');
                write(item, out);
                out.push(b'}');
            } else {
                out.extend_from_slice(b"null");
            }
        }
        out.push(b'}');
    }
}

fn write_process(process: &DeployedProcess, out: &mut Vec<u8>) {
    member("processDefinitionId", out);
    write_text(&process.process_id, out);
    member("processDefinitionVersion", out);
    write_integer(process.version, out);
    member("resourceName", out);
    write_text(&process.resource_name, out);
    member("tenantId", out);
    write_text(&process.tenant_id, out);
    member("processDefinitionKey", out);
    write_key(process.process_definition_key, out);
}

fn write_decision(decision: &DeployedDecision, out: &mut Vec<u8>) {
    member("decisionDefinitionId", out);
    write_text(&decision.id, out);
    member("version", out);
    write_integer(decision.version, out);
    member("name", out);
    write_text(&decision.name, out);
    member("tenantId", out);
    write_text(&decision.tenant_id, out);
    member("decisionRequirementsId", out);
    write_text(&decision.requirements_id, out);
    member("decisionDefinitionKey", out);
    write_key(decision.key, out);
    member("decisionRequirementsKey", out);
    write_key(decision.requirements_key, out);
}

fn write_requirements(graph: &DeployedRequirements, out: &mut Vec<u8>) {
    member("decisionRequirementsId", out);
    write_text(&graph.id, out);
    member("decisionRequirementsName", out);
    write_text(&graph.name, out);
    member("version", out);
    write_integer(graph.version, out);
    member("resourceName", out);
    write_text(&graph.resource_name, out);
    member("tenantId", out);
    write_text(&graph.tenant_id, out);
    member("decisionRequirementsKey", out);
    write_key(graph.key, out);
}

fn write_form(form: &DeployedFile, out: &mut Vec<u8>) {
    member("formId", out);
    write_text(&form.id, out);
    write_file(form, out);
    member("formKey", out);
    write_key(form.key, out);
}

fn write_resource(resource: &DeployedFile, out: &mut Vec<u8>) {
    member("resourceId", out);
    write_text(&resource.id, out);
    write_file(resource, out);
    member("resourceKey", out);
    write_key(resource.key, out);
}

fn write_file(file: &DeployedFile, out: &mut Vec<u8>) {
    member("version", out);
    write_integer(file.version, out);
    member("resourceName", out);
    write_text(&file.resource_name, out);
    member("tenantId", out);
    write_text(&file.tenant_id, out);
}
