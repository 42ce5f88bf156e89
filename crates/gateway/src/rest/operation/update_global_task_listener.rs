//! `PUT /v2/global-task-listeners/{id}`

use protocol::{Command, GlobalListenerCommand, Name, Response};

use super::global_task_listener::{listener, write};
use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let listener = listener(call, Name::from(&*call.parameters[0]))?;
    let command = Command::GlobalListener(GlobalListenerCommand::Update(listener));
    let answer = call.submit("UPDATE", command).await?;
    let Response::GlobalListener(listener) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(256);
    write(listener, &mut out);
    Ok(Reply::json(out).timed(answer.timing))
}
