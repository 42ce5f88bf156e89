//! `GET /v2/process-definitions/{processDefinitionKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_flag, write_integer, write_key, write_optional_text, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ProcessDefinition { key: call.key()? }).await?;
    let QueryReply::ProcessDefinition(process) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(384);
    out.push(b'{');
    member("name", &mut out);
    write_optional_text(process.name.as_ref(), &mut out);
    member("resourceName", &mut out);
    write_text(&process.resource_name, &mut out);
    member("version", &mut out);
    write_integer(process.version, &mut out);
    member("versionTag", &mut out);
    write_optional_text(process.version_tag.as_ref(), &mut out);
    member("processDefinitionId", &mut out);
    write_text(&process.process_id, &mut out);
    member("tenantId", &mut out);
    write_text(&process.tenant_id, &mut out);
    member("processDefinitionKey", &mut out);
    write_key(process.key, &mut out);
    member("hasStartForm", &mut out);
    write_flag(process.has_start_form, &mut out);
    member("state", &mut out);
    write_text(if process.is_deleted { "DELETED" } else { "ACTIVE" }, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
