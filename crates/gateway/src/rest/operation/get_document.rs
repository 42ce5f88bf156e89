//! `GET /v2/documents/{documentId}`: the content.

use bytes::Bytes;
use futures::TryStreamExt as _;

use crate::rest::download::Download;
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
    let download = Download::named(&found.metadata.content_type, &found.metadata.file_name);
    Ok(Reply::file(pieces.concat(), download))
}
