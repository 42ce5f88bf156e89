//! `DELETE /v2/documents/{documentId}`

use http::StatusCode;

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, document};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    document::check_store(call)?;
    let deleted = call.gateway.options.documents.delete(&call.parameters[0], document::now_ms()).await;
    document::told(call, deleted)?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
