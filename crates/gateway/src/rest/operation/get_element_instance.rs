//! `GET /v2/element-instances/{elementInstanceKey}`: one that lives.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ElementInstance { key: call.key()? }).await?;
    let QueryReply::ElementInstance(element) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    object(&mut out)
        .with("processDefinitionId", &element.process_id)
        .with("startDate", Moment(element.start_ms))
        .with("endDate", ())
        .with("elementId", &element.element_id)
        .with("elementName", &element.element_name)
        .with("type", type_of(element.element_type))
        .with("state", "ACTIVE")
        .with("hasIncident", element.has_incident)
        .with("tenantId", &element.tenant_id)
        .with("elementInstanceKey", Digits(element.key))
        .with("processInstanceKey", Digits(element.process_instance_key))
        .with("rootProcessInstanceKey", Digits(element.root_process_instance_key))
        .with("processDefinitionKey", Digits(element.process_definition_key))
        .with("incidentKey", element.incident_key.map(Digits))
        .end();
    Ok(Reply::json(out))
}

/// The contract's name of a type; some have none.
fn type_of(element_type: &'static str) -> &'static str {
    match element_type {
        "TRANSACTION" | "COMPLEX_GATEWAY" => "UNKNOWN",
        known => known,
    }
}
