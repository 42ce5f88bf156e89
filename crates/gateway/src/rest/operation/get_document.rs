//! `GET /v2/documents/{documentId}`: the content.

use bytes::Bytes;
use futures::TryStreamExt as _;
use http::HeaderValue;

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, document};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    document::check_store(call)?;
    let documents = &call.gateway.options.documents;
    let hash = call.query_parameter("contentHash")?;
    let found = documents.find(&call.parameters[0], hash.as_deref(), document::now_ms()).await;
    let found = document::told(call, found)?;
    let pieces = document::told(call, documents.read(&found).await)?;
    let pieces: Vec<Bytes> = document::told(call, pieces.try_collect().await)?;
    // What no header can hold is told as bytes of no kind.
    let octets = HeaderValue::from_static("application/octet-stream");
    let content_type = HeaderValue::from_str(&found.metadata.content_type).unwrap_or(octets);
    Ok(Reply::raw(pieces.concat(), content_type))
}
