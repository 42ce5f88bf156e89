//! Script task: an inline FEEL expression, or a job.

use std::sync::Arc;

use super::element::Kind;
use crate::context::Context;
use crate::extension::job;
use crate::graph::{ElementKind, ElementType, EventType};
use crate::xml::NodeId;

pub(super) const KIND: Kind = Kind::activity("scriptTask", ElementType::ScriptTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let kind = match (cx.extension("script"), cx.extension("taskDefinition")) {
        (Some(node), None) => script(cx, node)?,
        _ => ElementKind::Job(job(cx, &["script"])?),
    };
    Some((kind, EventType::Unspecified))
}

fn script(cx: &mut Context<'_, '_>, node: NodeId) -> Option<ElementKind> {
    let expression = cx
        .required(node, "expression")
        .and_then(|value| cx.expression(value, "attribute 'expression' of zeebe:script"));
    let result_variable = cx.required(node, "resultVariable").and_then(|name| {
        cx.path(name, "attribute 'resultVariable' of zeebe:script").map(|_| Arc::from(name))
    });
    Some(ElementKind::Script { expression: expression?, result_variable: result_variable? })
}
