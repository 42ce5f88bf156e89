//! Inclusive gateway.

use super::check::Check;
use super::choice::{check_conditions, default_flow};
use super::element::Kind;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind::node("inclusiveGateway", ElementType::InclusiveGateway, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    Some((ElementKind::Inclusive { default: default_flow(cx).ok()? }, EventType::Unspecified))
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    if let ElementKind::Inclusive { default } = check.process.element(index).kind {
        check_conditions(check, index, default);
    }
}
