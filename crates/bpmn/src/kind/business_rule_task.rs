//! Business rule task: a job.

use super::Kind;
use crate::context::Context;
use crate::extension::job;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::activity("businessRuleTask", ElementType::BusinessRuleTask, read);

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    Some((ElementKind::Job(job(cx, &["calledDecision"])?), EventType::Unspecified))
}
