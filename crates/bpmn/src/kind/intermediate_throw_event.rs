//! Intermediate throw events: none, compensation, and message as a job.

use super::Kind;
use crate::context::Context;
use crate::event::{Definition, compensate, definition};
use crate::extension::job;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::node("intermediateThrowEvent", ElementType::IntermediateThrowEvent, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    match definition(cx).ok()? {
        None => Some((ElementKind::IntermediateThrow, EventType::None)),
        Some(Definition::Compensation(node)) => Some((compensate(cx, node)?, EventType::Compensation)),
        Some(Definition::Message(_)) => {
            Some((ElementKind::Job(job(cx, &["publishMessage"])?), EventType::Message))
        }
        Some(Definition::Timer(_) | Definition::Error(_) | Definition::Terminate | Definition::Cancel) => {
            cx.problem("an intermediate throw event must be one of: none, message, compensation");
            None
        }
    }
}
