//! `POST /v2/user-tasks/{userTaskKey}/assignment`: gives a task to somebody.

use protocol::{Command, UserTaskCommand, UserTaskOperation};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let assignee = call.fields.name_or_empty("assignee");
    if assignee.trim().is_empty() {
        return Err(Failure::invalid("assignee: must not be blank"));
    }
    let allow_override = call.fields.raw("allowOverride") != Some("false");
    let command = UserTaskCommand {
        user_task_key: call.key()?,
        operation: UserTaskOperation::Assign { assignee, allow_override },
        action: call.fields.name_or_empty("action"),
        request_id: None,
    };
    let intent = if allow_override { "ASSIGN" } else { "CLAIM" };
    call.submit_to_listeners(intent, Command::UserTask(command)).await
}
