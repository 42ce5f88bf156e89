//! Ad-hoc sub-process: elements that run in any order, as a job worker or a list of IDs decides.

use std::sync::Arc;

use feel::AiParameter;

use super::check::Check;
use super::element::Kind;
use super::multi_instance::{completion_condition, output};
use crate::catalogue::is_true;
use crate::context::Context;
use crate::extension::{job, push_json_string};
use crate::graph::{
    AdHoc, Element, ElementIndex, ElementKind, ElementType, EventType, Mapping, Process, Text,
};
use crate::outline::{Outline, Shape};
use crate::xml::{Document, NodeId};

pub(super) const KIND: Kind = Kind {
    is_scope: true,
    ..Kind::activity("adHocSubProcess", ElementType::AdHocSubProcess, read).with_check(check)
};

/// Suffix of the ID of the scope between an ad-hoc sub-process and its elements.
const INNER_SUFFIX: &str = "#innerInstance";

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let document = cx.document;
    let has = |wanted: fn(Shape) -> bool| {
        let mut kinds = cx.draft().children.iter().map(|&child| cx.outline.elements[child as usize].kind);
        kinds.any(|kind| kind.is_some_and(wanted))
    };
    let mut findings = Vec::new();
    if !has(|kind| kind.is_activity) {
        findings.push("must have at least one activity");
    }
    if has(|kind| kind.element_type == ElementType::StartEvent) {
        findings.push("must not have a start event");
    }
    if has(|kind| kind.element_type == ElementType::EndEvent) {
        findings.push("must not have an end event");
    }
    let whole = findings.is_empty();
    for finding in findings {
        cx.problem(finding);
    }
    let completion_condition = completion_condition(cx, cx.node());
    let (mut active_elements, mut collected) = (Some(None), Some(None));
    if let Some(node) = cx.extension("adHoc") {
        let value =
            document.attribute(node, "activeElementsCollection").filter(|value| !value.trim().is_empty());
        if let Some(value) = value {
            let place = "attribute 'activeElementsCollection' of zeebe:adHoc";
            active_elements = cx.expression(value, place).map(Some);
        }
        collected = output(cx, node);
    }
    let job = match cx.extension("taskDefinition") {
        Some(_) => Some(job(cx, &[])?),
        None => None,
    };
    let kind = AdHoc {
        // The next are set when the process is complete.
        inner: 0,
        activities: Vec::new(),
        elements_json: Arc::from("[]"),
        active_elements: active_elements?,
        completion_condition: completion_condition?,
        cancel_remaining: cx.attribute("cancelRemainingInstances").is_none_or(is_true),
        output: collected?,
        job,
    };
    whole.then(|| (ElementKind::AdHoc(Box::new(kind)), EventType::Unspecified))
}

/// Elements that may be activated: all without incoming flows, except compensation handlers.
fn activities<'a>(
    elements: &'a [Element],
    outline: &'a Outline<'_>,
    index: ElementIndex,
) -> impl Iterator<Item = ElementIndex> + 'a {
    elements[index as usize].children.iter().copied().filter(move |&child| {
        let element = &elements[child as usize];
        let kind = outline.elements[child as usize].kind;
        element.incoming.is_empty()
            && !element.is_for_compensation
            && kind.is_some_and(|kind| kind.element_type != ElementType::BoundaryEvent)
            && !is_apart(element)
    })
}

/// Whether an element belongs to the ad-hoc sub-process itself and not to the scope of an activation.
fn is_apart(element: &Element) -> bool {
    element.element_type == ElementType::EventSubProcess
}

/// Constant arguments of `fromAi` are known at the deployment, so they are checked here.
fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let activities: Vec<_> = activities(&check.process.elements, check.outline, index).collect();
    for child in activities {
        for mapping in &check.process.element(child).inputs {
            if let Some(Text::Expression(expression)) = &mapping.source
                && let Err(reason) = expression.ai_parameters()
            {
                check.problem(child, format!("attribute 'source' of zeebe:input: {reason}"));
            }
        }
    }
}

/// Puts a scope between each ad-hoc sub-process and its elements. The new scopes come last, so that no index changes.
pub(super) fn complete(document: &Document<'_>, outline: &Outline<'_>, process: &mut Process) {
    for index in 0..outline.elements.len() as ElementIndex {
        if !matches!(process.element(index).kind, ElementKind::AdHoc(_)) {
            continue;
        }
        let activities: Vec<ElementIndex> = activities(&process.elements, outline, index).collect();
        let elements_json = elements_json(document, outline, process, &activities);
        let inner_index = process.elements.len() as ElementIndex;
        let element = &mut process.elements[index as usize];
        if let ElementKind::AdHoc(ad_hoc) = &mut element.kind {
            ad_hoc.inner = inner_index;
            ad_hoc.activities = activities;
            ad_hoc.elements_json = elements_json;
        }
        let children = std::mem::take(&mut element.children);
        let inner = Element {
            id: Arc::from(format!("{}{INNER_SUFFIX}", element.id)),
            name: None,
            scope: index,
            kind: ElementKind::AdHocInner,
            element_type: ElementType::AdHocSubProcessInnerInstance,
            event_type: EventType::Unspecified,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            children: Vec::new(),
            boundary_events: Vec::new(),
            event_starts: Vec::new(),
            is_for_compensation: false,
            inputs: Vec::new(),
            outputs: Vec::new(),
            listeners: crate::graph::Listeners::default(),
            job_priority: None,
            agent: None,
        };
        let (apart, inside): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|&child| is_apart(process.element(child)));
        for &child in &inside {
            process.elements[child as usize].scope = inner_index;
        }
        process.elements[index as usize].children = std::iter::once(inner_index).chain(apart).collect();
        process.by_id.insert(inner.id.clone(), inner_index);
        process.elements.push(Element { children: inside, ..inner });
    }
}

/// Metadata of the elements, for the job worker that decides which of them to activate: the members that are given.
fn elements_json(
    document: &Document<'_>,
    outline: &Outline<'_>,
    process: &Process,
    activities: &[ElementIndex],
) -> Arc<str> {
    let mut json = String::from("[");
    for &index in activities {
        let element = process.element(index);
        let node = outline.elements[index as usize].node;
        if json.len() > 1 {
            json.push(',');
        }
        let mut members = Members { json: &mut json, is_first: true };
        members.add("elementId", |json| push_json_string(json, &element.id));
        members.add("elementName", |json| push_optional(json, element.name.as_deref()));
        let text = document.bpmn_children(node, "documentation").next().map(|node| document.text(node));
        members.add("documentation", |json| push_optional(json, text.filter(|text| !text.is_empty())));
        members.add("properties", |json| push_properties(json, document, node));
        members.add("parameters", |json| push_parameters(json, &element.inputs));
        members.end();
    }
    json.push(']');
    Arc::from(json)
}

/// An object as it is written: members that are `null` or empty are left out.
struct Members<'a> {
    json: &'a mut String,
    is_first: bool,
}

impl Members<'_> {
    fn add(&mut self, name: &str, write: impl FnOnce(&mut String)) {
        let start = self.json.len();
        self.json.push(if self.is_first { '{' } else { ',' });
        push_json_string(self.json, name);
        self.json.push(':');
        let value = self.json.len();
        write(self.json);
        if matches!(&self.json[value..], "null" | "[]" | "{}") {
            self.json.truncate(start);
        } else {
            self.is_first = false;
        }
    }

    fn end(self) {
        assert!(!self.is_first, "an object here has a name, which is given");
        self.json.push('}');
    }
}

fn push_parameters(json: &mut String, inputs: &[Mapping]) {
    let expressions = inputs.iter().filter_map(|mapping| match &mapping.source {
        Some(Text::Expression(expression)) => Some(expression),
        _ => None,
    });
    json.push('[');
    let parameters = expressions.flat_map(|expression| expression.ai_parameters().unwrap_or_default());
    for (at, parameter) in parameters.enumerate() {
        if at > 0 {
            json.push(',');
        }
        push_parameter(json, &parameter);
    }
    json.push(']');
}

fn push_optional(json: &mut String, text: Option<&str>) {
    match text {
        Some(text) => push_json_string(json, text),
        None => json.push_str("null"),
    }
}

fn push_properties(json: &mut String, document: &Document<'_>, node: NodeId) {
    json.push('{');
    let containers = document
        .bpmn_children(node, "extensionElements")
        .flat_map(|container| document.zeebe_children(container, "properties"));
    let mut names = std::collections::HashSet::new();
    for property in containers.flat_map(|container| document.zeebe_children(container, "property")) {
        let Some(name) = document.attribute(property, "name").filter(|name| names.insert(*name)) else {
            continue;
        };
        if names.len() > 1 {
            json.push(',');
        }
        push_json_string(json, name);
        json.push(':');
        push_optional(json, document.attribute(property, "value"));
    }
    json.push('}');
}

fn push_parameter(json: &mut String, parameter: &AiParameter) {
    let mut members = Members { json, is_first: true };
    members.add("name", |json| push_json_string(json, &parameter.name));
    for (name, value) in [
        ("description", &parameter.description),
        ("type", &parameter.type_name),
        ("schema", &parameter.schema),
        ("options", &parameter.options),
    ] {
        members.add(name, |json| json.push_str(&value.to_json_string()));
    }
    members.end();
}
