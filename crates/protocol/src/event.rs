//! Commands of events: messages, signals, conditions.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};

use crate::{Document, Key, Name};

/// A business ID for a root process instance that has none.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct BusinessIdClaim {
    #[n(0)]
    pub business_id: Name,
    /// Whether no other root instance of the process may have it. Set by the leader.
    #[cbor(n(1), default)]
    pub is_unique: bool,
}

impl BusinessIdClaim {
    /// A claim as a client makes it; the leader says whether it must be unique.
    pub fn of(business_id: Name) -> Self {
        Self { business_id, is_unique: false }
    }
}

/// See [`crate::Command::PublishMessage`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct PublishMessage {
    #[n(0)]
    pub name: Name,
    /// Correlation key; empty means none.
    #[n(1)]
    pub correlation_key: Name,
    /// How long it is buffered, in milliseconds.
    #[n(2)]
    pub time_to_live_ms: i64,
    /// Unique ID; empty means none.
    #[n(3)]
    pub message_id: Name,
    #[n(4)]
    pub variables: Document,
    #[n(5)]
    pub tenant_id: Name,
    /// Business ID of who gets it, and of an instance that it starts.
    #[n(6)]
    pub business_id: Option<BusinessIdClaim>,
}

/// See [`crate::Command::CorrelateMessage`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CorrelateMessage {
    #[n(0)]
    pub name: Name,
    /// Correlation key; empty means none.
    #[n(1)]
    pub correlation_key: Name,
    #[n(2)]
    pub variables: Document,
    #[n(3)]
    pub tenant_id: Name,
    /// Business ID of who gets it, and of an instance that it starts.
    #[n(4)]
    pub business_id: Option<BusinessIdClaim>,
    /// Number of the request, which waits while the catch event of another partition is asked.
    #[n(5)]
    pub request_id: Option<u64>,
}

/// See [`crate::Command::BroadcastSignal`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct BroadcastSignal {
    #[n(0)]
    pub name: Name,
    #[n(1)]
    pub variables: Document,
    #[n(2)]
    pub tenant_id: Name,
}

/// See [`crate::Command::EvaluateConditionals`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct EvaluateConditionals {
    /// Variables of the conditions and of the new instances.
    #[n(0)]
    pub variables: Document,
    #[n(1)]
    pub tenant_id: Name,
    /// Of this process definition only.
    #[n(2)]
    pub definition_key: Option<Key>,
}
