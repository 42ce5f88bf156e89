//! The executable graph of one process, as the engine runs it.
//!
//! Elements and flows are addressed by their index, so that a token move is an array access. Indices are stable for
//! one process definition: they follow from the document order of the model alone. Index 0 is the process itself.

#![expect(missing_docs, reason = "names say what is held")]

mod user_task;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use feel::Expression;

pub use self::user_task::{TaskDetails, TaskEvent, TaskForm, TaskListener, UserTask, WorkerUserTask};
pub use crate::index::{ElementIndex, FlowIndex, PROCESS};
use crate::reach::Reach;

#[derive(Debug)]
pub struct Process {
    pub id: Arc<str>,
    /// Name, if the model gives one.
    pub name: Option<Arc<str>>,
    /// `zeebe:versionTag`.
    pub version_tag: Option<Arc<str>>,
    /// Whether it has a reference with the binding type `deployment`.
    pub is_bound_to_deployment: bool,
    /// Whether its instances have conditional events.
    pub has_conditions: bool,
    /// All elements; the process itself is the first.
    pub elements: Vec<Element>,
    pub flows: Vec<Flow>,
    pub by_id: HashMap<Arc<str>, ElementIndex>,
    /// Reachability of joins: elements from which a token can still arrive.
    pub reach: Reach,
}

impl Process {
    /// The element at an index of this process.
    pub fn element(&self, index: ElementIndex) -> &Element {
        &self.elements[index as usize]
    }

    /// The flow at an index of this process.
    pub fn flow(&self, index: FlowIndex) -> &Flow {
        &self.flows[index as usize]
    }

    /// The none start event of a scope (the process or a sub-process), if it has one.
    pub fn none_start(&self, scope: ElementIndex) -> Option<ElementIndex> {
        self.element(scope).children.iter().copied().find(|&child| {
            matches!(&self.element(child).kind, ElementKind::StartEvent(start) if matches!(start.trigger, Trigger::None))
        })
    }

    /// Whether a catch event is interrupting: it ends the activity it is attached to, or the scope of its event
    /// sub-process.
    pub fn interrupts(&self, event: ElementIndex) -> bool {
        match &self.element(event).kind {
            ElementKind::Boundary(boundary) => boundary.interrupting,
            ElementKind::StartEvent(start) => start.interrupting,
            _ => true,
        }
    }

    /// Whether an element is a catch event that an event-based gateway waits for in its place.
    pub fn is_behind_event_gateway(&self, element: ElementIndex) -> bool {
        let mut sources = self.element(element).incoming.iter().map(|&flow| self.flow(flow).source);
        sources.any(|source| matches!(self.element(source).kind, ElementKind::EventBased))
    }

    /// The start events of the process that have a trigger (message, timer).
    pub fn triggered_starts(&self) -> impl Iterator<Item = (ElementIndex, &StartEvent)> {
        self.element(PROCESS).children.iter().filter_map(|&child| match &self.element(child).kind {
            ElementKind::StartEvent(start) if !matches!(start.trigger, Trigger::None) => Some((child, start)),
            _ => None,
        })
    }
}

/// One flow node, or the process itself.
#[derive(Debug)]
pub struct Element {
    pub id: Arc<str>,
    /// Name, if the model gives one.
    pub name: Option<Arc<str>>,
    /// The scope that holds this element; the process holds itself.
    pub scope: ElementIndex,
    /// Behaviour of the element.
    pub kind: ElementKind,
    /// Type as records and the API name it.
    pub element_type: ElementType,
    /// Event type as records name it; `Unspecified` for other elements.
    pub event_type: EventType,
    /// Incoming sequence flows in document order.
    pub incoming: Vec<FlowIndex>,
    /// Outgoing sequence flows in the order in which they are tried and taken: reverse document order.
    pub outgoing: Vec<FlowIndex>,
    /// Elements directly inside this scope, in document order.
    pub children: Vec<ElementIndex>,
    /// Boundary events attached to this activity, in document order.
    pub boundary_events: Vec<ElementIndex>,
    /// Start events of the event sub-processes directly inside this scope, in document order.
    pub event_starts: Vec<ElementIndex>,
    /// Whether it is a compensation handler.
    pub is_for_compensation: bool,
    /// `zeebe:input` mappings, in order.
    pub inputs: Vec<Mapping>,
    /// `zeebe:output` mappings, in order.
    pub outputs: Vec<Mapping>,
    /// `zeebe:executionListeners`.
    pub listeners: Listeners,
    /// `zeebe:jobPriorityDefinition`: the priority of its jobs; of the process, that of all jobs without one.
    pub job_priority: Option<Box<Text>>,
    /// `zeebe:agentDefinition`: the kind of agent that it is.
    pub agent: Option<AgentType>,
}

/// Kinds of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentType {
    /// An ad-hoc sub-process whose elements are its tools.
    SubProcess,
    /// A task.
    Task,
    /// An agent that works elsewhere.
    External,
}

impl AgentType {
    /// The name in records and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SubProcess => "AI_AGENT_SUB_PROCESS",
            Self::Task => "AI_AGENT_TASK",
            Self::External => "EXTERNAL_AGENT",
        }
    }
}

/// The execution listeners of an element.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Start listeners, in order; they run before the element's own work.
    pub start: Vec<Listener>,
    /// End listeners, in order; they run after the element's own work.
    pub end: Vec<Listener>,
    /// Cancel listeners of a process, in order; they run when everything inside has ended and before it is terminated.
    pub cancel: Vec<Listener>,
    /// Listeners of a multi-instance activity that run once, before its list is read. They become start listeners of
    /// the body.
    pub(crate) before_all: Vec<Listener>,
    /// Headers of the element as a JSON object; the listeners' jobs have them, too.
    pub headers_json: Arc<str>,
}

/// A listener: a job that the element waits for.
#[derive(Debug)]
pub struct Listener {
    pub job_type: Text,
    /// Retries; default `3`.
    pub retries: Text,
    /// Headers as a JSON object, those of the element included, if the listener has some of its own.
    pub headers_json: Option<Arc<str>>,
}

#[derive(Debug)]
pub struct Flow {
    pub id: Arc<str>,
    pub source: ElementIndex,
    pub target: ElementIndex,
    /// Condition, on flows that leave an exclusive or inclusive gateway.
    pub condition: Option<Expression>,
}

/// An attribute that is either static text or, with a leading `=`, a FEEL expression.
#[derive(Debug, Clone)]
pub enum Text {
    Static(Arc<str>),
    Expression(Expression),
}

/// One `zeebe:input` or `zeebe:output`.
#[derive(Debug)]
pub struct Mapping {
    /// Source of the value; `None` (an empty source) gives null.
    pub source: Option<Text>,
    /// Path of the target variable, at least one name.
    pub target: Vec<Arc<str>>,
}

/// Behaviour of an element. The engine has one implementation for each.
#[derive(Debug)]
pub enum ElementKind {
    Process,
    /// Embedded sub-process with exactly one none start event.
    SubProcess {
        /// Its none start event.
        start: ElementIndex,
    },
    /// Event sub-process: runs when its start event is triggered in the enclosing scope.
    EventSubProcess {
        start: ElementIndex,
    },
    /// Start event of the process or of a sub-process, or a receive task that starts the process.
    StartEvent(StartEvent),
    /// Intermediate catch event of all kinds but links.
    IntermediateCatch(Trigger),
    /// Intermediate none throw event.
    IntermediateThrow,
    /// Compensation throw or end event.
    Compensate {
        /// The activity to compensate; `None` is everything in its scope.
        activity: Option<ElementIndex>,
    },
    /// Intermediate throw event or end event that throws a signal, a message, an escalation or a link.
    Throw(Throw),
    /// Link catch event: the target of its throw events.
    LinkCatch {
        /// Name of the link.
        name: Arc<str>,
    },
    Boundary(Boundary),
    EndEvent(End),
    /// A task or throw event implemented by a job worker.
    Job(JobDefinition),
    /// User task completed through the API.
    UserTask(Box<UserTask>),
    Receive(MessageDefinition),
    /// Script task with an inline FEEL expression.
    Script {
        /// `zeebe:script expression`.
        expression: Expression,
        /// `zeebe:script resultVariable`.
        result_variable: Arc<str>,
    },
    /// Business rule task with a called decision, which the engine evaluates.
    Decision(CalledDecision),
    /// Manual or undefined task.
    PassThrough,
    Call(Call),
    Exclusive {
        default: Option<FlowIndex>,
    },
    /// Inclusive gateway: choice of flows, join or both.
    Inclusive {
        default: Option<FlowIndex>,
    },
    /// Complex gateway: choice of flows, join by a condition or both.
    Complex {
        default: Option<FlowIndex>,
        /// Activation condition; present if it joins.
        activation: Option<Expression>,
    },
    /// Parallel gateway: fork, join or both.
    Parallel,
    /// Event-based gateway; its catch events are the targets of its outgoing flows.
    EventBased,
    /// The body of a multi-instance activity: runs its only child, the activity itself, once for each item of a list.
    MultiInstance(MultiInstance),
    /// The body of an activity with a loop marker: runs its only child, the activity itself, again and again.
    Loop(StandardLoop),
    /// Ad-hoc sub-process: its elements run in any order, when they are activated.
    AdHoc(Box<AdHoc>),
    /// Scope of one activated element of an ad-hoc sub-process and what follows it.
    AdHocInner,
}

/// `adHocSubProcess`.
///
/// An inner scope holds its elements; each activation creates an instance of that scope. The scope is not an element
/// of the model.
#[derive(Debug)]
pub struct AdHoc {
    pub inner: ElementIndex,
    /// Elements that may be activated, in document order.
    pub activities: Vec<ElementIndex>,
    /// Metadata of these elements, as a JSON list: members without a value are left out.
    pub elements_json: Arc<str>,
    /// `zeebe:adHoc activeElementsCollection`: IDs of the elements activated at the beginning.
    pub active_elements: Option<Expression>,
    /// `completionCondition`.
    pub completion_condition: Option<Expression>,
    /// `cancelRemainingInstances`: whether running elements are terminated when the condition holds.
    pub cancel_remaining: bool,
    pub output: Option<OutputCollection>,
    /// The job whose worker selects the elements, if there is one.
    pub job: Option<JobDefinition>,
}

/// `multiInstanceLoopCharacteristics` with `zeebe:loopCharacteristics`.
///
/// Such an activity is two elements of the same ID. The body has the flows and the boundary events and is what
/// [`Process::by_id`] finds; the activity itself is its only child and has the mappings and everything that makes up
/// its kind.
#[derive(Debug)]
pub struct MultiInstance {
    pub inner: ElementIndex,
    /// One after the other instead of all at once.
    pub is_sequential: bool,
    pub input_collection: Expression,
    /// Local variable that holds the item.
    pub input_element: Option<Arc<str>>,
    pub output: Option<OutputCollection>,
    /// `completionCondition`: ends the remaining instances.
    pub completion_condition: Option<Expression>,
}

/// `standardLoopCharacteristics`. Body and activity are two elements as in [`MultiInstance`].
#[derive(Debug)]
pub struct StandardLoop {
    pub inner: ElementIndex,
    /// `testBefore`: whether the condition is evaluated before the first round, too.
    pub test_before: bool,
    /// `loopMaximum`, in rounds.
    pub maximum: Option<u32>,
    /// `loopCondition`: whether there is another round; without it, [`Self::maximum`] decides.
    pub condition: Option<Expression>,
}

/// `outputCollection` and `outputElement`.
#[derive(Debug)]
pub struct OutputCollection {
    /// Variable that holds the list in the end.
    pub variable: Arc<str>,
    /// The value that each instance appends.
    pub element: Expression,
}

#[derive(Debug)]
pub struct StartEvent {
    pub form: Option<FormReference>,
    /// Trigger of the start event.
    pub trigger: Trigger,
    /// Whether it ends everything else in the scope of its event sub-process.
    pub interrupting: bool,
}

#[derive(Debug)]
pub struct Boundary {
    /// The activity it is attached to.
    pub attached_to: ElementIndex,
    /// Whether it ends the activity.
    pub interrupting: bool,
    /// Trigger of the event.
    pub trigger: Trigger,
}

/// The signal, message, escalation or link that a throw event or an end event throws.
#[derive(Debug)]
pub enum Throw {
    /// A signal of this name, broadcast.
    Signal(Text),
    /// A message, published without a job worker.
    Message(Box<PublishedMessage>),
    /// An escalation with this code, to the enclosing scopes.
    Escalation(Text),
    /// A link: the token goes on at this link catch event.
    Link {
        /// Name of the link.
        name: Arc<str>,
        /// The catch event of that name in the same scope.
        target: ElementIndex,
    },
}

/// Trigger of an event.
#[derive(Debug)]
pub enum Trigger {
    None,
    Message(MessageDefinition),
    /// A point in time.
    Timer(TimerDefinition),
    /// Compensation of the completed activity.
    Compensation {
        handler: ElementIndex,
    },
    /// Cancellation of the transaction.
    Cancel,
    /// A BPMN error thrown inside the activity; `None` catches every code.
    Error(Option<Arc<str>>),
    /// An escalation from inside the activity; `None` catches every code.
    Escalation(Option<Arc<str>>),
    /// A signal of this name.
    Signal(Text),
    /// A condition that becomes true.
    Condition(ConditionDefinition),
}

/// A conditional event definition.
#[derive(Debug, Clone)]
pub struct ConditionDefinition {
    pub expression: Expression,
    /// Whether it is evaluated when a variable of it is created.
    pub on_create: bool,
    /// Whether it is evaluated when a variable of it is updated.
    pub on_update: bool,
}

/// Behaviour of an end event.
#[derive(Debug)]
pub enum End {
    None,
    /// Throws a BPMN error with this code.
    Error(Text),
    /// Terminates everything else in its scope.
    Terminate,
    /// Cancels the transaction around it.
    Cancel,
}

/// A referenced `bpmn:message`.
#[derive(Debug, Clone)]
pub struct MessageDefinition {
    pub name: Text,
    /// `zeebe:subscription correlationKey`; absent where only process-level start events use the message.
    pub correlation_key: Option<Expression>,
}

/// `zeebe:publishMessage` of an element that refers to a message.
#[derive(Debug)]
pub struct PublishedMessage {
    /// Name of the message.
    pub name: Text,
    /// Correlation key; absent if the model has none.
    pub correlation_key: Option<Text>,
    /// Message ID, by which a duplicate publication is refused.
    pub message_id: Option<Text>,
    /// Time to live: a duration or milliseconds; default zero.
    pub time_to_live: Option<Text>,
}

/// A timer event definition; see [`crate::timer`] for what its text means.
#[derive(Debug, Clone)]
pub struct TimerDefinition {
    /// Which of the three forms.
    pub kind: TimerKind,
    /// The date, duration or cycle.
    pub text: Text,
}

/// The three forms of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerKind {
    /// `timeDate`.
    Date,
    /// `timeDuration`.
    Duration,
    /// `timeCycle`.
    Cycle,
}

/// `zeebe:taskDefinition` with headers.
#[derive(Debug)]
pub struct JobDefinition {
    pub job_type: Text,
    /// Retries; default `3`.
    pub retries: Text,
    /// `zeebe:taskHeaders` without empty values, in document order.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// [`Self::headers`] as a JSON object, made once.
    pub headers_json: Arc<str>,
    /// `zeebe:linkedResources`, in document order.
    pub linked_resources: Vec<LinkedResource>,
    /// Values of a job-based user task that are evaluated when its job is created.
    pub user_task: Option<Box<WorkerUserTask>>,
}

/// `zeebe:linkedResource`: a deployed resource whose key a job worker gets.
#[derive(Debug)]
pub struct LinkedResource {
    /// ID of the resource.
    pub id: Text,
    /// How the version is selected.
    pub binding: Binding,
    pub resource_type: Arc<str>,
    /// Link name; default empty.
    pub link_name: Arc<str>,
}

/// `zeebe:calledElement`.
#[derive(Debug)]
pub struct Call {
    /// ID of the called process.
    pub process_id: Text,
    /// How the version is selected.
    pub binding: Binding,
    /// Whether all variables of the child instance are propagated to the parent at its end.
    pub propagate_all_child_variables: bool,
    /// Whether all variables visible at the call are propagated to the child instance, or the local ones only.
    pub propagate_all_parent_variables: bool,
}

/// `zeebe:calledDecision`.
#[derive(Debug)]
pub struct CalledDecision {
    /// ID of the decision.
    pub id: Text,
    /// How the version is selected.
    pub binding: Binding,
    /// Variable that gets the result.
    pub result_variable: Arc<str>,
}

/// Binding type: how a reference to another definition selects its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// The latest version at activation.
    Latest,
    /// The version deployed together with this process.
    Deployment,
    /// The latest version with this tag.
    VersionTag(Arc<str>),
}

/// A form that is deployed on its own.
#[derive(Debug, Clone)]
pub struct FormReference {
    /// `zeebe:formDefinition formId`.
    pub id: Text,
    /// How the version is selected.
    pub binding: Binding,
}

macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $(#[doc = $text] $(#[$vmeta])* $variant),* }

        impl $type {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in records and in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }
    };
}

names! {
    /// `bpmnElementType` of records.
    ElementType {
        Process = "PROCESS", SubProcess = "SUB_PROCESS",
        EventSubProcess = "EVENT_SUB_PROCESS", StartEvent = "START_EVENT",
        IntermediateCatchEvent = "INTERMEDIATE_CATCH_EVENT", IntermediateThrowEvent = "INTERMEDIATE_THROW_EVENT",
        BoundaryEvent = "BOUNDARY_EVENT", EndEvent = "END_EVENT", ServiceTask = "SERVICE_TASK",
        ReceiveTask = "RECEIVE_TASK", UserTask = "USER_TASK", ManualTask = "MANUAL_TASK", Task = "TASK",
        ExclusiveGateway = "EXCLUSIVE_GATEWAY", InclusiveGateway = "INCLUSIVE_GATEWAY",
        ParallelGateway = "PARALLEL_GATEWAY", EventBasedGateway = "EVENT_BASED_GATEWAY",
        SequenceFlow = "SEQUENCE_FLOW", CallActivity = "CALL_ACTIVITY",
        BusinessRuleTask = "BUSINESS_RULE_TASK", ScriptTask = "SCRIPT_TASK", SendTask = "SEND_TASK",
        MultiInstanceBody = "MULTI_INSTANCE_BODY", AdHocSubProcess = "AD_HOC_SUB_PROCESS",
        AdHocSubProcessInnerInstance = "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    }
}

names! {
    /// `bpmnEventType` of records.
    EventType {
        Unspecified = "UNSPECIFIED", Cancel = "CANCEL", Compensation = "COMPENSATION", Conditional = "CONDITIONAL", Error = "ERROR", Escalation = "ESCALATION",
        Link = "LINK", Signal = "SIGNAL", Message = "MESSAGE", None = "NONE",
        Terminate = "TERMINATE", Timer = "TIMER",
    }
}
