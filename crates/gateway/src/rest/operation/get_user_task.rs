//! `GET /v2/user-tasks/{userTaskKey}`: one that is not done.

use protocol::{Name, Query, QueryReply, UserTaskView};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{
    member, write_integer, write_key, write_names, write_optional_key, write_optional_text, write_text,
    write_time,
};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::UserTask { key: call.key()? }).await?;
    let QueryReply::UserTask(task) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(1024);
    write(&task, &mut out);
    Ok(Reply::json(out))
}

fn write(task: &UserTaskView, out: &mut Vec<u8>) {
    let given = |name: &'_ Name| (!name.is_empty()).then(|| name.clone());
    out.push(b'{');
    member("name", out);
    write_optional_text(task.name.as_ref(), out);
    member("state", out);
    write_text(task.state, out);
    member("assignee", out);
    write_optional_text(given(&task.assignee).as_ref(), out);
    member("elementId", out);
    write_text(&task.element_id, out);
    member("candidateGroups", out);
    write_names(&task.candidate_groups, out);
    member("candidateUsers", out);
    write_names(&task.candidate_users, out);
    member("processDefinitionId", out);
    write_text(&task.process_id, out);
    for (name, time) in [
        ("creationDate", Some(task.created_ms)),
        ("completionDate", None),
        ("followUpDate", task.follow_up_ms),
        ("dueDate", task.due_ms),
    ] {
        member(name, out);
        match time {
            Some(time) => write_time(time, out),
            None => out.extend_from_slice(b"null"),
        }
    }
    member("tenantId", out);
    write_text(&task.tenant_id, out);
    member("externalFormReference", out);
    write_optional_text(given(&task.external_form_reference).as_ref(), out);
    member("processDefinitionVersion", out);
    write_integer(task.version, out);
    member("customHeaders", out);
    out.extend_from_slice(task.custom_headers_json.as_bytes());
    member("priority", out);
    write_integer(task.priority, out);
    member("userTaskKey", out);
    write_key(task.key, out);
    member("elementInstanceKey", out);
    write_key(task.element_instance_key, out);
    member("processName", out);
    write_optional_text(task.process_name.as_ref(), out);
    member("processDefinitionKey", out);
    write_key(task.process_definition_key, out);
    member("processInstanceKey", out);
    write_key(task.process_instance_key, out);
    member("rootProcessInstanceKey", out);
    write_key(task.root_process_instance_key, out);
    member("formKey", out);
    write_optional_key(task.form_key, out);
    member("tags", out);
    write_names(&task.tags, out);
    out.push(b'}');
}
