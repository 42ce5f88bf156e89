//! `GET /v2/element-instances/{elementInstanceKey}`: one that lives.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_flag, write_key, write_optional_key, write_text, write_time};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ElementInstance { key: call.key()? }).await?;
    let QueryReply::ElementInstance(element) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    out.push(b'{');
    member("processDefinitionId", &mut out);
    write_text(&element.process_id, &mut out);
    member("startDate", &mut out);
    write_time(element.start_ms, &mut out);
    member("endDate", &mut out);
    out.extend_from_slice(b"null");
    member("elementId", &mut out);
    write_text(&element.element_id, &mut out);
    member("elementName", &mut out);
    write_text(&element.element_name, &mut out);
    member("type", &mut out);
    write_text(type_of(element.element_type), &mut out);
    member("state", &mut out);
    out.extend_from_slice(br#""ACTIVE""#);
    member("hasIncident", &mut out);
    write_flag(element.has_incident, &mut out);
    member("tenantId", &mut out);
    write_text(&element.tenant_id, &mut out);
    member("elementInstanceKey", &mut out);
    write_key(element.key, &mut out);
    member("processInstanceKey", &mut out);
    write_key(element.process_instance_key, &mut out);
    member("rootProcessInstanceKey", &mut out);
    write_key(element.root_process_instance_key, &mut out);
    member("processDefinitionKey", &mut out);
    write_key(element.process_definition_key, &mut out);
    member("incidentKey", &mut out);
    write_optional_key(element.incident_key, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}

/// What the contract calls a type; it has no name for some.
fn type_of(element_type: &'static str) -> &'static str {
    match element_type {
        "TRANSACTION" | "COMPLEX_GATEWAY" => "UNKNOWN",
        known => known,
    }
}
