//! One kind of element: how it is read, and how it is checked.

use super::check::Check;
use crate::context::Context;
use crate::graph::{ElementIndex, ElementKind, ElementType, EventType};

/// One kind of element.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) element_type: ElementType,
    /// Whether it contains other elements.
    pub(crate) is_scope: bool,
    /// Whether boundary events may be attached.
    pub(crate) is_activity: bool,
    /// Reads the element; `None` after a finding, which is reported.
    pub(super) read: fn(&mut Context<'_, '_>) -> Option<(ElementKind, EventType)>,
    /// Checks the element in its process.
    pub(super) check: fn(&mut Check<'_, '_>, ElementIndex),
}

type Reader = fn(&mut Context<'_, '_>) -> Option<(ElementKind, EventType)>;

impl Kind {
    pub(super) const fn node(name: &'static str, element_type: ElementType, read: Reader) -> Self {
        Self { name, element_type, is_scope: false, is_activity: false, read, check: |_, _| {} }
    }

    pub(super) const fn activity(name: &'static str, element_type: ElementType, read: Reader) -> Self {
        Self { is_activity: true, ..Self::node(name, element_type, read) }
    }

    pub(super) const fn with_check(self, check: fn(&mut Check<'_, '_>, ElementIndex)) -> Self {
        Self { check, ..self }
    }
}
