//! `POST /v2/global-task-listeners`

use http::StatusCode;
use protocol::{Command, GlobalListenerCommand, Response};

use super::global_task_listener::{listener, write};
use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let listener = listener(call, call.fields.name_or_empty("id"))?;
    let command = Command::GlobalListener(GlobalListenerCommand::Create(listener));
    let answer = call.submit("CREATE", command).await?;
    let Response::GlobalListener(listener) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(256);
    write(listener, &mut out);
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(out).timed(answer.timing) })
}
