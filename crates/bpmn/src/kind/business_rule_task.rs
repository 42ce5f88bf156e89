//! Business rule task: a decision that the engine evaluates itself, or a job.

use std::sync::Arc;

use super::element::Kind;
use crate::context::Context;
use crate::extension::{binding, job};
use crate::graph::{CalledDecision, ElementKind, ElementType, EventType};
use crate::xml::NodeId;

pub(super) const KIND: Kind = Kind::activity("businessRuleTask", ElementType::BusinessRuleTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let kind = match (cx.extension("calledDecision"), cx.extension("taskDefinition")) {
        (Some(node), None) => ElementKind::Decision(called_decision(cx, node)?),
        _ => ElementKind::Job(job(cx, &["calledDecision"])?),
    };
    Some((kind, EventType::Unspecified))
}

fn called_decision(cx: &mut Context<'_, '_>, node: NodeId) -> Option<CalledDecision> {
    let id = cx
        .required(node, "decisionId")
        .and_then(|id| cx.text(id, "attribute 'decisionId' of zeebe:calledDecision"));
    let result_variable = cx.required(node, "resultVariable").and_then(|name| {
        cx.path(name, "attribute 'resultVariable' of zeebe:calledDecision").map(|_| Arc::from(name))
    });
    let binding = binding(cx, node);
    Some(CalledDecision { id: id?, binding: binding?, result_variable: result_variable? })
}
