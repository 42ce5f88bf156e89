//! Manual and undefined tasks: nothing happens.

use super::element::Kind;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const MANUAL: Kind = Kind::activity("manualTask", ElementType::ManualTask, |_| {
    Some((ElementKind::PassThrough, EventType::Unspecified))
});

pub(super) const UNDEFINED: Kind =
    Kind::activity("task", ElementType::Task, |_| Some((ElementKind::PassThrough, EventType::Unspecified)));
