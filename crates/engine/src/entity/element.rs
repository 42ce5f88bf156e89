//! Rows of process instances and of their elements.

#![expect(missing_docs, reason = "fields are named by what they hold")]

use minicbor::{Decode, Encode};
use protocol::{AwaitResult, Document, Key, Name};
use state::minicbor_value;

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Instance {
    #[n(0)]
    pub definition_key: Key,
    #[n(1)]
    pub process_id: Name,
    #[n(2)]
    pub version: u32,
    #[n(3)]
    pub tenant_id: Name,
    /// The instance at the top of the call hierarchy; itself, if nobody called it.
    #[n(4)]
    pub root_key: Key,
    /// The call activity that waits for it.
    #[n(5)]
    pub parent: Option<Parent>,
    #[n(6)]
    pub tags: Vec<Name>,
    #[n(7)]
    pub business_id: Option<Name>,
    #[n(8)]
    pub await_result: Option<AwaitResult>,
    /// Correlation key of the message that started it: no second instance starts by the same key meanwhile.
    #[n(9)]
    pub started_by_key: Option<Name>,
    #[n(10)]
    pub depth: u32,
    /// When it was created, Unix milliseconds of the engine's clock.
    #[n(11)]
    pub created_ms: i64,
    /// IDs of elements; when one of them has ended, the instance is terminated.
    #[cbor(n(12), default)]
    pub terminate_after: Vec<Name>,
    /// Set when it ends although the engine failed on it: its elements do nothing any more.
    #[cbor(n(13), default)]
    pub is_erased: bool,
}
minicbor_value!(Instance, weight = |instance| 256 + 32 * instance.tags.len());

/// The caller of a process instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Parent {
    #[n(0)]
    pub process_instance_key: Key,
    #[n(1)]
    pub element_instance_key: Key,
}

/// Phase in the life of an element instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Phase {
    #[n(0)]
    Activating,
    #[n(1)]
    Activated,
    #[n(2)]
    Completing,
    #[n(3)]
    Terminating,
}

/// An element of a process instance that lives. The process itself is one, under the key of the instance.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ElementInstance {
    #[n(0)]
    pub element: u32,
    #[n(1)]
    pub phase: Phase,
    /// Key of the instance of the scope; 0 for the process itself.
    #[n(2)]
    pub scope_key: Key,
    #[n(3)]
    pub process_instance_key: Key,
    /// Element instances inside it that live or are about to.
    #[n(4)]
    pub active_children: u32,
    /// Tokens inside it that wait at a join.
    #[n(5)]
    pub waiting_tokens: u32,
    #[n(6)]
    pub job_key: Option<Key>,
    /// The process instance that it called.
    #[n(7)]
    pub called_instance_key: Option<Key>,
    /// The event that ended it, to go on with afterwards.
    #[n(8)]
    pub pending_event: Option<PendingEvent>,
    /// Whether events are subscribed to on its behalf.
    #[n(9)]
    pub subscribed: bool,
    /// Whether it has variables of its own.
    #[n(10)]
    pub has_variables: bool,
    /// Set on a scope whose children are being terminated while it goes on itself.
    #[n(11)]
    pub interrupted: bool,
    /// Progress of its execution listeners.
    #[n(12)]
    pub listening: Option<Box<Listening>>,
    /// Whether a token inside it waits at a join for what can still come.
    #[n(13)]
    pub join_check: JoinCheck,
    /// Number of an instance inside a multi-instance body, from 1; 0 for all others.
    #[n(14)]
    pub loop_counter: u32,
    /// The event that interrupted this scope: its event sub-process starts once nothing else is left inside.
    #[n(15)]
    pub interrupting_event: Option<PendingEvent>,
    /// Set on what is taken away from outside: a scope that is empty then terminates instead of completing.
    #[cbor(n(16), default)]
    pub withdrawn: bool,
    /// When it was activated, Unix milliseconds of the engine's clock.
    #[cbor(n(17), default)]
    pub started_ms: i64,
    /// Whether something inside it has completed and can be compensated.
    #[n(18)]
    pub compensable: bool,
    /// Progress of the cancellation of a transaction.
    #[n(19)]
    pub cancelling: Cancelling,
    #[n(21)]
    pub user_task_key: Option<Key>,
    /// Whether its children are kept by element, too.
    #[cbor(n(22), default)]
    pub lists_children: bool,
    /// Whether it has had large variables, which count for its instance.
    #[cbor(n(23), default)]
    pub has_large_variables: bool,
    /// The agent that works for it.
    #[n(24)]
    pub agent_instance_key: Option<Key>,
}
minicbor_value!(
    ElementInstance,
    weight = |row| {
        size_of::<ElementInstance>()
            + row.pending_event.as_ref().map_or(0, |event| event.variables.json_len())
            + row.listening.as_ref().map_or(0, |listening| listening.weight())
            + row.interrupting_event.as_ref().map_or(0, |event| event.variables.json_len())
    }
);

impl ElementInstance {
    /// One that has nothing yet.
    pub(crate) fn new(element: u32, phase: Phase, scope_key: Key, process_instance_key: Key) -> Self {
        Self {
            element,
            phase,
            scope_key,
            process_instance_key,
            active_children: 0,
            waiting_tokens: 0,
            job_key: None,
            called_instance_key: None,
            pending_event: None,
            subscribed: false,
            has_variables: false,
            interrupted: false,
            user_task_key: None,
            listening: None,
            join_check: JoinCheck::None,
            loop_counter: 0,
            interrupting_event: None,
            withdrawn: false,
            started_ms: 0,
            compensable: false,
            cancelling: Cancelling::No,
            lists_children: false,
            has_large_variables: false,
            agent_instance_key: None,
        }
    }
}

/// Execution listeners of an element instance at work.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Listening {
    /// The listener whose job runs; their number, once all are done.
    #[n(0)]
    pub index: u32,
    /// Next step after the last.
    #[n(1)]
    pub then: AfterListeners,
}

impl Listening {
    fn weight(&self) -> usize {
        let document = match &self.then {
            AfterListeners::Activate(trigger) => trigger.as_ref(),
            AfterListeners::Leave(Leave::ByEvent(_, trigger)) => Some(trigger),
            AfterListeners::Leave(_) | AfterListeners::Terminate => None,
        };
        size_of::<Self>() + document.map_or(0, Document::json_len)
    }
}

/// Next step after the execution listeners of one event.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum AfterListeners {
    /// The work of the element, with the event that has happened if it is a catch event.
    #[n(0)]
    Activate(#[n(0)] Option<Document>),
    /// The element is left.
    #[n(1)]
    Leave(#[n(0)] Leave),
    /// The end of a process that is cancelled.
    #[n(2)]
    Terminate,
}

/// How a completed element is left.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Leave {
    /// By all outgoing flows.
    #[n(0)]
    All,
    #[n(1)]
    Through(#[n(0)] u32),
    /// By one, to a catch event whose event has happened.
    #[n(2)]
    ByEvent(#[n(0)] u32, #[n(1)] Document),
    /// By no flow, to a link catch event.
    #[n(140)]
    ByLink(#[n(0)] u32),
    /// By these, in this order.
    #[n(170)]
    Some(#[n(0)] Vec<u32>),
}

/// Whether joins of a scope are to be looked at when something moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum JoinCheck {
    /// None of them waits.
    #[n(0)]
    None,
    #[n(1)]
    Waiting,
    /// A step that looks at them is on its way.
    #[n(2)]
    Underway,
}

/// Progress of the cancellation of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum Cancelling {
    /// It is not cancelled.
    #[n(0)]
    No,
    /// Active children are being terminated.
    #[n(1)]
    Ending,
    /// Completed children are being compensated.
    #[n(2)]
    Compensating,
}

/// An event that happened to an element instance.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct PendingEvent {
    #[n(0)]
    pub element: u32,
    #[n(1)]
    pub variables: Document,
}
