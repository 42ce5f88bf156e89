//! `PATCH /v2/user-tasks/{userTaskKey}`: changes attributes of a task.

use protocol::{Command, Name, UserTaskChanges, UserTaskCommand, UserTaskOperation};
use serde::Deserialize;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// Absent and null leave an attribute alone, empty values clear it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Changeset {
    candidate_users: Option<Vec<Name>>,
    candidate_groups: Option<Vec<Name>>,
    due_date: Option<Name>,
    follow_up_date: Option<Name>,
    priority: Option<i32>,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let action = call.fields.name_or_empty("action");
    let changeset: Changeset = serde_json::from_str(call.fields.raw("changeset").unwrap_or("{}"))
        .map_err(|error| Failure::invalid(format!("changeset: {error}")))?;
    let changes = UserTaskChanges {
        candidate_users: changeset.candidate_users,
        candidate_groups: changeset.candidate_groups,
        due_date: changeset.due_date,
        follow_up_date: changeset.follow_up_date,
        priority: changeset.priority,
        assignee: None,
    };
    if action.is_empty() && changes == UserTaskChanges::default() {
        return Err(Failure::invalid("at least one of action, changeset with a change is required"));
    }
    let command = UserTaskCommand {
        user_task_key: call.key()?,
        operation: UserTaskOperation::Update(changes),
        action,
        request_id: None,
    };
    call.submit_to_listeners("UPDATE", Command::UserTask(command)).await
}
