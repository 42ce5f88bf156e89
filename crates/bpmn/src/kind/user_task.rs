//! User task: native (completed through the API), or a job of a fixed type with the assignment in reserved headers.

use std::sync::Arc;

use super::element::Kind;
use crate::context::Context;
use crate::extension::{
    form_reference, headers, job_without_type, list_items, push_json_string, task_details, user_task,
};
use crate::graph::{ElementKind, ElementType, EventType, FormReference, TaskDetails, Text, WorkerUserTask};
use crate::xml::NodeId;

/// Job type of every such task.
const JOB_TYPE: &str = "io.camunda.zeebe:userTask";
/// Prefix of the reserved headers.
const HEADER_PREFIX: &str = "io.camunda.zeebe:";
/// Such a job cannot be retried by its worker.
const RETRIES: &str = "1";

pub(super) const KIND: Kind = Kind::activity("userTask", ElementType::UserTask, read);

type Headers = Vec<(Arc<str>, Arc<str>)>;

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    if cx.extension("userTask").is_some() {
        let task = user_task(cx)?;
        return Some((ElementKind::UserTask(Box::new(task)), EventType::Unspecified));
    }
    if cx.extension("taskListeners").is_some() {
        cx.problem("zeebe:taskListeners needs zeebe:userTask");
        return None;
    }
    let mut headers = headers(cx);
    let details = task_details(cx);
    let form = match cx.extension("formDefinition") {
        Some(node) => form(cx, node, &mut headers),
        None => Ok(None),
    };
    let details = details.ok().map(|details| without_static(details, &mut headers))?;
    let form = form.ok()?;
    let mut job = job_without_type(JOB_TYPE, RETRIES, headers);
    let TaskDetails { assignee, candidate_users, candidate_groups, due_date, follow_up_date } = &details;
    let texts = [assignee, candidate_users, candidate_groups, due_date, follow_up_date];
    if form.is_some() || texts.into_iter().any(Option::is_some) {
        job.user_task = Some(Box::new(WorkerUserTask { details, form }));
    }
    Some((ElementKind::Job(job), EventType::Unspecified))
}

fn push(headers: &mut Headers, name: &str, value: &str) {
    headers.push((format!("{HEADER_PREFIX}{name}").into(), value.into()));
}

/// Turns static values into headers and leaves the expressions.
fn without_static(mut details: TaskDetails, headers: &mut Headers) -> TaskDetails {
    let parts = [
        ("assignee", &mut details.assignee, false),
        ("candidateGroups", &mut details.candidate_groups, true),
        ("candidateUsers", &mut details.candidate_users, true),
        ("dueDate", &mut details.due_date, false),
        ("followUpDate", &mut details.follow_up_date, false),
    ];
    for (name, part, is_list) in parts {
        let Some(text) = part.take_if(|text| matches!(text, Text::Static(_))) else { continue };
        let Text::Static(text) = text else { continue };
        if is_list {
            push(headers, name, &json_list(&text));
        } else {
            push(headers, name, &text);
        }
    }
    details
}

/// A comma-separated list as a JSON list of strings.
fn json_list(list: &str) -> String {
    let mut json = String::from("[");
    for (index, item) in list_items(list).unwrap_or_default().into_iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        push_json_string(&mut json, item);
    }
    json.push(']');
    json
}

/// The form, if it is deployed on its own; an embedded form is a header. An error is reported.
fn form(cx: &mut Context<'_, '_>, node: NodeId, headers: &mut Headers) -> Result<Option<FormReference>, ()> {
    if cx.document.attribute(node, "externalReference").is_some_and(|reference| !reference.is_empty()) {
        cx.problem("a form with an externalReference needs zeebe:userTask");
        return Err(());
    }
    if cx.document.attribute(node, "formId").is_some_and(|id| !id.trim().is_empty()) {
        return form_reference(cx, node).map(Some).ok_or(());
    }
    let key = cx.document.attribute(node, "formKey").map(str::trim).filter(|key| !key.is_empty());
    let Some(key) = key else {
        cx.problem("zeebe:formDefinition must have a non-empty attribute 'formId' or 'formKey'");
        return Err(());
    };
    push(headers, "formKey", key);
    Ok(None)
}
