//! `POST /v2/batch-operations/search`: those that run, and those that are kept after their end.

use protocol::{BatchOperationView, Query, QueryReply};

use super::{Call, batch_operation, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
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
        // Nobody knows yet who created it.
        _ => None,
    }
}
