//! Conditional event definitions.

use crate::context::Context;
use crate::graph::ConditionDefinition;
use crate::problem::excerpt;
use crate::xml::NodeId;

/// The condition of an event definition and the changes of variables that cause its evaluation.
pub(super) fn condition(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<ConditionDefinition> {
    const PLACE: &str = "condition";
    let document = cx.document;
    let mut conditions = document.bpmn_children(definition, PLACE);
    let (Some(node), None) = (conditions.next(), conditions.next()) else {
        cx.problem("a conditional event definition must have exactly one condition");
        return None;
    };
    let text = document.text(node);
    if text.is_empty() {
        cx.problem("the condition must not be empty");
        return None;
    }
    let expression = cx.expression(text, PLACE);
    let (on_create, on_update) = filter(cx, definition)?;
    Some(ConditionDefinition { expression: expression?, on_create, on_update })
}

/// `zeebe:conditionalFilter`; without one, all changes count.
fn filter(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<(bool, bool)> {
    let document = cx.document;
    let mut filters = document
        .bpmn_children(definition, "extensionElements")
        .flat_map(|container| document.zeebe_children(container, "conditionalFilter"));
    let Some(filter) = filters.next() else { return Some((true, true)) };
    if filters.next().is_some() {
        cx.problem("must have at most one zeebe:conditionalFilter");
        return None;
    }
    let Some(events) = document.attribute(filter, "variableEvents").filter(|text| !text.trim().is_empty())
    else {
        return Some((true, true));
    };
    let (mut on_create, mut on_update) = (false, false);
    for event in events.split(',') {
        match event.trim() {
            "create" => on_create = true,
            "update" => on_update = true,
            other => {
                cx.problem(format!(
                    "attribute 'variableEvents' of zeebe:conditionalFilter must list create, update or both, but has '{}'",
                    excerpt(other)
                ));
                return None;
            }
        }
    }
    Some((on_create, on_update))
}
