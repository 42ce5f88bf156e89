//! `GET /v2/documents/{documentId}`: the content.

use bytes::Bytes;
use futures::TryStreamExt as _;
use http::HeaderValue;

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, document};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    let hash = call.query_parameter("contentHash")?;
    let found = store.find(&call.parameters[0], hash.as_deref(), document::now_ms()).await;
    let found = document::told(call, store, found)?;
    let pieces = document::told(call, store, store.read(&found).await)?;
    let pieces: Vec<Bytes> = document::told(call, store, pieces.try_collect().await)?;
    // What no header can hold is told as bytes of no kind.
    let octets = HeaderValue::from_static("application/octet-stream");
    let content_type = HeaderValue::from_str(&found.metadata.content_type).unwrap_or(octets);
    Ok(Reply::raw(pieces.concat(), content_type))
}
