//! Custom headers of a job.

use std::sync::Arc;

use bpmn::graph::{Element, ElementKind};
use protocol::{JobKind, Name};

use crate::entity::Job;

/// Headers of a job as a JSON object: the task headers of its element, and what was found out when it was created.
pub(super) fn headers(element: &Element, job: &Job) -> Arc<str> {
    with_members(element_headers(element, job), job.more_headers.as_ref())
}

/// Adds members to a JSON object.
pub(super) fn with_members(headers: Arc<str>, more: Option<&Name>) -> Arc<str> {
    let Some(more) = more else { return headers };
    let members = headers.strip_suffix('}').unwrap_or("{");
    let comma = if members.len() > 1 { "," } else { "" };
    Arc::from(format!("{members}{comma}{more}}}"))
}

/// The members of a JSON object, as [`with_members`] takes them.
pub(super) fn members(object: &str) -> Name {
    let members = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    Name::from(members.expect("headers of a listener are an object"))
}

fn element_headers(element: &Element, job: &Job) -> Arc<str> {
    match (&element.kind, job.kind) {
        // The listener has headers of its own, which hold those of the element.
        (_, JobKind::ExecutionListener) if job.more_headers.is_some() => Arc::from("{}"),
        // A migration may have brought it to an element without listeners.
        (_, JobKind::ExecutionListener) if element.listeners.headers_json.is_empty() => Arc::from("{}"),
        (_, JobKind::ExecutionListener) => Arc::clone(&element.listeners.headers_json),
        (ElementKind::Job(definition), _) => Arc::clone(&definition.headers_json),
        (ElementKind::AdHoc(ad_hoc), _) => match &ad_hoc.job {
            Some(definition) => Arc::clone(&definition.headers_json),
            None => Arc::from("{}"),
        },
        (ElementKind::UserTask(definition), _) => Arc::clone(&definition.headers_json),
        _ => Arc::from("{}"),
    }
}
