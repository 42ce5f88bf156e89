//! The rows of the engine's tables.

#![expect(missing_docs, reason = "fields are named by what they hold")]

mod awaited;
mod definition;
pub(crate) mod tables;
pub(crate) mod variable;

use std::sync::Arc;

use minicbor::{Decode, Encode};
use protocol::{AwaitResult, Document, GlobalListener, JobKind, JobListenerEventType, Json, Key, Name};
use state::minicbor_value;

pub use awaited::{
    ConditionSubscription, Message, SignalSubscription, StartSubscription, Subscription, Timer, TimerTurn,
    TimerTurns,
};
pub use definition::{
    Decision, DecisionRequirements, Definition, DefinitionKind, DefinitionState, Imported, ImportedFile,
    StoredFile,
};

use crate::core::step::Step;

/// A variable of the cluster or of a tenant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClusterVariableRow {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub value: Json,
}
minicbor_value!(ClusterVariableRow, weight = |row| 64 + row.value.as_bytes().len());

/// State of the partition itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Encode, Decode)]
pub struct Meta {
    /// Counter of the last key given out.
    #[n(0)]
    pub key_counter: u64,
    /// Position of the last command or record.
    #[n(1)]
    pub position: u64,
    /// The engine's clock: that of the log, or the instant it is pinned to. Unix milliseconds.
    #[n(2)]
    pub now_ms: i64,
    /// Set while the clock is pinned.
    #[n(3)]
    pub pinned_ms: Option<i64>,
    /// Number of the last step left over for a later command.
    #[n(4)]
    pub pending_counter: u64,
    /// Time of the last batch, Unix milliseconds; never goes back.
    #[n(5)]
    pub wall_ms: i64,
    /// Position of the last change to what anybody is granted.
    #[n(6)]
    pub grants_version: Option<u64>,
    /// How far the engine's clock is ahead of the log's while it is not pinned, in milliseconds.
    #[cbor(n(7), default)]
    pub offset_ms: i64,
    /// Whether anybody has ever had the role of administrators. False also where that was before this was kept.
    #[cbor(n(8), default)]
    pub had_administrator: bool,
    /// The first owner of steps left over that has not had its turn in this round.
    #[cbor(n(10), default)]
    pub turn_from: Key,
    /// The last key given out when this round began.
    #[cbor(n(11), default)]
    pub turn_until: Key,
    /// The round of the last queued timer that was triggered (`due.rs`).
    #[cbor(n(12), default)]
    pub timer_round: u64,
    /// The kind of due work that the next tick begins with.
    #[cbor(n(13), default)]
    pub due_kind: u8,
}
minicbor_value!(Meta);

impl Meta {
    /// Sets the engine's clock by that of the log, the offset and the pin.
    pub fn set_now(&mut self) {
        self.now_ms = self.pinned_ms.unwrap_or(self.wall_ms.saturating_add(self.offset_ms));
    }
}

/// A process instance.
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
    /// Calls above it.
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

impl Instance {
    /// An instance that no other one called, created now.
    pub(crate) fn root(
        key: Key,
        definition_key: Key,
        process_id: Name,
        version: u32,
        tenant_id: Name,
        created_ms: i64,
    ) -> Self {
        Self {
            definition_key,
            process_id,
            version,
            tenant_id,
            root_key: key,
            parent: None,
            tags: Vec::new(),
            business_id: None,
            await_result: None,
            started_by_key: None,
            depth: 0,
            created_ms,
            terminate_after: Vec::new(),
            is_erased: false,
        }
    }
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

/// Where an element instance is in its life.
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
    /// Its job.
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
    /// Where its execution listeners stand.
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
    /// How far the cancellation of a transaction is.
    #[n(19)]
    pub cancelling: Cancelling,
    /// Whether variables set inside it go no further up.
    #[cbor(n(20), default)]
    pub keeps_variables: bool,
    /// Its user task.
    #[n(21)]
    pub user_task_key: Option<Key>,
    /// Whether its children are kept by element, too.
    #[cbor(n(22), default)]
    pub lists_children: bool,
    /// Whether it has had large variables, which count for its instance.
    #[cbor(n(23), default)]
    pub has_large_variables: bool,
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
            keeps_variables: false,
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
            AfterListeners::Leave(_) => None,
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
}

/// How a completed element is left.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Leave {
    /// By all outgoing flows.
    #[n(0)]
    All,
    /// By one.
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
    /// One waits.
    #[n(1)]
    Waiting,
    /// A step that looks at them is on its way.
    #[n(2)]
    Underway,
}

/// A multi-instance body or an ad-hoc sub-process, which counts only what it collects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct Loop {
    /// Items of its collection; in an ad-hoc sub-process, places of its output collection.
    #[n(0)]
    pub size: u32,
    /// Instances decided on so far.
    #[n(1)]
    pub spawned: u32,
    #[n(2)]
    pub completed: u32,
    #[n(3)]
    pub terminated: u32,
    /// Whether no more instances are wanted: the completion condition was true.
    #[n(4)]
    pub is_done: bool,
    /// Whether outputs are being put together.
    #[n(5)]
    pub is_gathering: bool,
    /// Bytes of its outputs so far.
    #[n(6)]
    pub output_bytes: Option<u64>,
    /// Bytes of its items and outputs that count for the limit of its process instance.
    #[n(7)]
    pub counted_bytes: Option<u64>,
}
minicbor_value!(Loop);

/// Some values of a list, each after the other as JSON with a comma in between.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Chunk {
    #[n(0)]
    pub json: Json,
    /// Where each value ends.
    #[n(1)]
    pub ends: Vec<u32>,
}
minicbor_value!(Chunk, weight = |chunk| 64 + chunk.json.as_bytes().len() + 4 * chunk.ends.len());

/// Output of one instance of a multi-instance body, or of one activation in an ad-hoc sub-process.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub struct LoopOutput(#[n(0)] pub Json);
minicbor_value!(LoopOutput, weight = |output| 32 + output.0.as_bytes().len());

/// How far the cancellation of a transaction is.
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

/// A complex gateway that joins.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub struct ComplexJoin {
    /// The instance that waits; 0 while it is on its way.
    #[n(0)]
    pub instance_key: Key,
    /// Flows that have been served since it started.
    #[n(1)]
    pub taken: Vec<u32>,
    /// Whether it waits for reset instead of start.
    #[n(2)]
    pub is_resetting: bool,
    /// Whether the instance is about to complete.
    #[n(3)]
    pub is_done: bool,
    /// Whether the instance of the next phase is to be made.
    #[n(4)]
    pub is_due: bool,
}
minicbor_value!(ComplexJoin, weight = |row| size_of::<ComplexJoin>() + 4 * row.taken.len());

/// A completed activity, or scope with such inside, that can be compensated.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Compensation {
    #[n(0)]
    pub activity: u32,
    #[n(1)]
    pub handler: Option<u32>,
    /// The instance that has completed; the scope of what is inside.
    #[n(2)]
    pub activity_instance_key: Key,
    /// Whether something inside it can be compensated.
    #[n(3)]
    pub has_inner: bool,
    /// Variables of the scope when it completed, for what is inside.
    #[n(4)]
    pub variables: Document,
    #[n(5)]
    pub process_instance_key: Key,
    #[n(6)]
    pub definition_key: Key,
    #[n(7)]
    pub tenant_id: Name,
    /// The throw event that triggered it.
    #[n(8)]
    pub thrower_key: Option<Key>,
    #[n(9)]
    pub handler_instance_key: Option<Key>,
    /// Rest of its compensation: its handler, the scan of its children.
    #[n(10)]
    pub parts: u32,
    /// Whether the handler is an event sub-process inside, which takes the place of the handlers there.
    #[n(11)]
    pub is_own_handler: bool,
    /// Bytes of the variables that count for their process instance.
    #[n(12)]
    pub counted_bytes: Option<u64>,
}
minicbor_value!(Compensation, weight = |row| size_of::<Compensation>() + row.variables.json_len());

/// An event that happened to an element instance.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct PendingEvent {
    /// The catch event.
    #[n(0)]
    pub element: u32,
    /// Its variables.
    #[n(1)]
    pub variables: Document,
}

/// A variable of a scope.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Variable {
    #[n(0)]
    pub key: Key,
    /// Its last value.
    #[n(1)]
    pub value: Json,
    /// Set if that is a list to which values have been appended since: their first place in the collection of the
    /// scope.
    #[n(2)]
    pub rest_from: Option<u32>,
}
minicbor_value!(Variable, weight = |variable| 64 + variable.value.as_bytes().len());

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum JobState {
    /// In the queue.
    #[n(0)]
    Activatable,
    /// With a worker.
    #[n(1)]
    Activated,
    /// Failed; waits for its backoff to end.
    #[n(2)]
    Backoff,
    /// Failed without retries; an incident waits for people.
    #[n(3)]
    Failed,
    /// Threw an error that nobody caught; an incident waits for people.
    #[n(4)]
    ErrorThrown,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Job {
    #[n(0)]
    pub job_type: Name,
    #[n(1)]
    pub element_instance_key: Key,
    #[n(2)]
    pub process_instance_key: Key,
    #[n(3)]
    pub element: u32,
    #[n(4)]
    pub retries: i32,
    #[n(5)]
    pub state: JobState,
    #[n(6)]
    pub worker: Name,
    /// When the worker loses it, or when its backoff ends; Unix milliseconds.
    #[n(7)]
    pub due_ms: i64,
    #[n(8)]
    pub tenant_id: Name,
    #[n(9)]
    pub kind: JobKind,
    #[n(10)]
    pub error_message: Name,
    /// When it was created, Unix milliseconds of the engine's clock.
    #[n(11)]
    pub created_ms: i64,
    /// Which moment a listener's job stands for.
    #[n(12)]
    pub listener_event_type: JobListenerEventType,
    /// Headers found out when it was created, beside those of its element: the members of a JSON object.
    #[n(13)]
    pub more_headers: Option<Name>,
    /// How long its last failure lets it wait, in milliseconds.
    #[cbor(n(14), default)]
    pub retry_backoff_ms: i64,
}
minicbor_value!(Job);

/// Something that people have to look at.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Incident {
    #[n(0)]
    pub error_type: ErrorType,
    #[n(1)]
    pub error_message: Name,
    #[n(2)]
    pub element_instance_key: Key,
    #[n(3)]
    pub process_instance_key: Key,
    #[n(4)]
    pub job_key: Option<Key>,
    /// Step to retry once it is resolved.
    #[n(5)]
    pub resume: Option<Step>,
    /// When it was raised, Unix milliseconds of the engine's clock.
    #[cbor(n(6), default)]
    pub created_ms: i64,
}
minicbor_value!(
    Incident,
    weight = |incident| {
        size_of::<Incident>()
            + incident.error_message.len()
            + incident.resume.as_ref().map_or(0, Step::value_bytes)
    }
);

/// Kinds of incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ErrorType {
    #[n(0)]
    IoMappingError,
    #[n(1)]
    ExtractValueError,
    #[n(2)]
    ConditionError,
    #[n(3)]
    JobNoRetries,
    #[n(4)]
    UnhandledErrorEvent,
    #[n(5)]
    CalledElementError,
    #[n(6)]
    MessageSizeExceeded,
    #[n(120)]
    ExecutionListenerNoRetries,
    #[n(121)]
    TaskListenerNoRetries,
    #[n(100)]
    CalledDecisionError,
    #[n(101)]
    DecisionEvaluationError,
    #[n(102)]
    ResourceNotFound,
    #[n(160)]
    AdHocSubProcessNoRetries,
    #[n(122)]
    FormNotFound,
}

impl ErrorType {
    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IoMappingError => "IO_MAPPING_ERROR",
            Self::ExtractValueError => "EXTRACT_VALUE_ERROR",
            Self::ConditionError => "CONDITION_ERROR",
            Self::JobNoRetries => "JOB_NO_RETRIES",
            Self::UnhandledErrorEvent => "UNHANDLED_ERROR_EVENT",
            Self::CalledElementError => "CALLED_ELEMENT_ERROR",
            Self::MessageSizeExceeded => "MESSAGE_SIZE_EXCEEDED",
            Self::ExecutionListenerNoRetries => "EXECUTION_LISTENER_NO_RETRIES",
            Self::TaskListenerNoRetries => "TASK_LISTENER_NO_RETRIES",
            Self::CalledDecisionError => "CALLED_DECISION_ERROR",
            Self::DecisionEvaluationError => "DECISION_EVALUATION_ERROR",
            Self::ResourceNotFound => "RESOURCE_NOT_FOUND",
            Self::AdHocSubProcessNoRetries => "AD_HOC_SUB_PROCESS_NO_RETRIES",
            Self::FormNotFound => "FORM_NOT_FOUND",
        }
    }
}

/// A listener of all user tasks.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct StoredListener {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub listener: GlobalListener,
}
minicbor_value!(StoredListener);

/// A process instance whose commands are skipped because the engine failed on it.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Banned {
    #[n(0)]
    pub reason: Name,
    #[n(1)]
    pub since_ms: i64,
}
minicbor_value!(Banned);

minicbor_value!(Step, weight = |step| size_of::<Step>() + step.value_bytes());

/// Key of a variable: scope and name.
pub type VariableKey = (Key, Arc<str>);
