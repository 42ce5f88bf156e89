//! `GET /v2/process-instances/{processInstanceKey}`: one that runs.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ProcessInstance { key: call.key()? }).await?;
    let QueryReply::ProcessInstance(instance) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    object(&mut out)
        .with("processDefinitionId", &instance.process_id)
        .with("processDefinitionName", instance.process_name.as_ref())
        .with("processDefinitionVersion", instance.version)
        .with("processDefinitionVersionTag", instance.version_tag.as_ref())
        .with("startDate", Moment(instance.start_ms))
        .with("endDate", ())
        .with("state", if instance.suspended_ms.is_some() { "SUSPENDED" } else { "ACTIVE" })
        .with("suspendedDate", instance.suspended_ms.map(Moment))
        .with("hasIncident", instance.has_incident)
        .with("tenantId", &instance.tenant_id)
        .with("processInstanceKey", Digits(instance.key))
        .with("processDefinitionKey", Digits(instance.process_definition_key))
        .with("parentProcessInstanceKey", instance.parent_process_instance_key.map(Digits))
        .with("parentElementInstanceKey", instance.parent_element_instance_key.map(Digits))
        .with("rootProcessInstanceKey", Digits(instance.root_process_instance_key))
        .with("tags", &instance.tags)
        .with("businessId", instance.business_id.as_ref())
        .end();
    Ok(Reply::json(out))
}
