//! `zeebe:taskDefinition`: the job that an element waits for.

use std::sync::Arc;

use super::{binding, headers, headers_json};
use crate::context::Context;
use crate::graph::{JobDefinition, LinkedResource, Text};
use crate::problem::excerpt;
use crate::xml::NodeId;

/// Default of the retries of a job.
const DEFAULT_RETRIES: &str = "3";

/// The job of an element that must have a task definition. Alternatives to it are read elsewhere; the finding about
/// none or both of them names them.
pub(crate) fn job(cx: &mut Context<'_, '_>, alternatives: &[&str]) -> Option<JobDefinition> {
    let names: Vec<&str> = std::iter::once("taskDefinition").chain(alternatives.iter().copied()).collect();
    cx.exactly_one_of(&names)?;
    let task_definition = cx.extension("taskDefinition")?;
    read(cx, task_definition)
}

fn read(cx: &mut Context<'_, '_>, task_definition: NodeId) -> Option<JobDefinition> {
    let job_type = cx
        .required(task_definition, "type")
        .and_then(|value| cx.text(value, "attribute 'type' of zeebe:taskDefinition"));
    let retries = retries(cx, task_definition);
    let headers = headers(cx);
    let linked_resources = linked_resources(cx);
    Some(JobDefinition {
        job_type: job_type?,
        retries: retries?,
        headers_json: headers_json(&headers),
        headers,
        linked_resources: linked_resources?,
        user_task: None,
    })
}

/// The linked resources of the job; `None` after a finding.
fn linked_resources(cx: &mut Context<'_, '_>) -> Option<Vec<LinkedResource>> {
    let Some(container) = cx.extension("linkedResources") else { return Some(Vec::new()) };
    let document = cx.document;
    let mut resources = Vec::new();
    let mut is_whole = true;
    for node in document.zeebe_children(container, "linkedResource") {
        let id = cx
            .required(node, "resourceId")
            .and_then(|id| cx.text(id.trim(), "attribute 'resourceId' of zeebe:linkedResource"));
        let resource_type = cx.required(node, "resourceType").map(Arc::from);
        let binding = binding(cx, node);
        match (id, resource_type, binding) {
            (Some(id), Some(resource_type), Some(binding)) => resources.push(LinkedResource {
                id,
                binding,
                resource_type,
                link_name: document.attribute(node, "linkName").unwrap_or_default().into(),
            }),
            _ => is_whole = false,
        }
    }
    is_whole.then_some(resources)
}

/// The job of an element whose type the engine fixes.
pub(crate) fn job_without_type(
    job_type: &str,
    retries: &str,
    headers: Vec<(Arc<str>, Arc<str>)>,
) -> JobDefinition {
    JobDefinition {
        job_type: Text::Static(Arc::from(job_type)),
        retries: Text::Static(Arc::from(retries)),
        headers_json: headers_json(&headers),
        headers,
        linked_resources: Vec::new(),
        user_task: None,
    }
}

/// Attribute `retries` of a part of an element.
pub(super) fn retries(cx: &mut Context<'_, '_>, part: NodeId) -> Option<Text> {
    let Some(value) = cx.document.attribute(part, "retries") else {
        return Some(Text::Static(Arc::from(DEFAULT_RETRIES)));
    };
    let place = format!("attribute 'retries' of {}", cx.name_of(part));
    let text = cx.text(value.trim(), &place)?;
    if let Text::Static(number) = &text
        && number.parse::<i32>().is_err()
    {
        cx.problem(format!("{place} must be a whole number or an expression, but is '{}'", excerpt(number)));
        return None;
    }
    Some(text)
}

/// The priority of the jobs of an element, and whether it could be read.
pub(crate) fn job_priority(cx: &mut Context<'_, '_>) -> (Option<Text>, bool) {
    let Some(node) = cx.extension("jobPriorityDefinition") else { return (None, true) };
    let place = "attribute 'priority' of zeebe:jobPriorityDefinition";
    let Some(text) = cx.required(node, "priority").and_then(|value| cx.text(value.trim(), place)) else {
        return (None, false);
    };
    if let Text::Static(number) = &text
        && number.parse::<i32>().is_err()
    {
        cx.problem(format!("{place} must be a whole number of 32 bits, but is '{}'", excerpt(number)));
        return (None, false);
    }
    (Some(text), true)
}
