//! The executable graph of one process: what the engine walks.
//!
//! Elements and flows are addressed by their index, so that a token move is an array access. Indices are stable for
//! one process definition: they follow from the document order of the model alone. Index 0 is the process itself.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use feel::Expression;

use crate::reach::Reach;

/// Position of an element in [`Process::elements`].
pub type ElementIndex = u32;
/// Position of a sequence flow in [`Process::flows`].
pub type FlowIndex = u32;

/// The index of the process element itself.
pub const PROCESS: ElementIndex = 0;

/// One executable process.
#[derive(Debug)]
pub struct Process {
    /// BPMN process ID.
    pub id: Arc<str>,
    /// Name, if the model gives one.
    pub name: Option<Arc<str>>,
    /// `zeebe:versionTag`.
    pub version_tag: Option<Arc<str>>,
    /// Whether anything in it refers to what is deployed together with it.
    pub is_bound_to_deployment: bool,
    /// Whether something in its instances waits for a condition.
    pub has_conditions: bool,
    /// All elements; the process itself is the first.
    pub elements: Vec<Element>,
    /// All sequence flows.
    pub flows: Vec<Flow>,
    /// Element ID to index.
    pub by_id: HashMap<Arc<str>, ElementIndex>,
    /// Who can still bring a token to a join.
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

    /// Whether a catch event ends what it is attached to, or the scope of its event sub-process.
    pub fn interrupts(&self, event: ElementIndex) -> bool {
        match &self.element(event).kind {
            ElementKind::Boundary(boundary) => boundary.interrupting,
            ElementKind::StartEvent(start) => start.interrupting,
            _ => true,
        }
    }

    /// The start events of the process that wait for something (message, timer).
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
    /// BPMN ID.
    pub id: Arc<str>,
    /// Name, if the model gives one.
    pub name: Option<Arc<str>>,
    /// The scope that holds this element; the process holds itself.
    pub scope: ElementIndex,
    /// What it does.
    pub kind: ElementKind,
    /// Type as records and the API name it.
    pub element_type: ElementType,
    /// Event type as records name it; `Unspecified` for what is not an event.
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
    /// Whether it only runs to undo what another activity has done.
    pub is_for_compensation: bool,
    /// `zeebe:input` mappings, in order.
    pub inputs: Vec<Mapping>,
    /// `zeebe:output` mappings, in order.
    pub outputs: Vec<Mapping>,
    /// `zeebe:executionListeners`.
    pub listeners: Listeners,
}

/// The execution listeners of an element.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Those before its work, in order.
    pub start: Vec<Listener>,
    /// Those after its work, in order.
    pub end: Vec<Listener>,
    /// Headers of their jobs as a JSON object: those of the element.
    pub headers_json: Arc<str>,
}

/// A listener: a job that the element waits for.
#[derive(Debug)]
pub struct Listener {
    /// Job type.
    pub job_type: Text,
    /// Retries; `3` if the model says nothing.
    pub retries: Text,
}

/// A sequence flow.
#[derive(Debug)]
pub struct Flow {
    /// BPMN ID.
    pub id: Arc<str>,
    /// Element it leaves.
    pub source: ElementIndex,
    /// Element it enters.
    pub target: ElementIndex,
    /// Condition, on flows that leave an exclusive or inclusive gateway.
    pub condition: Option<Expression>,
}

/// An attribute that is either static text or, with a leading `=`, a FEEL expression.
#[derive(Debug, Clone)]
pub enum Text {
    /// As written.
    Static(Arc<str>),
    /// To evaluate.
    Expression(Expression),
}

/// One `zeebe:input` or `zeebe:output`.
#[derive(Debug)]
pub struct Mapping {
    /// Where the value comes from; `None` (an empty source) gives null.
    pub source: Option<Text>,
    /// Path of the target variable, at least one name.
    pub target: Vec<Arc<str>>,
}

/// What an element does. The engine has one behaviour for each.
#[derive(Debug)]
pub enum ElementKind {
    /// The process itself.
    Process,
    /// Embedded sub-process with exactly one none start event.
    SubProcess {
        /// Its none start event.
        start: ElementIndex,
    },
    /// Event sub-process: runs when its start event happens to the scope it stands in.
    EventSubProcess {
        /// Its start event.
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
        /// What is compensated; `None` is everything in its scope.
        activity: Option<ElementIndex>,
    },
    /// Intermediate throw event or end event that tells others.
    Throw(Throw),
    /// Link catch event: where its throw events lead.
    LinkCatch {
        /// Name of the link.
        name: Arc<str>,
    },
    /// Boundary event.
    Boundary(Boundary),
    /// End event.
    EndEvent(End),
    /// A task or throw event that a job worker does.
    Job(JobDefinition),
    /// User task that people do through the API.
    UserTask(Box<UserTask>),
    /// Receive task.
    Receive(MessageDefinition),
    /// Script task with an inline FEEL expression.
    Script {
        /// `zeebe:script expression`.
        expression: Expression,
        /// `zeebe:script resultVariable`.
        result_variable: Arc<str>,
    },
    /// Business rule task that evaluates a decision itself.
    Decision(CalledDecision),
    /// Manual or undefined task.
    PassThrough,
    /// Call activity.
    Call(Call),
    /// Exclusive gateway.
    Exclusive {
        /// The default flow.
        default: Option<FlowIndex>,
    },
    /// Inclusive gateway: choice of flows, join or both.
    Inclusive {
        /// The default flow.
        default: Option<FlowIndex>,
    },
    /// Complex gateway: choice of flows, join by a condition or both.
    Complex {
        /// The default flow.
        default: Option<FlowIndex>,
        /// When a join goes on; there if it joins.
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
    /// Ad-hoc sub-process: its elements run in any order, when somebody wants them to.
    AdHoc(Box<AdHoc>),
    /// Scope of one activated element of an ad-hoc sub-process and what follows it.
    AdHocInner,
}

/// `adHocSubProcess`.
///
/// Its elements stand in a scope between it and them, of which each activation makes an instance. That scope is no
/// element of the model.
#[derive(Debug)]
pub struct AdHoc {
    /// The scope in between.
    pub inner: ElementIndex,
    /// Elements that may be activated, in document order.
    pub activities: Vec<ElementIndex>,
    /// What is known of them, as a JSON list.
    pub elements_json: Arc<str>,
    /// `zeebe:adHoc activeElementsCollection`: IDs of what is activated at the beginning.
    pub active_elements: Option<Expression>,
    /// Whether it is done.
    pub completion_condition: Option<Expression>,
    /// Whether what still runs is terminated when it is done.
    pub cancel_remaining: bool,
    /// What is collected.
    pub output: Option<OutputCollection>,
    /// The job whose worker decides, if there is one.
    pub job: Option<JobDefinition>,
}

/// `multiInstanceLoopCharacteristics` with `zeebe:loopCharacteristics`.
///
/// Such an activity is two elements of the same ID. The body has the flows and the boundary events and is what
/// [`Process::by_id`] finds; the activity itself is its only child and has the mappings and everything that makes up
/// its kind.
#[derive(Debug)]
pub struct MultiInstance {
    /// The activity itself.
    pub inner: ElementIndex,
    /// One after the other instead of all at once.
    pub is_sequential: bool,
    /// The list.
    pub input_collection: Expression,
    /// Local variable that holds the item.
    pub input_element: Option<Arc<str>>,
    /// What is collected.
    pub output: Option<OutputCollection>,
    /// When the rest is not needed any more.
    pub completion_condition: Option<Expression>,
}

/// `standardLoopCharacteristics`. Body and activity are two elements as in [`MultiInstance`].
#[derive(Debug)]
pub struct StandardLoop {
    /// The activity itself.
    pub inner: ElementIndex,
    /// Whether the condition is asked before the first round too.
    pub test_before: bool,
    /// Rounds at most.
    pub maximum: Option<u32>,
    /// Whether there is another round; without it, as many as there may be.
    pub condition: Option<Expression>,
}

/// `outputCollection` and `outputElement`.
#[derive(Debug)]
pub struct OutputCollection {
    /// Variable that holds the list in the end.
    pub variable: Arc<str>,
    /// What each instance adds to it.
    pub element: Expression,
}

/// Start event.
#[derive(Debug)]
pub struct StartEvent {
    /// The form that people fill in to start an instance.
    pub form: Option<FormReference>,
    /// What starts it.
    pub trigger: Trigger,
    /// Whether it ends everything else in the scope of its event sub-process.
    pub interrupting: bool,
}

/// Boundary event.
#[derive(Debug)]
pub struct Boundary {
    /// The activity it is attached to.
    pub attached_to: ElementIndex,
    /// Whether it ends the activity.
    pub interrupting: bool,
    /// What it waits for.
    pub trigger: Trigger,
}

/// What a throw event or an end event tells.
#[derive(Debug)]
pub enum Throw {
    /// A signal of this name, to everybody.
    Signal(Text),
    /// A message, published without a job worker.
    Message(Box<PublishedMessage>),
    /// An escalation with this code, to the scopes around it.
    Escalation(Text),
    /// A link: the token goes on at this link catch event.
    Link {
        /// Name of the link.
        name: Arc<str>,
        /// The catch event of that name in the same scope.
        target: ElementIndex,
    },
}

/// What an event waits for.
#[derive(Debug)]
pub enum Trigger {
    /// Nothing.
    None,
    /// A message.
    Message(MessageDefinition),
    /// A point in time.
    Timer(TimerDefinition),
    /// That the completed activity is compensated.
    Compensation {
        /// The activity that undoes what it did.
        handler: ElementIndex,
    },
    /// That the transaction is cancelled.
    Cancel,
    /// A BPMN error thrown inside the activity; `None` catches every code.
    Error(Option<Arc<str>>),
    /// An escalation from inside the activity; `None` catches every code.
    Escalation(Option<Arc<str>>),
    /// A signal of this name.
    Signal(Text),
    /// That a condition is met.
    Condition(ConditionDefinition),
}

/// A conditional event definition.
#[derive(Debug, Clone)]
pub struct ConditionDefinition {
    /// The condition.
    pub expression: Expression,
    /// Whether it is looked at when a variable of it is created.
    pub on_create: bool,
    /// Whether it is looked at when a variable of it is updated.
    pub on_update: bool,
}

/// What an end event does.
#[derive(Debug)]
pub enum End {
    /// Nothing more.
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
    /// Name.
    pub name: Text,
    /// `zeebe:subscription correlationKey`; absent where only process-level start events use the message.
    pub correlation_key: Option<Expression>,
}

/// `zeebe:publishMessage` of an element that refers to a message.
#[derive(Debug)]
pub struct PublishedMessage {
    /// Name of the message.
    pub name: Text,
    /// Who it is for; nobody in particular if the model says nothing.
    pub correlation_key: Option<Text>,
    /// By which a message published again is told.
    pub message_id: Option<Text>,
    /// How long it waits for somebody: a duration or milliseconds; not at all if the model says nothing.
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
    /// Job type.
    pub job_type: Text,
    /// Retries; `3` if the model says nothing.
    pub retries: Text,
    /// `zeebe:taskHeaders` without empty values, in document order.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
    /// The same headers as a JSON object, made once.
    pub headers_json: Arc<str>,
    /// `zeebe:linkedResources`, in document order.
    pub linked_resources: Vec<LinkedResource>,
    /// What is found out about a user task that a worker does when its job is created.
    pub user_task: Option<Box<WorkerUserTask>>,
}

/// What is found out about a user task that a worker does when its job is created. The rest is in its headers.
#[derive(Debug)]
pub struct WorkerUserTask {
    /// Expressions only.
    pub details: TaskDetails,
    /// The form, if it is deployed on its own.
    pub form: Option<FormReference>,
}

/// `zeebe:linkedResource`: a deployed file that a job worker is told about.
#[derive(Debug)]
pub struct LinkedResource {
    /// ID of the resource.
    pub id: Text,
    /// How the version is chosen.
    pub binding: Binding,
    /// What the worker takes it for.
    pub resource_type: Arc<str>,
    /// How the worker calls it; empty if the model says nothing.
    pub link_name: Arc<str>,
}

/// A user task without a job worker.
#[derive(Debug)]
pub struct UserTask {
    /// Who should do it, and when.
    pub details: TaskDetails,
    /// `zeebe:priorityDefinition`; 50 if the model says nothing.
    pub priority: Option<Text>,
    /// What people fill in.
    pub form: Option<TaskForm>,
    /// `zeebe:taskHeaders` as a JSON object, made once.
    pub headers_json: Arc<str>,
    /// `zeebe:taskListeners`, in order.
    pub listeners: Vec<TaskListener>,
}

/// Who should do a user task, and when.
#[derive(Debug, Default)]
pub struct TaskDetails {
    /// `zeebe:assignmentDefinition assignee`.
    pub assignee: Option<Text>,
    /// `candidateUsers`: static text is a list with commas.
    pub candidate_users: Option<Text>,
    /// `candidateGroups`: static text is a list with commas.
    pub candidate_groups: Option<Text>,
    /// `zeebe:taskSchedule dueDate`.
    pub due_date: Option<Text>,
    /// `followUpDate`.
    pub follow_up_date: Option<Text>,
}

/// The form of a user task.
#[derive(Debug)]
pub enum TaskForm {
    /// Deployed on its own.
    Deployed(FormReference),
    /// Known to somebody else by this name.
    External(Text),
}

/// A listener of a user task.
#[derive(Debug)]
pub struct TaskListener {
    /// Before what.
    pub event: TaskEvent,
    /// Its job.
    pub listener: Listener,
}

/// The moments of a user task that have listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEvent {
    /// Before it is there.
    Creating,
    /// Before it has another assignee.
    Assigning,
    /// Before it is changed.
    Updating,
    /// Before it is completed.
    Completing,
    /// Before it is canceled.
    Canceling,
}

/// `zeebe:calledElement`.
#[derive(Debug)]
pub struct Call {
    /// ID of the called process.
    pub process_id: Text,
    /// How the version is chosen.
    pub binding: Binding,
    /// Whether all variables of the child go to the parent at its end.
    pub propagate_all_child_variables: bool,
    /// Whether the child gets all variables visible at the call, or the local ones only.
    pub propagate_all_parent_variables: bool,
}

/// `zeebe:calledDecision`.
#[derive(Debug)]
pub struct CalledDecision {
    /// ID of the decision.
    pub id: Text,
    /// How the version is chosen.
    pub binding: Binding,
    /// Variable that gets the result.
    pub result_variable: Arc<str>,
}

/// How a reference to another definition chooses its version.
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
    /// How the version is chosen.
    pub binding: Binding,
}

macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $(#[doc = $text] $(#[$vmeta])* $variant),* }

        impl $type {
            /// All of them.
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
