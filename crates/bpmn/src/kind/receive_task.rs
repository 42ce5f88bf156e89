//! Receive task: waits for a message.

use super::Kind;
use crate::catalogue::is_true;
use crate::context::Context;
use crate::event::{KeyNeed, message};
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::activity("receiveTask", ElementType::ReceiveTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    if cx.attribute("instantiate").is_some_and(is_true) {
        cx.problem("a receive task that starts a process is not supported, use a message start event");
        return None;
    }
    let message = message(cx, cx.node(), KeyNeed::Required)?;
    Some((ElementKind::Receive(message), EventType::Unspecified))
}
