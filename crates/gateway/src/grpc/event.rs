//! Signals and conditions: broadcast, evaluate.

use grpc as pb;
use protocol::{BroadcastSignal, Command, EvaluateConditionals, Response};
use tonic::Status;

use super::field;
use super::status::unexpected_response;

pub(super) fn broadcast(request: pb::BroadcastSignalRequest) -> Result<Command, Status> {
    Ok(Command::BroadcastSignal(BroadcastSignal {
        name: field::name("signalName", request.signal_name)?,
        variables: field::variables("variables", request.variables)?,
        tenant_id: field::tenant("tenantId", &request.tenant_id)?,
    }))
}

pub(super) fn broadcasted(response: Response) -> Result<pb::BroadcastSignalResponse, Status> {
    match response {
        Response::SignalBroadcast { signal_key, tenant_id } => {
            Ok(pb::BroadcastSignalResponse { key: signal_key as i64, tenant_id: tenant_id.to_string() })
        }
        _ => Err(unexpected_response("BROADCAST")),
    }
}

/// Reads an evaluation. No definition, or one below 1, means all.
pub(super) fn evaluate(request: pb::EvaluateConditionalRequest) -> Result<Command, Status> {
    let definition_key = request.process_definition_key.filter(|key| *key > 0);
    Ok(Command::EvaluateConditionals(EvaluateConditionals {
        variables: field::variables("variables", request.variables)?,
        tenant_id: field::tenant("tenantId", &request.tenant_id)?,
        definition_key: definition_key.map(|key| field::key("processDefinitionKey", key)).transpose()?,
    }))
}

pub(super) fn evaluated(response: Response) -> Result<pb::EvaluateConditionalResponse, Status> {
    match response {
        Response::ConditionalsEvaluated { key, tenant_id, instances } => {
            let reference = |(definition_key, instance_key)| pb::ProcessInstanceReference {
                process_definition_key: definition_key as i64,
                process_instance_key: instance_key as i64,
            };
            Ok(pb::EvaluateConditionalResponse {
                process_instances: instances.into_iter().map(reference).collect(),
                conditional_evaluation_key: key as i64,
                tenant_id: tenant_id.to_string(),
            })
        }
        _ => Err(unexpected_response("EVALUATE")),
    }
}
