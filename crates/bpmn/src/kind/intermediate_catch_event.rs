//! Intermediate catch events: message and timer.

use super::Kind;
use crate::context::Context;
use crate::event::{Definition, KeyNeed, TimerUse, message, required_definition, timer};
use crate::graph::{ElementKind, ElementType, EventType, Trigger};

pub(super) const KIND: Kind = Kind::node("intermediateCatchEvent", ElementType::IntermediateCatchEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let (trigger, event_type) = match required_definition(cx)? {
        Definition::Message(node) => {
            (Trigger::Message(message(cx, node, KeyNeed::Required)?), EventType::Message)
        }
        Definition::Timer(node) => (Trigger::Timer(timer(cx, node, TimerUse::Catch)?), EventType::Timer),
        Definition::Error(_) | Definition::Terminate | Definition::Compensation(_) | Definition::Cancel => {
            cx.problem("an intermediate catch event must be one of: message, timer");
            return None;
        }
    };
    Some((ElementKind::IntermediateCatch(trigger), event_type))
}
