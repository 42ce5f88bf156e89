//! `GET /v2/variables/{variableKey}`: one of a scope that lives.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Variable { key: call.key()? }).await?;
    let QueryReply::Variable(variable) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    out.push(b'{');
    member("name", &mut out);
    write_text(&variable.name, &mut out);
    member("tenantId", &mut out);
    write_text(&variable.tenant_id, &mut out);
    member("variableKey", &mut out);
    write_key(variable.key, &mut out);
    member("scopeKey", &mut out);
    write_key(variable.scope_key, &mut out);
    member("processInstanceKey", &mut out);
    write_key(variable.process_instance_key, &mut out);
    member("rootProcessInstanceKey", &mut out);
    write_key(variable.root_process_instance_key, &mut out);
    member("value", &mut out);
    write_text(variable.value.as_str(), &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
