//! `GET /v2/process-instances/{processInstanceKey}`: one that runs.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{
    member, write_flag, write_integer, write_key, write_names, write_optional_key, write_optional_text,
    write_text, write_time,
};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ProcessInstance { key: call.key()? }).await?;
    let QueryReply::ProcessInstance(instance) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    out.push(b'{');
    member("processDefinitionId", &mut out);
    write_text(&instance.process_id, &mut out);
    member("processDefinitionName", &mut out);
    write_optional_text(instance.process_name.as_ref(), &mut out);
    member("processDefinitionVersion", &mut out);
    write_integer(instance.version, &mut out);
    member("processDefinitionVersionTag", &mut out);
    write_optional_text(instance.version_tag.as_ref(), &mut out);
    member("startDate", &mut out);
    write_time(instance.start_ms, &mut out);
    member("endDate", &mut out);
    out.extend_from_slice(b"null");
    member("state", &mut out);
    out.extend_from_slice(br#""ACTIVE""#);
    member("hasIncident", &mut out);
    write_flag(instance.has_incident, &mut out);
    member("tenantId", &mut out);
    write_text(&instance.tenant_id, &mut out);
    member("processInstanceKey", &mut out);
    write_key(instance.key, &mut out);
    member("processDefinitionKey", &mut out);
    write_key(instance.process_definition_key, &mut out);
    member("parentProcessInstanceKey", &mut out);
    write_optional_key(instance.parent_process_instance_key, &mut out);
    member("parentElementInstanceKey", &mut out);
    write_optional_key(instance.parent_element_instance_key, &mut out);
    member("rootProcessInstanceKey", &mut out);
    write_key(instance.root_process_instance_key, &mut out);
    member("tags", &mut out);
    write_names(&instance.tags, &mut out);
    member("businessId", &mut out);
    write_optional_text(instance.business_id.as_ref(), &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
