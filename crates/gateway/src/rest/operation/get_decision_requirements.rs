//! `GET /v2/decision-requirements/{decisionRequirementsKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{integer_member, key_member, text_member};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::DecisionRequirements { key: call.key()? }).await?;
    let QueryReply::DecisionRequirements(graph) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    out.push(b'{');
    text_member("decisionRequirementsId", &graph.id, &mut out);
    key_member("decisionRequirementsKey", graph.key, &mut out);
    text_member("decisionRequirementsName", &graph.name, &mut out);
    text_member("resourceName", &graph.resource_name, &mut out);
    text_member("tenantId", &graph.tenant_id, &mut out);
    integer_member("version", graph.version, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
