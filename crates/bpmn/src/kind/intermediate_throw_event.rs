//! Intermediate throw events; a message is a job or published.

use super::check::Check;
use super::element::Kind;
use crate::context::Context;
use crate::event::{Definition, compensate, definition, link_name, signal, thrown_escalation};
use crate::extension::job_or_publish;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType, Throw};

pub(super) const KIND: Kind =
    Kind::node("intermediateThrowEvent", ElementType::IntermediateThrowEvent, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    match definition(cx).ok()? {
        None => Some((ElementKind::IntermediateThrow, EventType::None)),
        Some(Definition::Compensation(node)) => Some((compensate(cx, node)?, EventType::Compensation)),
        Some(Definition::Message(node)) => Some((job_or_publish(cx, node)?, EventType::Message)),
        Some(Definition::Signal(node)) => {
            Some((ElementKind::Throw(Throw::Signal(signal(cx, node)?)), EventType::Signal))
        }
        Some(Definition::Escalation(node)) => {
            Some((ElementKind::Throw(Throw::Escalation(thrown_escalation(cx, node)?)), EventType::Escalation))
        }
        Some(Definition::Link(node)) => {
            // Its target is resolved when all elements are read.
            let link = Throw::Link { name: link_name(cx, node)?, target: cx.index };
            Some((ElementKind::Throw(link), EventType::Link))
        }
        Some(_) => {
            cx.problem("an intermediate throw event must be one of: none, message, signal, escalation, link, compensation");
            None
        }
    }
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    let element = check.process.element(index);
    if matches!(element.kind, ElementKind::Throw(Throw::Link { .. })) && !element.outgoing.is_empty() {
        check.problem(index, "a link throw event cannot have outgoing sequence flows");
    }
}
