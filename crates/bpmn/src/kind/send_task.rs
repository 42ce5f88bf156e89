//! Send task: a job.

use super::Kind;
use crate::context::Context;
use crate::extension::job;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::activity("sendTask", ElementType::SendTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    Some((ElementKind::Job(job(cx, &["publishMessage"])?), EventType::Unspecified))
}
