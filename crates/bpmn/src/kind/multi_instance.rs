//! The loop markers of an activity: how they are read, and how their activity becomes two elements.

#![expect(clippy::option_option, reason = "an optional part may be absent or invalid")]

use std::sync::Arc;

use super::read_process::ReadProcess;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::graph::{
    Element, ElementIndex, ElementKind, ElementType, EventType, Listeners, MultiInstance, OutputCollection,
    Process, StandardLoop,
};
use crate::problem::excerpt;
use crate::xml::NodeId;

const MARKER: &str = "multiInstanceLoopCharacteristics";
const LOOP_MARKER: &str = "standardLoopCharacteristics";

/// The marker of an activity, if it has one; false after a finding, which is reported.
pub(super) fn read(cx: &mut Context<'_, '_>) -> (Option<ElementKind>, bool) {
    let document = cx.document;
    let node = cx.node();
    let mut markers = document.bpmn_children(node, MARKER).chain(document.bpmn_children(node, LOOP_MARKER));
    let Some(marker) = markers.next() else { return (None, true) };
    if markers.next().is_some() {
        cx.problem(format!("must have at most one {MARKER} or {LOOP_MARKER}"));
        return (None, false);
    }
    let found = match document.node(marker).name {
        LOOP_MARKER => read_loop(cx, marker).map(ElementKind::Loop),
        _ => read_marker(cx, marker).map(ElementKind::MultiInstance),
    };
    let whole = found.is_some();
    (found, whole)
}

fn read_loop(cx: &mut Context<'_, '_>, marker: NodeId) -> Option<StandardLoop> {
    let document = cx.document;
    let condition = condition(cx, marker, "loopCondition");
    let maximum = match document.attribute(marker, "loopMaximum") {
        None => Some(None),
        Some(text) => match text.trim().parse::<u32>() {
            Ok(number) if number > 0 => Some(Some(number)),
            _ => {
                let text = excerpt(text);
                cx.problem(format!("loopMaximum must be a whole number above 0, but is '{text}'"));
                None
            }
        },
    };
    if matches!((&condition, &maximum), (Some(None), Some(None))) {
        cx.problem(format!("{LOOP_MARKER} must have a loopCondition or a loopMaximum"));
        return None;
    }
    Some(StandardLoop {
        // Set when the process is complete.
        inner: 0,
        test_before: document.attribute(marker, "testBefore").is_some_and(is_true),
        maximum: maximum?,
        condition: condition?,
    })
}

fn read_marker(cx: &mut Context<'_, '_>, marker: NodeId) -> Option<MultiInstance> {
    let document = cx.document;
    let mut characteristics = document
        .bpmn_children(marker, "extensionElements")
        .flat_map(|container| document.zeebe_children(container, "loopCharacteristics"));
    let (first, second) = (characteristics.next(), characteristics.next());
    let completion_condition = completion_condition(cx, marker);
    let (Some(node), None) = (first, second) else {
        cx.problem(format!("{MARKER} must have exactly one zeebe:loopCharacteristics"));
        return None;
    };
    let input_collection = cx
        .required(node, "inputCollection")
        .and_then(|value| cx.expression(value, "attribute 'inputCollection' of zeebe:loopCharacteristics"));
    let input_element = variable(cx, node, "inputElement");
    let output = output(cx, node);
    Some(MultiInstance {
        // Set when the process is complete.
        inner: 0,
        is_sequential: document.attribute(marker, "isSequential").is_some_and(is_true),
        input_collection: input_collection?,
        input_element: input_element?,
        output: output?,
        completion_condition: completion_condition?,
    })
}

/// The condition below a node, if it has one; the outer `None` after a finding.
pub(super) fn completion_condition(
    cx: &mut Context<'_, '_>,
    node: NodeId,
) -> Option<Option<feel::Expression>> {
    condition(cx, node, "completionCondition")
}

fn condition(cx: &mut Context<'_, '_>, node: NodeId, place: &str) -> Option<Option<feel::Expression>> {
    let document = cx.document;
    let mut conditions = document.bpmn_children(node, place);
    let Some(condition) = conditions.next() else { return Some(None) };
    if conditions.next().is_some() {
        cx.problem(format!("must have at most one {place}"));
        return None;
    }
    match document.text(condition) {
        "" => Some(None),
        text => cx.expression(text, place).map(Some),
    }
}

/// An attribute that names a variable; absent or empty is none.
fn variable(cx: &mut Context<'_, '_>, node: NodeId, attribute: &str) -> Option<Option<Arc<str>>> {
    let Some(name) = cx.document.attribute(node, attribute).filter(|name| !name.trim().is_empty()) else {
        return Some(None);
    };
    let place = format!("attribute '{attribute}' of {}", cx.name_of(node));
    if let [name] = cx.path(name, &place)?.as_slice() {
        return Some(Some(name.clone()));
    }
    cx.problem(format!("{place} must be one variable name, but is '{}'", excerpt(name)));
    None
}

/// `outputCollection` and `outputElement` of an extension element: both or none.
pub(super) fn output(cx: &mut Context<'_, '_>, node: NodeId) -> Option<Option<OutputCollection>> {
    let given = |name: &str| cx.document.attribute(node, name).filter(|value| !value.trim().is_empty());
    let (collection, element) = (given("outputCollection"), given("outputElement"));
    let part = cx.name_of(node);
    if collection.is_some() != element.is_some() {
        cx.problem(format!(
            "{part} must have both attributes 'outputCollection' and 'outputElement', or none of them"
        ));
        return None;
    }
    let element = match element {
        None => return Some(None),
        Some(value) => cx.expression(value, &format!("attribute 'outputElement' of {part}")),
    };
    let variable = variable(cx, node, "outputCollection")?;
    Some(Some(OutputCollection { variable: variable?, element: element? }))
}

/// Makes two elements of each multi-instance activity. The new elements come last, so that no index changes.
pub(crate) fn wrap(read: ReadProcess) -> Process {
    let mut process = read.process;
    for (index, mut kind) in read.loops {
        if let ElementKind::MultiInstance(MultiInstance { inner, .. })
        | ElementKind::Loop(StandardLoop { inner, .. }) = &mut kind
        {
            *inner = process.elements.len() as ElementIndex;
        }
        wrap_one(&mut process, index, kind);
    }
    process.reach.find_scopes(&process.elements);
    process
}

/// The element at an index becomes the body; the original element becomes its only child.
fn wrap_one(process: &mut Process, index: ElementIndex, kind: ElementKind) {
    let inner_index = process.elements.len() as ElementIndex;
    let body = &mut process.elements[index as usize];
    let of_body = Listeners {
        start: std::mem::take(&mut body.listeners.before_all),
        headers_json: Arc::clone(&body.listeners.headers_json),
        ..Listeners::default()
    };
    let inner = Element {
        id: body.id.clone(),
        name: body.name.clone(),
        scope: index,
        kind: std::mem::replace(&mut body.kind, kind),
        element_type: std::mem::replace(&mut body.element_type, ElementType::MultiInstanceBody),
        event_type: std::mem::replace(&mut body.event_type, EventType::Unspecified),
        incoming: Vec::new(),
        outgoing: Vec::new(),
        children: std::mem::replace(&mut body.children, vec![inner_index]),
        boundary_events: Vec::new(),
        event_starts: std::mem::take(&mut body.event_starts),
        is_for_compensation: false,
        inputs: std::mem::take(&mut body.inputs),
        outputs: std::mem::take(&mut body.outputs),
        listeners: std::mem::replace(&mut body.listeners, of_body),
        job_priority: std::mem::take(&mut body.job_priority),
        agent: body.agent.take(),
    };
    for &child in &inner.children {
        process.elements[child as usize].scope = inner_index;
    }
    process.elements.push(inner);
}
