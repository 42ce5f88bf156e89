//! Complex gateway: forks like an inclusive gateway; its join completes as soon as its activation condition holds.

use super::check::Check;
use super::choice::{check_conditions, default_flow};
use super::element::Kind;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

/// The API has no type for it; the inclusive gateway is the nearest one.
pub(super) const KIND: Kind =
    Kind::node("complexGateway", ElementType::InclusiveGateway, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    const PLACE: &str = "activationCondition";
    let default = default_flow(cx);
    let document = cx.document;
    let mut conditions = document.bpmn_children(cx.node(), PLACE);
    let found = conditions.next();
    if conditions.next().is_some() {
        cx.problem(format!("must have at most one {PLACE}"));
        return None;
    }
    let activation = match found.map(|node| document.text(node)) {
        None | Some("") => None,
        Some(text) => Some(cx.expression(text, PLACE)?),
    };
    Some((ElementKind::Complex { default: default.ok()?, activation }, EventType::Unspecified))
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let element = check.process.element(index);
    let ElementKind::Complex { default, activation } = &element.kind else { return };
    if activation.is_none() && element.incoming.len() > 1 {
        check.problem(index, "a complex gateway that joins flows must have an activationCondition");
    }
    check_conditions(check, index, *default);
}
