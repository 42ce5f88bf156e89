//! `GET /v2/decision-requirements/{decisionRequirementsKey}`

use protocol::{Query, QueryReply};

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_text};
use super::{Call, unexpected};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::DecisionRequirements { key: call.key()? }).await?;
    let QueryReply::DecisionRequirements(graph) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    out.push(b'{');
    member("decisionRequirementsId", &mut out);
    write_text(&graph.id, &mut out);
    member("decisionRequirementsKey", &mut out);
    write_key(graph.key, &mut out);
    member("decisionRequirementsName", &mut out);
    write_text(&graph.name, &mut out);
    member("resourceName", &mut out);
    write_text(&graph.resource_name, &mut out);
    member("tenantId", &mut out);
    write_text(&graph.tenant_id, &mut out);
    member("version", &mut out);
    write_integer(graph.version, &mut out);
    out.push(b'}');
    Ok(Reply::json(out))
}
