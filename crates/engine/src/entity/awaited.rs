//! Rows of what instances and start events wait for: timers, messages, signals, conditions.

use minicbor::{Decode, Encode};
use protocol::{BusinessIdClaim, Document, Key, Name};
use state::minicbor_value;

/// A timer that runs.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Timer {
    /// Element instance that it wakes. A timer start event has none.
    #[n(0)]
    pub element_instance_key: Option<Key>,
    #[n(1)]
    pub process_instance_key: Option<Key>,
    #[n(2)]
    pub definition_key: Key,
    #[n(3)]
    pub element: u32,
    #[n(4)]
    pub due_ms: i64,
    /// Text of the cycle it repeats by.
    #[n(5)]
    pub cycle: Option<Name>,
    /// Repetitions left, this one included; -1 is without end.
    #[n(6)]
    pub repetitions: i64,
    #[n(7)]
    pub tenant_id: Name,
    /// Its place in the queue of due timers, once it is there.
    #[n(8)]
    pub turn: Option<TimerTurn>,
}
minicbor_value!(Timer);

/// A place in the queue of due timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct TimerTurn {
    /// Root process instance, or definition for start events.
    #[n(0)]
    pub owner: Key,
    #[n(1)]
    pub round: u64,
}

/// An owner of queued timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct TimerTurns {
    /// The round of the timer that was queued last.
    #[n(0)]
    pub last_round: u64,
    /// Timers in the queue.
    #[n(1)]
    pub queued: u64,
}
minicbor_value!(TimerTurns);

/// A buffered message.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Message {
    #[n(0)]
    pub name: Name,
    #[n(1)]
    pub correlation_key: Name,
    #[n(2)]
    pub message_id: Name,
    #[n(3)]
    pub time_to_live_ms: i64,
    #[n(4)]
    pub deadline_ms: i64,
    #[n(5)]
    pub variables: Document,
    #[n(6)]
    pub tenant_id: Name,
    #[n(7)]
    pub business_id: Option<BusinessIdClaim>,
    /// Set when its time is over, but catch events of other partitions have not answered.
    #[n(8)]
    pub kept: Option<KeptMessage>,
}
minicbor_value!(Message, weight = |message| 192 + message.variables.json_len());

/// A message whose time is over, until all catch events that were offered it have answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct KeptMessage {
    /// Number of the request that waits for the first of their answers.
    #[n(0)]
    pub request_id: Option<u64>,
}

/// An element instance that waits for a message.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Subscription {
    #[n(0)]
    pub element_instance_key: Key,
    #[n(1)]
    pub process_instance_key: Key,
    #[n(2)]
    pub definition_key: Key,
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub element: u32,
    #[n(5)]
    pub message_name: Name,
    #[n(6)]
    pub correlation_key: Name,
    #[n(7)]
    pub interrupting: bool,
    #[n(8)]
    pub tenant_id: Name,
    /// Business ID of the instance when it was opened.
    #[n(9)]
    pub business_id: Option<Name>,
    /// Number of its last opening on another partition; `None` before the first.
    #[n(10)]
    pub generation: Option<u32>,
}
minicbor_value!(Subscription);

impl Message {
    /// Whether it may come to an instance with this business ID: one with a business ID is only for those with the
    /// same.
    pub fn is_for(&self, business_id: Option<&Name>) -> bool {
        self.business_id.as_ref().is_none_or(|claim| business_id == Some(&claim.business_id))
    }
}

/// A message start event that waits for messages.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StartSubscription {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub definition_key: Key,
    #[n(2)]
    pub element: u32,
}
minicbor_value!(StartSubscription);

/// An element instance that waits for a signal.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct SignalSubscription {
    #[n(0)]
    pub element_instance_key: Key,
    #[n(1)]
    pub process_instance_key: Key,
    #[n(2)]
    pub definition_key: Key,
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub element: u32,
    #[n(5)]
    pub signal_name: Name,
    #[n(6)]
    pub tenant_id: Name,
}
minicbor_value!(SignalSubscription);

/// An element instance that waits for a condition.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ConditionSubscription {
    #[n(0)]
    pub element_instance_key: Key,
    #[n(1)]
    pub process_instance_key: Key,
    #[n(2)]
    pub definition_key: Key,
    #[n(3)]
    pub process_id: Name,
    #[n(4)]
    pub element: u32,
    #[n(5)]
    pub tenant_id: Name,
}
minicbor_value!(ConditionSubscription);
