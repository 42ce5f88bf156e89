//! `GET /v2/forms/{formKey}`: one version of a form.

use protocol::{Query, QueryReply};

use super::{Call, form_reply, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::Form { key: call.key()? }).await?;
    let QueryReply::Form(form) = reply else { return Err(unexpected(&reply)) };
    Ok(form_reply(&form))
}
