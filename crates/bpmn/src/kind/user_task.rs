//! User task done by a job worker: a job of a fixed type that tells who should do it in reserved headers.

use std::sync::Arc;

use super::Kind;
use crate::context::Context;
use crate::extension::{form_reference, headers, job_without_type, push_json_string, user_task};
use crate::graph::{ElementKind, ElementType, EventType, FormReference};
use crate::problem::excerpt;
use crate::timer::parse_date;
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
    let mut is_whole = true;
    if let Some(node) = cx.extension("assignmentDefinition") {
        is_whole &= assignment(cx, node, &mut headers);
    }
    if let Some(node) = cx.extension("taskSchedule") {
        is_whole &= schedule(cx, node, &mut headers);
    }
    let mut deployed_form = None;
    if let Some(node) = cx.extension("formDefinition") {
        match form(cx, node, &mut headers) {
            Ok(found) => deployed_form = found,
            Err(()) => is_whole = false,
        }
    }
    let mut job = job_without_type(JOB_TYPE, RETRIES, headers);
    job.form = deployed_form;
    is_whole.then_some((ElementKind::Job(job), EventType::Unspecified))
}

fn push(headers: &mut Headers, name: &str, value: &str) {
    headers.push((format!("{HEADER_PREFIX}{name}").into(), value.into()));
}

/// An attribute that is not blank and static; `Err` if it is an expression, which is reported.
fn static_attribute<'a>(cx: &mut Context<'a, '_>, node: NodeId, name: &str) -> Result<Option<&'a str>, ()> {
    match cx.document.attribute(node, name).map(str::trim).filter(|value| !value.is_empty()) {
        Some(value) if value.starts_with('=') => {
            let part = cx.name_of(node);
            cx.problem(format!("an expression in attribute '{name}' of {part} is not supported yet"));
            Err(())
        }
        value => Ok(value),
    }
}

fn assignment(cx: &mut Context<'_, '_>, node: NodeId, headers: &mut Headers) -> bool {
    let mut is_whole = true;
    match static_attribute(cx, node, "assignee") {
        Ok(Some(assignee)) => push(headers, "assignee", assignee),
        Ok(None) => {}
        Err(()) => is_whole = false,
    }
    for name in ["candidateGroups", "candidateUsers"] {
        match static_attribute(cx, node, name) {
            Ok(None) => {}
            Err(()) => is_whole = false,
            Ok(Some(list)) if let Some(json) = json_list(list) => push(headers, name, &json),
            Ok(Some(list)) => {
                cx.problem(format!(
                    "attribute '{name}' of zeebe:assignmentDefinition must be a list such as 'a, b', but is '{}'",
                    excerpt(list)
                ));
                is_whole = false;
            }
        }
    }
    is_whole
}

/// A comma-separated list as a JSON list of strings; `None` if an item is blank.
fn json_list(list: &str) -> Option<String> {
    let mut json = String::from("[");
    for (index, item) in list.split(',').map(str::trim).enumerate() {
        if item.is_empty() {
            return None;
        }
        if index > 0 {
            json.push(',');
        }
        push_json_string(&mut json, item);
    }
    json.push(']');
    Some(json)
}

fn schedule(cx: &mut Context<'_, '_>, node: NodeId, headers: &mut Headers) -> bool {
    let mut is_whole = true;
    for name in ["dueDate", "followUpDate"] {
        match static_attribute(cx, node, name) {
            Ok(None) => {}
            Err(()) => is_whole = false,
            Ok(Some(date)) => match parse_date(date) {
                Ok(_) => push(headers, name, date),
                Err(error) => {
                    cx.problem(format!("attribute '{name}' of zeebe:taskSchedule: {error}"));
                    is_whole = false;
                }
            },
        }
    }
    is_whole
}

/// The form, if it is deployed on its own; an embedded one is a header. An error is reported.
fn form(cx: &mut Context<'_, '_>, node: NodeId, headers: &mut Headers) -> Result<Option<FormReference>, ()> {
    if cx.document.attribute(node, "externalReference").is_some_and(|reference| !reference.is_empty()) {
        cx.problem("a form with an externalReference needs zeebe:userTask");
        return Err(());
    }
    if cx.document.attribute(node, "formId").is_some_and(|id| !id.trim().is_empty()) {
        return form_reference(cx, node).map(Some).ok_or(());
    }
    let Some(key) = static_attribute(cx, node, "formKey")? else {
        cx.problem("zeebe:formDefinition must have a non-empty attribute 'formId' or 'formKey'");
        return Err(());
    };
    push(headers, "formKey", key);
    Ok(None)
}
