//! `GET /v2/user-tasks/{userTaskKey}`: one that is not done.

use protocol::{Query, QueryReply, UserTaskView};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, given, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::UserTask { key: call.key()? }).await?;
    let QueryReply::UserTask(task) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(1024);
    write(&task, &mut out);
    Ok(Reply::json(out))
}

fn write(task: &UserTaskView, out: &mut Vec<u8>) {
    object(out)
        .with("name", &task.name)
        .with("state", task.state)
        .with("assignee", given(&task.assignee))
        .with("elementId", &task.element_id)
        .with("candidateGroups", &task.candidate_groups)
        .with("candidateUsers", &task.candidate_users)
        .with("processDefinitionId", &task.process_id)
        .with("creationDate", Moment(task.created_ms))
        .with("completionDate", ())
        .with("followUpDate", task.follow_up_ms.map(Moment))
        .with("dueDate", task.due_ms.map(Moment))
        .with("tenantId", &task.tenant_id)
        .with("externalFormReference", given(&task.external_form_reference))
        .with("processDefinitionVersion", task.version)
        .raw("customHeaders", &task.custom_headers_json)
        .with("priority", task.priority)
        .with("userTaskKey", Digits(task.key))
        .with("elementInstanceKey", Digits(task.element_instance_key))
        .with("processName", &task.process_name)
        .with("processDefinitionKey", Digits(task.process_definition_key))
        .with("processInstanceKey", Digits(task.process_instance_key))
        .with("rootProcessInstanceKey", Digits(task.root_process_instance_key))
        .with("formKey", task.form_key.map(Digits))
        .with("tags", &task.tags)
        .with("businessId", task.business_id.as_ref())
        .end();
}
