//! Start events: none, message and timer for a process, none for a sub-process.

use super::Kind;
use crate::context::Context;
use crate::event::{Definition, KeyNeed, TimerUse, definition, message, timer};
use crate::graph::{ElementKind, ElementType, EventType, PROCESS, StartEvent, Trigger};

pub(super) const KIND: Kind = Kind::node("startEvent", ElementType::StartEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let definition = definition(cx).ok()?;
    if definition.is_some() && cx.draft().scope != PROCESS {
        cx.problem("the start event of an embedded sub-process must be a none start event");
        return None;
    }
    let (trigger, event_type) = match definition {
        None => (Trigger::None, EventType::None),
        Some(Definition::Message(node)) => {
            (Trigger::Message(message(cx, node, KeyNeed::Optional)?), EventType::Message)
        }
        Some(Definition::Timer(node)) => {
            (Trigger::Timer(timer(cx, node, TimerUse::ProcessStart)?), EventType::Timer)
        }
        Some(Definition::Error(_) | Definition::Terminate) => {
            cx.problem("a start event must be one of: none, message, timer");
            return None;
        }
    };
    Some((ElementKind::StartEvent(StartEvent { trigger }), event_type))
}
