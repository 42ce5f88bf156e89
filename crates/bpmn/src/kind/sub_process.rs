//! Embedded sub-process and transaction.

use super::element::Kind;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind { is_scope: true, ..Kind::activity("subProcess", ElementType::SubProcess, read) };

/// A sub-process that can be cancelled: its completed activities are compensated then.
pub(super) const TRANSACTION: Kind =
    Kind { is_scope: true, ..Kind::activity("transaction", ElementType::SubProcess, read) };

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let start = only_start(cx)?;
    Some((ElementKind::SubProcess { start }, EventType::Unspecified))
}

/// The start event of a sub-process, which must have exactly one.
pub(super) fn only_start(cx: &mut Context<'_, '_>) -> Option<ElementIndex> {
    let outline = cx.outline;
    let mut starts = cx.draft().children.iter().copied().filter(|&child| {
        outline.elements[child as usize].kind.is_some_and(|kind| kind.element_type == ElementType::StartEvent)
    });
    let (Some(start), None) = (starts.next(), starts.next()) else {
        cx.problem("must have exactly one start event");
        return None;
    };
    Some(start)
}
