//! What the operations that count have in common.

use protocol::Name;

use crate::rest::writer::{member, write_integer, write_key, write_optional_text, write_text};

/// Definitions with running instances, and message subscriptions, that one request looks at. `hasMoreTotalItems` says
/// that there are more, and then the counts are of those that were looked at.
pub(super) const ROWS_MAX: usize = 10_000;
/// The same of incidents.
pub(super) const INCIDENTS_MAX: usize = 100_000;

/// A text member.
pub(super) fn text(name: &'static str, text: &str, out: &mut Vec<u8>) {
    member(name, out);
    write_text(text, out);
}

/// A member that may be `null`.
pub(super) fn optional_text(name: &'static str, text: Option<&Name>, out: &mut Vec<u8>) {
    member(name, out);
    write_optional_text(text, out);
}

/// A key.
pub(super) fn key(name: &'static str, key: protocol::Key, out: &mut Vec<u8>) {
    member(name, out);
    write_key(key, out);
}

/// A number.
pub(super) fn count(name: &'static str, count: impl itoa::Integer, out: &mut Vec<u8>) {
    member(name, out);
    write_integer(count, out);
}
