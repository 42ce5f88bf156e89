//! Numbers of built-in functions.

/// The place of a built-in function in the table of all. A syntax tree and a function value hold it, and know nothing
/// of the function behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuiltinId(pub(super) usize);
