//! `DELETE /v2/user-tasks/{userTaskKey}/assignee`: gives a task back.

use protocol::{Command, Name, UserTaskCommand, UserTaskOperation};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = UserTaskCommand {
        user_task_key: call.key()?,
        operation: UserTaskOperation::Assign { assignee: Name::default(), allow_override: true },
        action: Name::default(),
        request_id: None,
    };
    call.submit_to_listeners("ASSIGN", Command::UserTask(command)).await
}
