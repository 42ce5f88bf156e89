//! `POST /v2/incidents/statistics/process-instances-by-error`: of each error, how many instances have it.

use protocol::{ErrorView, Query, QueryReply, error_hash};

use super::{Call, unexpected};
use crate::rest::limits::INCIDENTS_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::object;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let of = call.visible_instances().await?;
    let reply = call.read(Query::Errors { limit: INCIDENTS_MAX, of }).await?;
    let QueryReply::Errors { errors, has_more } = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(search.answer(errors, has_more, property, write)))
}

fn property(error: &ErrorView, name: &str) -> Option<String> {
    match name {
        "errorMessage" => Some(error.message.to_string()),
        "activeInstancesWithErrorCount" => Some(error.instances.to_string()),
        _ => None,
    }
}

fn write(error: &ErrorView, out: &mut Vec<u8>) {
    object(out)
        .with("errorHashCode", error_hash(&error.message))
        .with("errorMessage", &error.message)
        .with("activeInstancesWithErrorCount", error.instances)
        .end();
}
