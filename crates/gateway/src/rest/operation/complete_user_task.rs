//! `POST /v2/user-tasks/{userTaskKey}/completion`

use protocol::{Command, UserTaskCommand, UserTaskOperation};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = UserTaskCommand {
        user_task_key: call.key()?,
        operation: UserTaskOperation::Complete { variables: call.document("variables")? },
        action: call.fields.name_or_empty("action"),
        request_id: None,
    };
    call.submit_to_listeners("COMPLETE", Command::UserTask(command)).await
}
