//! Intermediate catch events.

use super::element::Kind;
use crate::context::Context;
use crate::event::{Definition, Place, link_name, required_definition, trigger};
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::node("intermediateCatchEvent", ElementType::IntermediateCatchEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    match required_definition(cx)? {
        Definition::Link(node) => {
            Some((ElementKind::LinkCatch { name: link_name(cx, node)? }, EventType::Link))
        }
        definition => {
            let (trigger, event_type) = trigger(cx, definition, Place::Catch)?;
            Some((ElementKind::IntermediateCatch(trigger), event_type))
        }
    }
}
