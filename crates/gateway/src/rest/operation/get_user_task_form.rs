//! `GET /v2/user-tasks/{userTaskKey}/form`: the form of a task, or nothing.

use http::StatusCode;
use protocol::{Query, QueryReply};

use super::{Call, form_reply, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::UserTaskForm { key: call.key()? }).await?;
    let QueryReply::UserTaskForm(form) = reply else { return Err(unexpected(&reply)) };
    Ok(form.map_or_else(|| Reply::empty(StatusCode::NO_CONTENT), |form| form_reply(&form)))
}
