//! `GET /v2/variables/{variableKey}`: one of a scope that lives.

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Variable { key: call.key()? }).await?;
    let QueryReply::Variable(variable) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(640);
    object(&mut out)
        .with("name", &variable.name)
        .with("tenantId", &variable.tenant_id)
        .with("variableKey", Digits(variable.key))
        .with("scopeKey", Digits(variable.scope_key))
        .with("processInstanceKey", Digits(variable.process_instance_key))
        .with("rootProcessInstanceKey", Digits(variable.root_process_instance_key))
        .with("value", &*variable.value.canonical())
        .end();
    Ok(Reply::json(out))
}
