//! `GET /v2/decision-definitions/{decisionDefinitionKey}`

use protocol::{Query, QueryReply};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_text};
use super::{Call, unexpected};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Decision { key: call.key()? }).await?;
    let QueryReply::Decision(decision) = reply else { return Err(unexpected(&reply)) };
    let graph = &decision.requirements;
    let mut out = Vec::with_capacity(384);
    out.push(b'{');
    member("decisionDefinitionId", &mut out);
    write_text(&decision.id, &mut out);
    member("decisionDefinitionKey", &mut out);
    write_key(decision.key, &mut out);
    member("decisionRequirementsId", &mut out);
    write_text(&graph.id, &mut out);
    member("decisionRequirementsKey", &mut out);
    write_key(graph.key, &mut out);
    member("decisionRequirementsName", &mut out);
    write_text(&graph.name, &mut out);
    member("decisionRequirementsVersion", &mut out);
    write_integer(graph.version, &mut out);
    member("name", &mut out);
    write_text(&decision.name, &mut out);
    member("tenantId", &mut out);
    write_text(&graph.tenant_id, &mut out);
    member("version", &mut out);
    write_integer(decision.version, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
