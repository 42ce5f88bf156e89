//! `GET /v2/decision-definitions/{decisionDefinitionKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Decision { key: call.key()? }).await?;
    let QueryReply::Decision(decision) = reply else { return Err(unexpected(&reply)) };
    let graph = &decision.requirements;
    let mut out = Vec::with_capacity(384);
    object(&mut out)
        .with("decisionDefinitionId", &decision.id)
        .with("decisionDefinitionKey", Digits(decision.key))
        .with("decisionRequirementsId", &graph.id)
        .with("decisionRequirementsKey", Digits(graph.key))
        .with("decisionRequirementsName", &graph.name)
        .with("decisionRequirementsVersion", graph.version)
        .with("name", &decision.name)
        .with("tenantId", &graph.tenant_id)
        .with("version", decision.version)
        .end();
    Ok(Reply::json(out))
}
