//! `POST /v2/batch-operations/search`: from secondary storage; without it, those that run, and those that the
//! engine keeps after their end.

use protocol::{BatchOperationView, Query, QueryReply};

use super::{Call, batch_operation, unexpected};
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::search::Search;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    if let (Ok(_), Some(spec)) = (call.storage(), query::of(call.operation)) {
        return query::search(call, spec).await;
    }
    let search = Search::read(&call.fields)?;
    let reply = call.read(Query::BatchOperations).await?;
    let QueryReply::BatchOperations(all) = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(search.answer(all, false, property, batch_operation::write)))
}

fn property(operation: &BatchOperationView, name: &str) -> Option<String> {
    match name {
        "batchOperationKey" => Some(operation.key.to_string()),
        "operationType" => Some(operation.kind.to_string()),
        "state" => Some(operation.state.to_string()),
        "startDate" => operation.started_ms.map(|ms| ms.to_string()),
        "endDate" => operation.ended_ms.map(|ms| ms.to_string()),
        "actorType" => batch_operation::actor_type(operation).map(str::to_owned),
        "actorId" => operation.actor.as_ref()?.id.as_ref().map(ToString::to_string),
        _ => None,
    }
}
