//! Embedded sub-process.

use super::Kind;
use crate::context::Context;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind { is_scope: true, ..Kind::activity("subProcess", ElementType::SubProcess, read) };

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let outline = cx.outline;
    let mut starts = cx.draft().children.iter().copied().filter(|&child| {
        outline.elements[child as usize].kind.is_some_and(|kind| kind.element_type == ElementType::StartEvent)
    });
    let (Some(start), None) = (starts.next(), starts.next()) else {
        cx.problem("must have exactly one start event");
        return None;
    };
    Some((ElementKind::SubProcess { start }, EventType::Unspecified))
}
