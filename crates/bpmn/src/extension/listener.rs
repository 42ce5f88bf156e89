//! `zeebe:executionListeners`: jobs before and after the work of an element.

use std::collections::HashSet;
use std::sync::Arc;

use super::headers::{headers_in, with_own};
use super::job::retries;
use super::{headers, headers_json};
use crate::context::Context;
use crate::graph::{ElementKind, ElementType, EventType, Listener, Listeners};
use crate::problem::excerpt;
use crate::xml::NodeId;

/// Most listeners of one element; each is a job that a token waits for.
const MAX_LISTENERS: usize = 1000;

/// Event types of execution listeners.
const EVENTS: &[&str] = &["start", "end", BEFORE_ALL, CANCEL];
const BEFORE_ALL: &str = "beforeAll";
const CANCEL: &str = "cancel";

/// The execution listeners of an element and whether all of them are well-formed. `read` is the kind of the element.
pub(crate) fn execution_listeners(
    cx: &mut Context<'_, '_>,
    element_type: ElementType,
    read: Option<&(ElementKind, EventType)>,
) -> (Listeners, bool) {
    let mut listeners = Listeners::default();
    let Some(container) = cx.extension("executionListeners") else { return (listeners, true) };
    let mut is_whole = true;
    let mut seen = HashSet::new();
    let event_type = read.map_or(EventType::Unspecified, |(_, event_type)| *event_type);
    for (count, node) in cx.document.zeebe_children(container, "executionListener").enumerate() {
        if count == MAX_LISTENERS {
            cx.problem(format!("must not have more than {MAX_LISTENERS} execution listeners"));
            return (listeners, false);
        }
        let Some((event, mut listener)) = read_listener(cx, node, EVENTS) else {
            is_whole = false;
            continue;
        };
        if let Some(container) = cx.document.zeebe_children(node, "taskHeaders").next() {
            let own = headers_in(cx, container);
            listener.headers_json = Some(headers_json(&with_own(cx, own)));
        }
        if let Some(reason) = misplaced(element_type, event_type, event) {
            cx.problem(reason);
            is_whole = false;
        }
        if event == BEFORE_ALL && !has_list(cx) {
            cx.problem(
                "only a multi-instance activity can have execution listeners of event type 'beforeAll'",
            );
            is_whole = false;
        }
        if event == CANCEL && element_type != ElementType::Process {
            cx.problem("only a process can have execution listeners of event type 'cancel'");
            is_whole = false;
        }
        is_whole &= is_first(cx, &mut seen, node, event);
        let of_event = match event {
            "start" => &mut listeners.start,
            BEFORE_ALL => &mut listeners.before_all,
            CANCEL => &mut listeners.cancel,
            _ => &mut listeners.end,
        };
        of_event.push(listener);
    }
    listeners.headers_json = match read {
        Some((ElementKind::Job(definition), _)) => Arc::clone(&definition.headers_json),
        Some((ElementKind::UserTask(definition), _)) => Arc::clone(&definition.headers_json),
        _ => headers_json(&headers(cx)),
    };
    (listeners, is_whole)
}

/// Whether the element is a multi-instance activity.
fn has_list(cx: &Context<'_, '_>) -> bool {
    cx.document.bpmn_children(cx.node(), "multiInstanceLoopCharacteristics").next().is_some()
}

/// One listener with the name of its event, which is one of `events`.
pub(super) fn read_listener(
    cx: &mut Context<'_, '_>,
    node: NodeId,
    events: &[&'static str],
) -> Option<(&'static str, Listener)> {
    let part = cx.name_of(node);
    if cx.document.zeebe_children(node, "header").next().is_some() {
        cx.problem(format!("{part}: headers must be inside a zeebe:taskHeaders"));
        return None;
    }
    let event = cx.required(node, "eventType").and_then(|found| {
        let event = events.iter().find(|event| **event == found.trim()).copied();
        if event.is_none() {
            let known = events.join(", ");
            cx.problem(format!(
                "attribute 'eventType' of {part} must be one of {known}, but is '{}'",
                excerpt(found)
            ));
        }
        event
    });
    let job_type = cx
        .required(node, "type")
        .and_then(|value| cx.text(value.trim(), &format!("attribute 'type' of {part}")));
    let retries = retries(cx, node);
    Some((event?, Listener { job_type: job_type?, retries: retries?, headers_json: None }))
}

/// Whether the combination of event and type is new; a duplicate is reported.
fn is_first<'a>(
    cx: &mut Context<'a, '_>,
    seen: &mut HashSet<(&'static str, &'a str)>,
    node: NodeId,
    event: &'static str,
) -> bool {
    let job_type = cx.document.attribute(node, "type").unwrap_or_default().trim();
    let is_first = seen.insert((event, job_type));
    if !is_first {
        let part = cx.name_of(node);
        cx.problem(format!(
            "must have at most one {part} with the event type '{event}' and the type '{}'",
            excerpt(job_type)
        ));
    }
    is_first
}

/// The reason why an element cannot have a listener of this event.
fn misplaced(element_type: ElementType, event_type: EventType, event: &str) -> Option<&'static str> {
    use ElementType as E;
    match (element_type, event) {
        (E::BoundaryEvent, _) if event_type.as_str() == "COMPENSATION" => {
            Some("a compensation boundary event cannot have execution listeners")
        }
        (E::StartEvent, "start") => {
            Some("a start event cannot have execution listeners of event type 'start'")
        }
        (E::BoundaryEvent, "start") => {
            Some("a boundary event cannot have execution listeners of event type 'start'")
        }
        (E::EndEvent, "end") if event_type == EventType::Error => {
            Some("an error end event cannot have execution listeners of event type 'end'")
        }
        (E::ExclusiveGateway | E::InclusiveGateway | E::ParallelGateway | E::EventBasedGateway, "end") => {
            Some("a gateway cannot have execution listeners of event type 'end'")
        }
        _ => None,
    }
}
