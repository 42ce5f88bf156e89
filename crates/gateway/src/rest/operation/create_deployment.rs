//! `POST /v2/deployments`: a form with one part `resources` for each file.

use protocol::{Command, Deploy, DeployedProcess, Name, Resource, Response};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_list, write_text};
use super::{Call, unexpected};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let resources = call.form.files.iter().map(|file| Resource {
        name: Name::from(file.name.as_str()),
        content: file.content.to_vec(),
    });
    let deploy = Deploy {
        resources: resources.collect(),
        tenant_id: call.form.text("tenantId").map_or_else(Name::default_tenant, Name::from),
    };
    let answer = call.submit("CREATE", Command::Deploy(deploy)).await?;
    let Response::Deployed(deployment) = &answer.response else { return Err(unexpected(&answer.response)) };
    let mut out = Vec::with_capacity(128 + 384 * deployment.processes.len());
    out.push(b'{');
    member("deploymentKey", &mut out);
    write_key(deployment.deployment_key, &mut out);
    member("tenantId", &mut out);
    write_text(&deployment.tenant_id, &mut out);
    member("deployments", &mut out);
    write_list(&deployment.processes, &mut out, write_process);
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}

/// One of five members is set.
fn write_process(process: &DeployedProcess, out: &mut Vec<u8>) {
    out.push(b'{');
    member("processDefinition", out);
    out.push(b'{');
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
    out.push(b'}');
    for other in ["decisionDefinition", "decisionRequirements", "form", "resource"] {
        member(other, out);
        out.extend_from_slice(b"null");
    }
    out.push(b'}');
}
