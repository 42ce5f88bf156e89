//! `POST /v2/batch-operation-items/search`: from secondary storage; without it, up to ten thousand items of the
//! engine are looked at.

use protocol::{BatchItemView, Query, QueryReply};

use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Digits, Moment, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    if let (Ok(_), Some(spec)) = (call.storage(), query::of(call.operation)) {
        return query::search(call, spec).await;
    }
    let search = Search::read(&call.fields)?;
    // A text that is no key matches nothing.
    let batch_operation_key = search.wanted("batchOperationKey").map(|key| key.parse().unwrap_or(0));
    let reply = call.read(Query::BatchItems { batch_operation_key, limit: ENTITIES_MAX }).await?;
    let QueryReply::BatchItems { items, has_more } = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(search.answer(items, has_more, property, write)))
}

fn property(item: &BatchItemView, name: &str) -> Option<String> {
    match name {
        "batchOperationKey" => Some(item.batch_operation_key.to_string()),
        "operationType" => Some(item.kind.to_string()),
        "itemKey" => Some(item.item_key.to_string()),
        "processInstanceKey" => Some(item.process_instance_key.to_string()),
        "state" => Some(item.state.to_string()),
        "processedDate" => item.processed_ms.map(|ms| ms.to_string()),
        _ => None,
    }
}

fn write(item: &BatchItemView, out: &mut Vec<u8>) {
    object(out)
        .with("operationType", item.kind.as_str())
        .with("batchOperationKey", Digits(item.batch_operation_key))
        .with("itemKey", Digits(item.item_key))
        .with("processInstanceKey", Digits(item.process_instance_key))
        .with("rootProcessInstanceKey", Digits(item.root_process_instance_key))
        .with("state", item.state.as_str())
        .with("processedDate", item.processed_ms.map(Moment))
        .with("errorMessage", item.error_message.as_ref())
        .end();
}
