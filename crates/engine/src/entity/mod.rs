//! The rows of the engine's tables.

#![expect(missing_docs, reason = "fields are named by what they hold")]

mod agent;
mod awaited;
mod channel;
mod definition;
mod element;
mod idempotency;
mod parking;
pub(crate) mod scope;
pub(crate) mod tables;
mod totals;
pub(crate) mod variable;

use minicbor::{Decode, Encode};
use protocol::{
    ClusterChange, ClusterVariableKind, ClusterVariableView, Document, GlobalListener, JobKind,
    JobListenerEventType, Json, Key, Name, Settings,
};
use state::minicbor_value;

pub use agent::{AgentInstance, KnownHistoryItem, LeasedHistoryItem, PendingHistoryItem};
pub use awaited::{
    ConditionSubscription, KeptMessage, Message, SignalSubscription, StartSubscription, Subscription, Timer,
    TimerTurn, TimerTurns,
};
pub use channel::{Channel, Outgoing, RemoteSubscription};
pub use definition::{
    Decision, DecisionRequirements, Definition, DefinitionKind, DefinitionState, Imported, ImportedFile,
    StoredFile,
};
pub use element::{
    AfterListeners, Cancelling, ElementInstance, Instance, JoinCheck, Leave, Listening, Parent, PendingEvent,
    Phase,
};
pub use idempotency::{KeptAnswer, KeptNeeds, KeyedCommand, KeyedRequest};
pub use parking::{PARKED_MAX, ParkedRecord};
pub use totals::RowTotals;
pub use variable::{Chunk, Loop, LoopOutput, Variable, VariableKey};

use crate::core::step::Step;

/// A variable of the cluster or of a tenant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClusterVariableRow {
    #[n(0)]
    pub key: Key,
    #[n(1)]
    pub value: Json,
    #[n(2)]
    pub metadata: Option<Document>,
    #[n(3)]
    pub kind: Option<ClusterVariableKind>,
}
minicbor_value!(
    ClusterVariableRow,
    weight = |row| { 64 + row.value.as_bytes().len() + row.metadata.as_ref().map_or(0, Document::json_len) }
);

impl ClusterVariableRow {
    /// The variable as readers see it.
    pub fn view(&self, tenant_id: Option<Name>, name: Name) -> ClusterVariableView {
        let Self { value, metadata, kind, .. } = self;
        ClusterVariableView { tenant_id, name, value: value.clone(), metadata: metadata.clone(), kind: *kind }
    }
}

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
    /// Milliseconds by which the engine's clock is ahead of the log's while it is not pinned.
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
    /// Version of the engine that batches ask for; 0 until one is activated.
    #[cbor(n(14), default)]
    pub active_version: u16,
    /// Commands with idempotency keys that are kept; `None` while there are none.
    #[n(15)]
    pub keyed: Option<RowTotals>,
    /// Parked records that are kept; `None` while there are none.
    #[n(16)]
    pub parked: Option<RowTotals>,
    /// The version of the engine up to which the default roles have the permissions that it knows.
    #[n(17)]
    pub granted_version: Option<u16>,
    /// The latest change of the cluster; `None` before the first.
    #[n(18)]
    pub change: Option<ClusterChange>,
    /// Position of the record of the last purge; `None` before the first.
    #[n(19)]
    pub purged: Option<u64>,
    /// Position on partition 1 of the last command whose rows are here: on partition 1, that changed rows which it
    /// gives to all. `None` before the first.
    #[n(20)]
    pub distributed: Option<u64>,
}
minicbor_value!(Meta);

impl Meta {
    /// Sets the engine's clock by that of the log, the offset and the pin.
    pub fn set_now(&mut self) {
        self.now_ms = self.pinned_ms.unwrap_or(self.wall_ms.saturating_add(self.offset_ms));
    }
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

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum JobState {
    #[n(0)]
    Activatable,
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
    /// Would be activatable, but its process instance is suspended.
    #[n(5)]
    Held,
}

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
    /// Deadline of the activation, or end of the back-off, Unix milliseconds.
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
    /// Event of a listener's job.
    #[n(12)]
    pub listener_event_type: JobListenerEventType,
    /// Headers found out when it was created, beside those of its element: the members of a JSON object.
    #[n(13)]
    pub more_headers: Option<Name>,
    /// Back-off after its last failure, in milliseconds.
    #[cbor(n(14), default)]
    pub retry_backoff_ms: i64,
    /// Its priority if it is not 0; see [`Job::priority`].
    #[n(15)]
    pub ranked: Option<i32>,
    /// Token of its activation, if the worker asked for one.
    #[n(16)]
    pub lease: Option<Name>,
    /// Set once its worker has told something of an agent.
    #[n(17)]
    pub tells_history: Option<bool>,
}
minicbor_value!(Job);

/// Terms of a job that is to be created, evaluated.
pub(crate) struct JobTerms {
    pub job_type: Name,
    pub retries: i32,
    pub priority: i32,
}

impl Job {
    /// Jobs of a higher priority are handed out before others.
    pub fn priority(&self) -> i32 {
        self.ranked.unwrap_or_default()
    }

    /// Gives it a priority. Rows of jobs without one are as they were before there were priorities.
    pub(crate) fn set_priority(&mut self, priority: i32) {
        self.ranked = Some(priority).filter(|priority| *priority != 0);
    }
}

/// An incident, which an operator has to resolve.
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

/// Settings of the partition.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
#[cbor(transparent)]
pub struct StoredSettings(#[n(0)] pub Settings);
minicbor_value!(StoredSettings);

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
