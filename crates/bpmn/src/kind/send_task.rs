//! Send task: a job, or a message that is published.

use super::element::Kind;
use crate::context::Context;
use crate::extension::job_or_publish;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::activity("sendTask", ElementType::SendTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    Some((job_or_publish(cx, cx.node())?, EventType::Unspecified))
}
