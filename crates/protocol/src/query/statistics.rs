//! Counts of what runs, and message subscriptions, of which more counts are made.

#![expect(missing_docs, reason = "names say what is held")]

use crate::{Key, Name};

/// A process definition with what runs of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningDefinitionView {
    pub key: Key,
    pub process_id: Name,
    /// Name of the process.
    pub name: Option<Name>,
    pub version: u32,
    pub tenant_id: Name,
    /// Process instances that run.
    pub running: u64,
    /// Those of them that have an incident, or called an instance that has one.
    pub with_incidents: u64,
}

/// An error that incidents tell of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorView {
    pub message: Name,
    /// Process instances with such an incident.
    pub instances: u64,
}

/// A process definition whose instances have incidents of one error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingDefinitionView {
    pub key: Key,
    pub process_id: Name,
    /// Name of the process.
    pub name: Option<Name>,
    pub version: u32,
    pub tenant_id: Name,
    /// Process instances with such an incident.
    pub instances: u64,
}

/// An element instance that waits for a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionView {
    /// Key of the subscription.
    pub key: Key,
    /// ID of the catch event.
    pub element_id: Name,
    /// The element instance that waits.
    pub element_instance_key: Key,
    pub process_instance_key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    pub message_name: Name,
    pub correlation_key: Name,
    pub tenant_id: Name,
}

/// The number that clients tell errors apart by: 31 times what was, plus the next UTF-16 unit, in 32 bits.
pub fn error_hash(message: &str) -> i32 {
    message.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_numbers_that_clients_know() {
        assert_eq!(error_hash(""), 0);
        assert_eq!(error_hash("hello"), 99_162_322);
        // Wraps around, and counts a surrogate pair as two.
        assert_eq!(error_hash("polygenelubricants"), i32::MIN);
        assert_eq!(error_hash("\u{1F600}"), 0xD83D * 31 + 0xDE00);
    }
}
