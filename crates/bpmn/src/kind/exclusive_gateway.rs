//! Exclusive gateway.

use super::process::has_condition;
use super::{Check, Kind};
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType, FlowIndex};
use crate::problem::excerpt;

pub(super) const KIND: Kind =
    Kind::node("exclusiveGateway", ElementType::ExclusiveGateway, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let default = match cx.attribute("default") {
        None => None,
        Some(reference) => Some(default_flow(cx, reference)?),
    };
    Some((ElementKind::Exclusive { default }, EventType::Unspecified))
}

fn default_flow(cx: &mut Context<'_, '_>, reference: &str) -> Option<FlowIndex> {
    let found = cx
        .outline
        .flow_by_id
        .get(reference)
        .copied()
        .filter(|&flow| cx.outline.flows[flow as usize].source == cx.index);
    if found.is_none() {
        cx.problem(format!("the default flow '{}' does not leave the gateway", excerpt(reference)));
    }
    found
}

/// With several ways out, each but the default needs a condition; the default has none.
fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let element = check.process.element(index);
    let ElementKind::Exclusive { default } = element.kind else { return };
    for &flow in element.outgoing.iter().rev() {
        let has_condition = has_condition(check, flow);
        if default == Some(flow) {
            if has_condition {
                check.flow_problem(flow, "a default flow cannot have a condition");
            }
        } else if !has_condition && element.outgoing.len() > 1 {
            check.flow_problem(flow, "must have a condition or be the default flow of the gateway");
        }
    }
}
