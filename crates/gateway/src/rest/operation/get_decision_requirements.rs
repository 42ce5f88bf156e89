//! `GET /v2/decision-requirements/{decisionRequirementsKey}`

use protocol::{Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::DecisionRequirements { key: call.key()? }).await?;
    let QueryReply::DecisionRequirements(graph) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .with("decisionRequirementsId", &graph.id)
        .with("decisionRequirementsKey", Digits(graph.key))
        .with("decisionRequirementsName", &graph.name)
        .with("resourceName", &graph.resource_name)
        .with("tenantId", &graph.tenant_id)
        .with("version", graph.version)
        .end();
    Ok(Reply::json(out))
}
