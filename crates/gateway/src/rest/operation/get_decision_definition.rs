//! `GET /v2/decision-definitions/{decisionDefinitionKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{integer_member, key_member, text_member};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Decision { key: call.key()? }).await?;
    let QueryReply::Decision(decision) = reply else { return Err(unexpected(&reply)) };
    let graph = &decision.requirements;
    let mut out = Vec::with_capacity(384);
    out.push(b'{');
    text_member("decisionDefinitionId", &decision.id, &mut out);
    key_member("decisionDefinitionKey", decision.key, &mut out);
    text_member("decisionRequirementsId", &graph.id, &mut out);
    key_member("decisionRequirementsKey", graph.key, &mut out);
    text_member("decisionRequirementsName", &graph.name, &mut out);
    integer_member("decisionRequirementsVersion", graph.version, &mut out);
    text_member("name", &decision.name, &mut out);
    text_member("tenantId", &graph.tenant_id, &mut out);
    integer_member("version", decision.version, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
