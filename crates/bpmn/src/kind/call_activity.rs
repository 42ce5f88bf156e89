//! Call activity: runs another process.

use super::element::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::extension::binding;
use crate::graph::{Call, ElementKind, ElementType, EventType, Text};
use crate::xml::NodeId;

pub(super) const KIND: Kind = Kind::activity("callActivity", ElementType::CallActivity, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let node = cx.exactly_one_of(&["calledElement"])?;
    let process_id = process_id(cx, node);
    let binding = binding(cx, node);
    if cx.document.attribute(node, "businessId").is_some() {
        cx.problem("attribute 'businessId' of zeebe:calledElement is not supported yet");
        return None;
    }
    let flag = |name: &str| cx.document.attribute(node, name).is_none_or(is_true);
    let call = Call {
        process_id: process_id?,
        binding: binding?,
        propagate_all_child_variables: flag("propagateAllChildVariables"),
        propagate_all_parent_variables: flag("propagateAllParentVariables"),
    };
    Some((ElementKind::Call(call), EventType::Unspecified))
}

/// The process ID, or in old models an expression in an attribute of its own.
fn process_id(cx: &mut Context<'_, '_>, node: NodeId) -> Option<Text> {
    const LEGACY: &str = "processIdExpression";
    match (cx.document.attribute(node, "processId"), cx.document.attribute(node, LEGACY)) {
        (None, Some(expression)) if !expression.trim().is_empty() => {
            let expression = format!("={}", expression.trim().trim_start_matches('='));
            cx.expression(&expression, "attribute 'processIdExpression' of zeebe:calledElement")
                .map(Text::Expression)
        }
        _ => {
            let value = cx.required(node, "processId")?;
            cx.text(value, "attribute 'processId' of zeebe:calledElement")
        }
    }
}
