//! `GET /v2/incidents/{incidentKey}`: one that is not resolved.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_optional_key, write_text, write_time};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Incident { key: call.key()? }).await?;
    let QueryReply::Incident(incident) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    out.push(b'{');
    member("processDefinitionId", &mut out);
    write_text(&incident.process_id, &mut out);
    member("errorType", &mut out);
    write_text(incident.error_type, &mut out);
    member("errorMessage", &mut out);
    write_text(&incident.error_message, &mut out);
    member("elementId", &mut out);
    write_text(&incident.element_id, &mut out);
    member("creationTime", &mut out);
    write_time(incident.created_ms, &mut out);
    member("state", &mut out);
    out.extend_from_slice(br#""ACTIVE""#);
    member("tenantId", &mut out);
    write_text(&incident.tenant_id, &mut out);
    member("incidentKey", &mut out);
    write_key(incident.key, &mut out);
    member("processDefinitionKey", &mut out);
    write_key(incident.process_definition_key, &mut out);
    member("processInstanceKey", &mut out);
    write_key(incident.process_instance_key, &mut out);
    member("rootProcessInstanceKey", &mut out);
    write_key(incident.root_process_instance_key, &mut out);
    member("elementInstanceKey", &mut out);
    write_key(incident.element_instance_key, &mut out);
    member("jobKey", &mut out);
    write_optional_key(incident.job_key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
