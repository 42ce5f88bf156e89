//! Parallel gateway.

use super::element::Kind;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind = Kind::node("parallelGateway", ElementType::ParallelGateway, |_| {
    Some((ElementKind::Parallel, EventType::Unspecified))
});
