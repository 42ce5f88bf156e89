//! The process itself: assembles the graph, then runs the checks of every kind.

use std::collections::HashSet;
use std::sync::Arc;

use feel::Expression;

use super::check::Check;
use super::choice::has_condition;
use super::element::Kind;
use super::read_process::ReadProcess;
use super::receive_task::starts_process;
use super::{ad_hoc_sub_process, compensation, duplicate, find, link, multi_instance};
use crate::catalogue::{Catalogue, is_true};
use crate::context::Context;
use crate::extension::{Extensions, agent, execution_listeners, job_priority, mappings};
use crate::graph::{
    Element, ElementIndex, ElementKind, ElementType, EventType, Flow, FlowIndex, Listeners, PROCESS, Process,
    StartEvent, Trigger,
};
use crate::limits::Limits;
use crate::outline::{Draft, FlowDraft, Outline};
use crate::parsed::parse_expression;
use crate::problem::Report;
use crate::reach::Reach;
use crate::xml::Document;

/// Reads every element and flow of a process and checks them. Findings go to the report; an element with one becomes
/// a placeholder, so that the others can be checked nevertheless.
pub(crate) fn read_process(
    document: &Document<'_>,
    catalogue: &Catalogue<'_>,
    outline: &Outline<'_>,
    limits: &Limits,
    report: &mut Report,
) -> ReadProcess {
    let mut is_whole = vec![true; outline.elements.len()];
    let mut elements = Vec::with_capacity(outline.elements.len());
    let mut version_tag = None;
    let mut loops = Vec::new();
    for index in 0..outline.elements.len() as ElementIndex {
        let (extensions, findings) = Extensions::read(document, outline.elements[index as usize].node);
        let mut cx = Context { document, catalogue, outline, limits, index, extensions, report };
        // Unsupported elements are already reported.
        if index == PROCESS || cx.draft().kind.is_some() {
            is_whole[index as usize] = findings.is_empty();
            for finding in findings {
                cx.problem(finding);
            }
        }
        let (element, whole) = read_element(&mut cx);
        is_whole[index as usize] &= whole;
        elements.push(element);
        if cx.draft().kind.is_some_and(|kind| kind.is_activity) {
            let (found, whole) = multi_instance::read(&mut cx);
            is_whole[index as usize] &= whole;
            loops.extend(found.map(|found| (index, found)));
        }
        if index == PROCESS {
            version_tag = read_version_tag(&mut cx);
        }
    }
    let flows = read_flows(document, outline, &mut elements, report);
    for index in 0..elements.len() as ElementIndex {
        if let ElementKind::Boundary(boundary) = &elements[index as usize].kind {
            let attached_to = boundary.attached_to as usize;
            elements[attached_to].boundary_events.push(index);
        }
    }
    for index in 0..elements.len() {
        if let ElementKind::EventSubProcess { start } = elements[index].kind {
            let scope = elements[index].scope as usize;
            elements[scope].event_starts.push(start);
            if let ElementKind::StartEvent(event) = &elements[start as usize].kind {
                elements[index].is_for_compensation = matches!(event.trigger, Trigger::Compensation { .. });
            }
        }
    }
    let link_problems = link::resolve(&mut elements);
    let by_id = elements.iter().enumerate().map(|(index, e)| (e.id.clone(), index as ElementIndex)).collect();
    let (id, name) = (elements[0].id.clone(), elements[0].name.clone());
    let reach = Reach::of(&elements, &flows);
    let has_conditions = elements.iter().any(|element| {
        let is_process_start = element.scope == PROCESS && element.element_type == ElementType::StartEvent;
        element.event_type == EventType::Conditional && !is_process_start
    });
    let is_bound_to_deployment = document
        .descendants(outline.elements[0].node)
        .any(|node| document.attribute(node, "bindingType") == Some("deployment"));
    let mut process = Process {
        id,
        name,
        version_tag,
        is_bound_to_deployment,
        has_conditions,
        elements,
        flows,
        by_id,
        reach,
    };
    let mut check = Check { document, outline, process: &process, report };
    for (index, problem) in link_problems {
        check.problem(index, problem);
    }
    check_starts(&mut check);
    for (index, draft) in outline.elements.iter().enumerate() {
        if let Some(kind) = found(document, draft) {
            (kind.check)(&mut check, index as ElementIndex);
        }
    }
    check_conditions(&mut check);
    compensation::check_handlers(&mut check);
    ad_hoc_sub_process::complete(document, outline, &mut process);
    is_whole.resize(process.elements.len(), true);
    ReadProcess { node: outline.elements[0].node, process, is_whole, loops }
}

/// The kind that reads an element; `None` for the process and for unsupported elements.
fn found(document: &Document<'_>, draft: &Draft) -> Option<&'static Kind> {
    draft.kind.and_then(|_| find(document, draft.node).ok())
}

fn read_element(cx: &mut Context<'_, '_>) -> (Element, bool) {
    let draft = cx.draft();
    let text = |name: &str| cx.attribute(name).map(Arc::from);
    let (id, name) =
        (text("id").unwrap_or_default(), text("name").filter(|name: &Arc<str>| !name.is_empty()));
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    let (element_type, read) = match found(cx.document, draft) {
        None if cx.index == PROCESS => {
            (ElementType::Process, Some((ElementKind::Process, EventType::Unspecified)))
        }
        // Not supported: further rules do not apply.
        None => (ElementType::Task, None),
        Some(kind) => {
            (inputs, outputs) = mappings(cx);
            (kind.element_type, (kind.read)(cx))
        }
    };
    let supported = draft.kind.is_some() || cx.index == PROCESS;
    let (listeners, listeners_whole) = if supported {
        execution_listeners(cx, element_type, read.as_ref())
    } else {
        (Listeners::default(), true)
    };
    let (job_priority, priority_whole) = if supported { job_priority(cx) } else { (None, true) };
    let (agent, agent_whole) = if supported { agent(cx, element_type) } else { (None, true) };
    let whole = read.is_some() && listeners_whole && priority_whole && agent_whole;
    let (kind, event_type) = read.unwrap_or((ElementKind::PassThrough, EventType::Unspecified));
    let element = Element {
        id,
        name,
        scope: draft.scope,
        kind,
        element_type,
        event_type,
        incoming: Vec::new(),
        outgoing: Vec::new(),
        children: draft.children.clone(),
        boundary_events: Vec::new(),
        event_starts: Vec::new(),
        is_for_compensation: is_for_compensation(cx),
        inputs,
        outputs,
        listeners,
        job_priority: job_priority.map(Box::new),
        agent,
    };
    (element, whole)
}

fn is_for_compensation(cx: &Context<'_, '_>) -> bool {
    let is_activity = cx.draft().kind.is_some_and(|kind| kind.is_activity);
    is_activity && cx.attribute("isForCompensation").is_some_and(is_true)
}

fn read_version_tag(cx: &mut Context<'_, '_>) -> Option<Arc<str>> {
    let node = cx.extension("versionTag")?;
    let value = cx.required(node, "value")?;
    Some(Arc::from(value.trim()))
}

/// Reads the flows and attaches them to their elements.
fn read_flows(
    document: &Document<'_>,
    outline: &Outline<'_>,
    elements: &mut [Element],
    report: &mut Report,
) -> Vec<Flow> {
    let mut flows = Vec::with_capacity(outline.flows.len());
    for (index, draft) in outline.flows.iter().enumerate() {
        let index = index as FlowIndex;
        elements[draft.target as usize].incoming.push(index);
        elements[draft.source as usize].outgoing.push(index);
        flows.push(Flow {
            id: document.attribute(draft.node, "id").unwrap_or_default().into(),
            source: draft.source,
            target: draft.target,
            condition: read_condition(document, draft, report),
        });
    }
    for element in elements {
        // The later of two flows is tried and taken first.
        element.outgoing.reverse();
    }
    flows
}

fn read_condition(document: &Document<'_>, flow: &FlowDraft, report: &mut Report) -> Option<Expression> {
    const PLACE: &str = "conditionExpression";
    let mut conditions = document.bpmn_children(flow.node, PLACE);
    let condition = conditions.next()?;
    let mut problem = |reason: String| report.add(document, flow.node, reason);
    if conditions.next().is_some() {
        problem(format!("must have at most one {PLACE}"));
    }
    parse_expression(document.text(condition), PLACE).map_err(problem).ok()
}

/// Whether an element selects outgoing flows by their conditions.
fn chooses(element_type: ElementType) -> bool {
    matches!(element_type, ElementType::ExclusiveGateway | ElementType::InclusiveGateway)
}

/// Conditions apply only to flows that leave a gateway with a choice.
fn check_conditions(check: &mut Check<'_, '_>) {
    for flow in 0..check.outline.flows.len() as FlowIndex {
        let source = check.outline.flows[flow as usize].source;
        let kind = check.outline.elements[source as usize].kind;
        if kind.is_some_and(|kind| !chooses(kind.element_type)) && has_condition(check, flow) {
            check.flow_problem(
                flow,
                "only a flow that leaves an exclusive or inclusive gateway can have a condition",
            );
        }
    }
}

/// A process has a start event, at most one none start event, and no two for the same message.
fn check_starts(check: &mut Check<'_, '_>) {
    let mut starts = 0;
    let mut none_starts = 0;
    let children = &check.process.element(PROCESS).children;
    for &child in children {
        let element = check.process.element(child);
        let is_start = element.element_type == ElementType::StartEvent || starts_process(check, child);
        starts += usize::from(is_start);
        none_starts += usize::from(matches!(
            element.kind,
            ElementKind::StartEvent(StartEvent { trigger: Trigger::None, .. })
        ));
    }
    let mut reported = HashSet::new();
    let events: Vec<_> = children
        .iter()
        .copied()
        .filter(|&child| matches!(check.process.element(child).kind, ElementKind::StartEvent(_)))
        .collect();
    for duplicate in duplicate::find(check.process, &events) {
        if reported.insert(duplicate.trigger.clone()) {
            check.problem(PROCESS, format!("two start events wait for {}", duplicate.trigger));
        }
    }
    if starts == 0 {
        check.problem(PROCESS, "must have at least one start event");
    }
    if none_starts > 1 {
        check.problem(PROCESS, "must have at most one none start event");
    }
}
