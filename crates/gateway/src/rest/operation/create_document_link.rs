//! `POST /v2/documents/{documentId}/links`: a store in a directory or in memory has no addresses of its own to hand out,
//! so this tells whether the document is there, and why there is no link.

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, document};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    document::check_store(call)?;
    let documents = &call.gateway.options.documents;
    let hash = call.query_parameter("contentHash")?;
    let found = documents.find(&call.parameters[0], hash.as_deref(), document::now_ms()).await;
    found.map_err(document::failure)?;
    Err(Failure::invalid(format!("the document store '{}' does not support links", documents.store_id())))
}
