//! Service task: a job.

use super::element::Kind;
use crate::context::Context;
use crate::extension::job;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::activity("serviceTask", ElementType::ServiceTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    Some((ElementKind::Job(job(cx, &[])?), EventType::Unspecified))
}
