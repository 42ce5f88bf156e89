//! Deployments: deploy and delete resources.

use grpc as pb;
use protocol::{
    Command, DeleteResource, Deploy, DeployedProcess, DeploymentCreated, Name, Resource, Response,
};
use tonic::Status;

use super::field;
use super::status::unexpected_response;

pub(super) fn deploy_resource(request: pb::DeployResourceRequest) -> Result<Command, Status> {
    field::length("resources", request.resources.len())?;
    let files = request.resources.into_iter().map(|resource| (resource.name, resource.content));
    deploy("resources", files, field::tenant("tenantId", &request.tenant_id)?)
}

/// Reads a deployment in the older form, for processes only.
pub(super) fn deploy_process(request: pb::DeployProcessRequest) -> Result<Command, Status> {
    field::length("processes", request.processes.len())?;
    let files = request.processes.into_iter().map(|process| (process.name, process.definition));
    deploy("processes", files, Name::default_tenant())
}

fn deploy(
    field: &str,
    files: impl Iterator<Item = (String, Vec<u8>)>,
    tenant_id: Name,
) -> Result<Command, Status> {
    let resources = files
        .map(|(name, content)| Ok(Resource { name: field::name(&format!("{field}.name"), name)?, content }))
        .collect::<Result<Vec<_>, Status>>()?;
    if resources.is_empty() {
        return Err(Status::invalid_argument(format!(
            "Expected '{field}' to hold at least one resource to deploy, but it was empty"
        )));
    }
    Ok(Command::Deploy(Deploy { resources, tenant_id }))
}

pub(super) fn delete(request: &pb::DeleteResourceRequest) -> Result<Command, Status> {
    Ok(Command::DeleteResource(DeleteResource {
        delete_history: false,
        resource_key: field::key("resourceKey", request.resource_key)?,
        operation_reference: request.operation_reference,
    }))
}

/// Writes the answer to a deployment.
pub(super) fn resources_deployed(response: Response) -> Result<pb::DeployResourceResponse, Status> {
    let deployment = deployed(response)?;
    Ok(pb::DeployResourceResponse {
        key: deployment.deployment_key as i64,
        tenant_id: deployment.tenant_id.to_string(),
        deployments: metadata_of(&deployment).map(|it| pb::Deployment { metadata: Some(it) }).collect(),
    })
}

/// Deployed definitions, kind by kind. The protocol has no message for resources of other kinds.
fn metadata_of(deployment: &DeploymentCreated) -> impl Iterator<Item = pb::deployment::Metadata> {
    use pb::deployment::Metadata;
    let processes = deployment.processes.iter().map(|process| Metadata::Process(metadata(process)));
    let decisions = deployment.decisions.iter().map(|decision| {
        Metadata::Decision(pb::DecisionMetadata {
            dmn_decision_id: decision.id.to_string(),
            dmn_decision_name: decision.name.to_string(),
            version: decision.version as i32,
            decision_key: decision.key as i64,
            dmn_decision_requirements_id: decision.requirements_id.to_string(),
            decision_requirements_key: decision.requirements_key as i64,
            tenant_id: decision.tenant_id.to_string(),
        })
    });
    let graphs = deployment.decision_requirements.iter().map(|graph| {
        Metadata::DecisionRequirements(pb::DecisionRequirementsMetadata {
            dmn_decision_requirements_id: graph.id.to_string(),
            dmn_decision_requirements_name: graph.name.to_string(),
            version: graph.version as i32,
            decision_requirements_key: graph.key as i64,
            resource_name: graph.resource_name.to_string(),
            tenant_id: graph.tenant_id.to_string(),
        })
    });
    let forms = deployment.forms.iter().map(|form| {
        Metadata::Form(pb::FormMetadata {
            form_id: form.id.to_string(),
            version: form.version as i32,
            form_key: form.key as i64,
            resource_name: form.resource_name.to_string(),
            tenant_id: form.tenant_id.to_string(),
        })
    });
    processes.chain(decisions).chain(graphs).chain(forms)
}

/// Writes the answer to a deployment in the older form.
pub(super) fn processes_deployed(response: Response) -> Result<pb::DeployProcessResponse, Status> {
    let deployment = deployed(response)?;
    Ok(pb::DeployProcessResponse {
        key: deployment.deployment_key as i64,
        processes: deployment.processes.iter().map(metadata).collect(),
    })
}

fn deployed(response: Response) -> Result<DeploymentCreated, Status> {
    match response {
        Response::Deployed(deployment) => Ok(deployment),
        _ => Err(unexpected_response("CREATE")),
    }
}

fn metadata(process: &DeployedProcess) -> pb::ProcessMetadata {
    pb::ProcessMetadata {
        bpmn_process_id: process.process_id.to_string(),
        version: process.version as i32,
        process_definition_key: process.process_definition_key as i64,
        resource_name: process.resource_name.to_string(),
        tenant_id: process.tenant_id.to_string(),
    }
}
