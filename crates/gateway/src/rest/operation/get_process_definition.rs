//! `GET /v2/process-definitions/{processDefinitionKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::ProcessDefinition { key: call.key()? }).await?;
    let QueryReply::ProcessDefinition(process) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(384);
    object(&mut out)
        .with("name", process.name.as_ref())
        .with("resourceName", &process.resource_name)
        .with("version", process.version)
        .with("versionTag", process.version_tag.as_ref())
        .with("processDefinitionId", &process.process_id)
        .with("tenantId", &process.tenant_id)
        .with("processDefinitionKey", Digits(process.key))
        .with("hasStartForm", process.has_start_form)
        .with("state", if process.is_draining { "DRAINING" } else { "ACTIVE" })
        .end();
    Ok(Reply::json(out))
}
