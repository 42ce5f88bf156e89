//! End events; a message is a job or published.

use super::check::Check;
use super::compensation::check_cancel;
use super::element::Kind;
use crate::context::Context;
use crate::event::{Definition, compensate, definition, signal, thrown_code, thrown_escalation};
use crate::extension::job_or_publish;
use crate::graph::{ElementIndex, ElementKind, ElementType, End, EventType, Throw};

pub(super) const KIND: Kind = Kind::node("endEvent", ElementType::EndEvent, read).with_check(check);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let end = |end| Some(ElementKind::EndEvent(end));
    match definition(cx).ok()? {
        None => Some((end(End::None)?, EventType::None)),
        Some(Definition::Error(node)) => Some((end(End::Error(thrown_code(cx, node)?))?, EventType::Error)),
        Some(Definition::Terminate) => Some((end(End::Terminate)?, EventType::Terminate)),
        Some(Definition::Compensation(node)) => Some((compensate(cx, node)?, EventType::Compensation)),
        Some(Definition::Cancel) => Some((end(End::Cancel)?, EventType::Cancel)),
        Some(Definition::Message(node)) => Some((job_or_publish(cx, node)?, EventType::Message)),
        Some(Definition::Signal(node)) => {
            Some((ElementKind::Throw(Throw::Signal(signal(cx, node)?)), EventType::Signal))
        }
        Some(Definition::Escalation(node)) => {
            Some((ElementKind::Throw(Throw::Escalation(thrown_escalation(cx, node)?)), EventType::Escalation))
        }
        Some(_) => {
            cx.problem("an end event must be one of: none, message, error, escalation, signal, terminate, compensation, cancel");
            None
        }
    }
}

fn check(check: &mut Check<'_, '_>, index: ElementIndex) {
    if !check.process.element(index).outgoing.is_empty() {
        check.problem(index, "an end event cannot have outgoing sequence flows");
    }
    check_cancel(check, index);
}
