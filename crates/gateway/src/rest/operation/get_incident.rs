//! `GET /v2/incidents/{incidentKey}`: one that is not resolved.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Incident { key: call.key()? }).await?;
    let QueryReply::Incident(incident) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    object(&mut out)
        .with("processDefinitionId", &incident.process_id)
        .with("errorType", incident.error_type)
        .with("errorMessage", &incident.error_message)
        .with("elementId", &incident.element_id)
        .with("creationTime", Moment(incident.created_ms))
        .with("state", "ACTIVE")
        .with("tenantId", &incident.tenant_id)
        .with("incidentKey", Digits(incident.key))
        .with("processDefinitionKey", Digits(incident.process_definition_key))
        .with("processInstanceKey", Digits(incident.process_instance_key))
        .with("rootProcessInstanceKey", Digits(incident.root_process_instance_key))
        .with("elementInstanceKey", Digits(incident.element_instance_key))
        .with("jobKey", incident.job_key.map(Digits))
        .end();
    Ok(Reply::json(out))
}
