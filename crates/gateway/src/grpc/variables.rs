//! Variables of a scope, and the incidents that wrong ones raise.

use grpc as pb;
use protocol::{Command, Response, SetVariables};
use tonic::Status;

use super::field;
use super::status::unexpected_response;

/// Reads a change of variables.
pub(super) fn set(request: pb::SetVariablesRequest) -> Result<Command, Status> {
    Ok(Command::SetVariables(SetVariables {
        element_instance_key: field::key("elementInstanceKey", request.element_instance_key)?,
        variables: field::variables("variables", request.variables)?,
        local: request.local,
        operation_reference: request.operation_reference,
        request_id: None,
    }))
}

pub(super) fn were_set(response: Response) -> Result<pb::SetVariablesResponse, Status> {
    match response {
        Response::VariablesSet { key } => Ok(pb::SetVariablesResponse { key: key as i64 }),
        _ => Err(unexpected_response("UPDATE")),
    }
}

/// Reads the resolution of an incident.
pub(super) fn resolve_incident(request: &pb::ResolveIncidentRequest) -> Result<Command, Status> {
    Ok(Command::ResolveIncident {
        incident_key: field::key("incidentKey", request.incident_key)?,
        operation_reference: request.operation_reference,
    })
}
