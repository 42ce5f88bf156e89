//! Common rules of gateways that select flows by conditions.

use super::check::Check;
use crate::context::Context;
use crate::graph::{ElementIndex, FlowIndex};
use crate::problem::excerpt;

/// The default flow of a gateway, if it names one; `Err` after a finding, which is reported.
pub(super) fn default_flow(cx: &mut Context<'_, '_>) -> Result<Option<FlowIndex>, ()> {
    let Some(reference) = cx.attribute("default") else { return Ok(None) };
    let found = cx
        .outline
        .flow_by_id
        .get(reference)
        .copied()
        .filter(|&flow| cx.outline.flows[flow as usize].source == cx.index);
    if found.is_none() {
        cx.problem(format!("the default flow '{}' does not leave the gateway", excerpt(reference)));
    }
    found.map(Some).ok_or(())
}

/// With several outgoing flows, each but the default flow needs a condition; the default flow has none.
pub(super) fn check_conditions(check: &mut Check<'_, '_>, index: ElementIndex, default: Option<FlowIndex>) {
    let element = check.process.element(index);
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

/// Whether a flow has a condition in the model, valid or not.
pub(super) fn has_condition(check: &Check<'_, '_>, flow: FlowIndex) -> bool {
    let node = check.outline.flows[flow as usize].node;
    check.document.bpmn_children(node, "conditionExpression").next().is_some()
}
