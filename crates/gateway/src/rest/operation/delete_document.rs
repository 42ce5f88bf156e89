//! `DELETE /v2/documents/{documentId}`

use http::StatusCode;

use super::{Call, document};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    document::find(call, store, None).await?;
    let deleted = store.delete(&call.parameters[0], document::now_ms()).await;
    document::told(call, store, deleted)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
