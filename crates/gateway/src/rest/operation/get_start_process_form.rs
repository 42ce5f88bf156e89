//! `GET /v2/process-definitions/{processDefinitionKey}/form`: the form of the start event, or nothing.

use http::StatusCode;
use protocol::{Query, QueryReply};

use super::{Call, form_reply, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::StartForm { process_definition_key: call.key()? }).await?;
    let QueryReply::StartForm(form) = reply else { return Err(unexpected(&reply)) };
    Ok(form.map_or_else(|| Reply::empty(StatusCode::NO_CONTENT), |form| form_reply(&form)))
}
