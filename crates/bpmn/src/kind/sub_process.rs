//! Embedded sub-process and transaction.

use super::Kind;
use crate::context::Context;
use crate::graph::{ElementKind, ElementType, EventType};

pub(super) const KIND: Kind =
    Kind { is_scope: true, ..Kind::activity("subProcess", ElementType::SubProcess, read) };

/// A sub-process that can be cancelled: its completed activities are compensated then.
pub(super) const TRANSACTION: Kind =
    Kind { is_scope: true, ..Kind::activity("transaction", ElementType::SubProcess, read) };

fn read(cx: &mut Context<'_, '_>) -> Option<(ElementKind, EventType)> {
    let start = super::only_start(cx)?;
    Some((ElementKind::SubProcess { start }, EventType::Unspecified))
}
