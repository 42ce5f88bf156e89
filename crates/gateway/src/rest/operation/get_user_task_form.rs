//! `GET /v2/user-tasks/{userTaskKey}/form`: the form of a task, done or not, or nothing.

use http::StatusCode;
use protocol::{FileView, Key, Query, QueryReply};
use search::Operand;
use search::model::user_task as task;

use super::{Call, form_reply, query, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let form = match call.read(Query::UserTaskForm { key }).await {
        Ok(QueryReply::UserTaskForm(form)) => form,
        Ok(reply) => return Err(unexpected(&reply)),
        // It may be done.
        Err(missing) if missing.status() == StatusCode::NOT_FOUND && call.storage().is_ok() => {
            of_stored(call, key, missing).await?
        }
        Err(failure) => return Err(failure),
    };
    Ok(form.map_or_else(|| Reply::empty(StatusCode::NO_CONTENT), |form| form_reply(&form)))
}

/// The form of a task that secondary storage has; none if the form was deleted.
async fn of_stored(call: &Call<'_>, key: Key, missing: Failure) -> Result<Option<FileView>, Failure> {
    let id = Operand::Integer(key.cast_signed());
    let row = query::visible_row(call, &task::ENTITY, id, 1 << task::FORM_KEY, missing).await?;
    let Some(form_key) = row[task::FORM_KEY as usize].integer() else { return Ok(None) };
    // The permission to read the task is enough.
    match call.read_unseen(Query::Form { key: form_key.cast_unsigned() }).await {
        Ok(QueryReply::Form(form)) => Ok(Some(form)),
        Ok(reply) => Err(unexpected(&reply)),
        Err(failure) if failure.status() == StatusCode::NOT_FOUND => Ok(None),
        Err(failure) => Err(failure),
    }
}
