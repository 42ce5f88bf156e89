//! Commands: what may be asked of a partition. Everything the engine needs from the world is in them.

#![expect(missing_docs, reason = "names say what is held")]

mod business_id;
mod decision;
mod entries;
mod facts;
mod sent;

use minicbor::{Decode, Encode};

pub use self::decision::{DecisionRef, EvaluateDecision};
pub use self::facts::{CommandClass, CommandFacts, Subject};
use crate::HistoryKind;
use crate::{
    ActivateElement, AddBatchItems, BatchOperationChange, BroadcastSignal, BusinessIdClaim, Caller, Clock,
    ClusterVariable, CorrelateMessage, CreateAgentInstance, CreateBatchOperation, Document,
    EvaluateConditionals, GlobalListenerCommand, Idempotency, IdentityCommand, JobResult, Key,
    MigrateInstance, ModifyInstance, Name, Parcel, ParkRecord, PartitionId, PublishMessage, Settings,
    UpdateAgentInstance, UserTaskCommand,
};

/// A command, as it stands in the log.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Command {
    /// Deploys resources, all or none.
    #[n(0)]
    Deploy(#[n(0)] Deploy),
    /// Deletes a deployed resource.
    #[n(1)]
    DeleteResource(#[n(0)] DeleteResource),
    /// Deletes what is kept of something that has ended.
    #[n(210)]
    DeleteHistory(#[n(0)] DeleteHistory),
    /// Creates a process instance.
    #[n(2)]
    CreateInstance(#[n(0)] CreateInstance),
    /// Cancels a process instance.
    #[n(3)]
    CancelInstance {
        /// Key of a root process instance.
        #[n(0)]
        process_instance_key: Key,
        /// Echoed in the records of this command.
        #[n(1)]
        operation_reference: Option<u64>,
    },
    /// Has a process instance stand still until it is resumed.
    #[n(181)]
    SuspendInstance {
        #[n(0)]
        process_instance_key: Key,
        /// Echoed in the records of this command.
        #[n(1)]
        operation_reference: Option<u64>,
    },
    /// Lets a suspended process instance go on.
    #[n(182)]
    ResumeInstance {
        #[n(0)]
        process_instance_key: Key,
        /// Echoed in the records of this command.
        #[n(1)]
        operation_reference: Option<u64>,
    },
    /// Gives a root process instance without a business ID one.
    #[n(183)]
    AssignBusinessId {
        #[n(0)]
        process_instance_key: Key,
        #[n(1)]
        claim: BusinessIdClaim,
    },
    /// Begins to keep what an agent does for an element instance.
    #[n(190)]
    CreateAgentInstance(#[n(0)] Box<CreateAgentInstance>),
    /// Tells what an agent does now.
    #[n(191)]
    UpdateAgentInstance(#[n(0)] Box<UpdateAgentInstance>),
    #[n(4)]
    CompleteJob(#[n(0)] CompleteJob),
    #[n(5)]
    FailJob(#[n(0)] FailJob),
    /// Throws a BPMN error from a job.
    #[n(6)]
    ThrowError(#[n(0)] ThrowError),
    /// Changes retries or timeout of a job.
    #[n(7)]
    UpdateJob(#[n(0)] UpdateJob),
    /// Gives jobs back that could not be handed to their worker. Written by the leader only.
    #[n(8)]
    YieldJobs {
        #[n(0)]
        job_keys: Vec<Key>,
        /// Times until which the worker had them, in the order of the keys: a job that was activated again since is
        /// with another worker, and stays there.
        #[n(1)]
        deadlines_ms: Option<Vec<i64>>,
    },
    #[n(9)]
    PublishMessage(#[n(0)] PublishMessage),
    /// Correlates a message now, or not at all.
    #[n(10)]
    CorrelateMessage(#[n(0)] CorrelateMessage),
    #[n(11)]
    ResolveIncident {
        #[n(0)]
        incident_key: Key,
        /// Echoed in the records of this command.
        #[n(1)]
        operation_reference: Option<u64>,
    },
    /// Sets variables of a scope.
    #[n(12)]
    SetVariables(#[n(0)] SetVariables),
    /// Pins or resets the clock.
    #[n(13)]
    Clock(#[n(0)] Clock),
    /// Triggers what is due at the time of the batch. Written by the leader only.
    #[n(14)]
    Tick,
    /// Goes on with steps that an earlier command left over. Written by the leader only.
    #[n(15)]
    Continue {
        /// Stop when so many records were written; owners of steps take turns. Without it, the oldest go first.
        #[n(0)]
        max_records: Option<u32>,
    },
    /// Notes how far an exporter has come. Written by the leader only.
    #[n(16)]
    AcknowledgeExport {
        /// ID of the exporter.
        #[n(0)]
        exporter: Name,
        /// All records up to this position are exported.
        #[n(1)]
        position: u64,
    },
    /// Keeps a record that an exporter's target refuses. Written by the leader only.
    #[n(21)]
    ParkRecord(#[n(0)] Box<ParkRecord>),
    /// Forgets records that a target has taken now. Written by the leader only.
    #[n(22)]
    UnparkRecords {
        /// ID of the exporter.
        #[n(0)]
        exporter: Name,
        /// Positions of the records.
        #[n(1)]
        positions: Vec<u64>,
    },
    /// Has commands applied under these settings from here on. Written by the leader only.
    #[n(19)]
    Configure {
        #[n(0)]
        settings: Box<Settings>,
    },
    /// Has batches ask for this version of the engine from here on. Written by the leader only, once all replicas know
    /// the version.
    #[n(20)]
    ActivateVersion {
        #[n(0)]
        version: u16,
    },
    /// Removes all data, as a change of the cluster.
    #[n(23)]
    Purge {
        /// The last change of the cluster when it was asked for, 0 before the first. After another one it is refused:
        /// it came late. `None`: it is done anyway, unless one goes on.
        #[n(0)]
        after: Option<u64>,
    },
    /// Messages of another partition. Written by the leader only, for the sender.
    #[n(25)]
    Receive(#[n(0)] Box<Parcel>),
    /// Forgets messages that another partition has received. Written by the leader only.
    #[n(26)]
    AcknowledgeMessages {
        #[n(0)]
        target: PartitionId,
        /// All messages up to this number.
        #[n(1)]
        up_to: u64,
    },
    /// Notes that a change of the cluster is complete.
    #[n(24)]
    EndChange(#[n(0)] u64),
    /// Tells a signal to everybody who waits for its name.
    #[n(140)]
    BroadcastSignal(#[n(0)] BroadcastSignal),
    /// Evaluates conditional start events; those whose condition is met start an instance each.
    #[n(141)]
    EvaluateConditionals(#[n(0)] EvaluateConditionals),
    /// Lets the commands of a banned process instance run again.
    #[n(17)]
    Unban {
        #[n(0)]
        process_instance_key: Key,
    },
    /// Forgets how far an exporter had come.
    #[n(18)]
    ForgetExporter {
        /// ID of the exporter.
        #[n(0)]
        exporter: Name,
    },
    /// Activates elements of an ad-hoc sub-process.
    #[n(160)]
    ActivateAdHoc(#[n(0)] ActivateAdHoc),
    /// Moves a process instance to another definition.
    #[n(200)]
    MigrateInstance(#[n(0)] MigrateInstance),
    #[n(201)]
    CreateBatchOperation(#[n(0)] CreateBatchOperation),
    /// Suspends, resumes or cancels a batch operation.
    #[n(202)]
    ChangeBatchOperation {
        #[n(0)]
        batch_operation_key: Key,
        #[n(1)]
        change: BatchOperationChange,
    },
    /// Resolves all incidents of one process instance by a batch operation.
    #[n(203)]
    ResolveInstanceIncidents {
        #[n(0)]
        process_instance_key: Key,
    },
    /// Hands over items of a batch operation.
    #[n(204)]
    AddBatchItems(#[n(0)] AddBatchItems),
    /// Modifies a process instance, as a whole or not at all.
    #[n(180)]
    ModifyInstance(#[n(0)] ModifyInstance),
    /// Evaluates a decision outside of any process.
    #[n(100)]
    EvaluateDecision(#[n(0)] EvaluateDecision),
    /// Assigns, changes or completes a user task.
    #[n(120)]
    UserTask(#[n(0)] UserTaskCommand),
    /// Creates, changes or deletes a listener of all user tasks.
    #[n(121)]
    GlobalListener(#[n(0)] GlobalListenerCommand),
    /// Creates, changes or deletes a variable of the cluster or of a tenant.
    #[n(220)]
    ClusterVariable(#[n(0)] ClusterVariable),
    /// Changes who there is and what they may do.
    #[n(240)]
    Identity(#[n(0)] IdentityCommand),
    /// A command with its caller. Without it, the command comes from the leader, or authentication is off, and nothing
    /// is checked.
    #[n(241)]
    Asked {
        #[n(0)]
        by: Box<Caller>,
        /// For what; none of this kind again.
        #[n(1)]
        command: Box<Command>,
    },
    /// Does a command once: one with the same key again gets the first answer.
    #[n(242)]
    Idempotent {
        #[n(0)]
        by: Idempotency,
        /// With its caller, if known; none of this kind again.
        #[n(1)]
        command: Box<Command>,
    },
}

/// See [`Command::Deploy`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Deploy {
    #[n(0)]
    pub resources: Vec<Resource>,
    /// Owner of the new definitions.
    #[n(1)]
    pub tenant_id: Name,
}

/// One file of a deployment.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Resource {
    /// File name; its ending tells the kind.
    #[n(0)]
    pub name: Name,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub content: Vec<u8>,
}

/// See [`Command::DeleteHistory`]. The engine has forgotten what it is about; its names come from where it was found.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DeleteHistory {
    #[n(0)]
    pub kind: HistoryKind,
    /// Key of the process instance, or of the evaluation of a decision.
    #[n(1)]
    pub key: Key,
    /// ID of the process or the decision.
    #[n(2)]
    pub definition_id: Name,
    #[n(3)]
    pub tenant_id: Name,
    /// Echoed in the records of this command.
    #[n(4)]
    pub operation_reference: Option<u64>,
}

/// See [`Command::DeleteResource`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DeleteResource {
    /// Key of a process definition, decision requirements graph, form or other resource.
    #[n(0)]
    pub resource_key: Key,
    /// Echoed in the records of this command.
    #[n(1)]
    pub operation_reference: Option<u64>,
    /// Whether the histories of its instances, or of the evaluations of its decisions, are deleted by a batch
    /// operation.
    #[cbor(n(2), default)]
    pub delete_history: bool,
}

/// Which process definition is meant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum DefinitionRef {
    #[n(0)]
    Key(#[n(0)] Key),
    /// By ID and version.
    #[n(1)]
    Id {
        #[n(0)]
        id: Name,
        /// Version; `None` is the latest.
        #[n(1)]
        version: Option<u32>,
    },
}

/// See [`Command::CreateInstance`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CreateInstance {
    #[n(0)]
    pub definition: DefinitionRef,
    /// Tenant of the definition.
    #[n(1)]
    pub tenant_id: Name,
    /// Variables of the instance.
    #[n(2)]
    pub variables: Document,
    /// Set when the response waits for the end of the instance.
    #[n(3)]
    pub await_result: Option<AwaitResult>,
    /// Tags of the instance.
    #[n(4)]
    pub tags: Vec<Name>,
    /// Business ID of the instance.
    #[n(5)]
    pub business_id: Option<Name>,
    /// Echoed in the records of this command.
    #[n(6)]
    pub operation_reference: Option<u64>,
    /// IDs of the elements to start before; empty starts at the none start event.
    #[cbor(n(7), default)]
    pub start_before: Vec<Name>,
    /// IDs of elements; when one of them has ended, the instance is terminated.
    #[cbor(n(8), default)]
    pub terminate_after: Vec<Name>,
    /// Whether the creation is refused while another root instance of the process has the business ID. Set by the
    /// leader.
    #[cbor(n(9), default)]
    pub unique_business_id: bool,
}

impl CreateInstance {
    /// A creation with nothing but its definition, of the default tenant.
    pub fn of(definition: DefinitionRef) -> Self {
        Self {
            definition,
            tenant_id: Name::default_tenant(),
            variables: Document::empty(),
            await_result: None,
            tags: Vec::new(),
            business_id: None,
            operation_reference: None,
            start_before: Vec::new(),
            terminate_after: Vec::new(),
            unique_business_id: false,
        }
    }
}

/// Asks for the response at the end of the instance.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct AwaitResult {
    /// Number that the leader gave the waiting request; comes back with the response.
    #[n(0)]
    pub request_id: u64,
    /// Names of the variables to return; empty means all.
    #[n(1)]
    pub fetch_variables: Vec<Name>,
}

/// See [`Command::CompleteJob`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CompleteJob {
    #[n(0)]
    pub job_key: Key,
    #[n(1)]
    pub variables: Document,
    /// Further results, for listeners and ad-hoc sub-processes.
    #[n(2)]
    pub result: Option<Box<JobResult>>,
    /// Token of the activation that it is for; without one, of whichever there is.
    #[n(3)]
    pub lease: Option<Name>,
    /// Given to the process instance of the job, which has none.
    #[n(4)]
    pub business_id: Option<BusinessIdClaim>,
}

impl CompleteJob {
    /// A completion with nothing but variables.
    pub fn of(job_key: Key, variables: Document) -> Self {
        Self { job_key, variables, result: None, lease: None, business_id: None }
    }
}

/// See [`Command::ActivateAdHoc`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ActivateAdHoc {
    /// Key of the instance of the ad-hoc sub-process.
    #[n(0)]
    pub element_instance_key: Key,
    /// Elements to activate, each with local variables.
    #[n(1)]
    pub elements: Vec<ActivateElement>,
    /// Whether what already runs inside is terminated.
    #[n(2)]
    pub cancel_remaining_instances: bool,
}

/// See [`Command::FailJob`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct FailJob {
    #[n(0)]
    pub job_key: Key,
    #[n(1)]
    pub retries: i32,
    /// How long to wait before the job may be activated again, in milliseconds.
    #[n(2)]
    pub retry_backoff_ms: i64,
    #[n(3)]
    pub error_message: Name,
    /// Set as local variables of the task.
    #[n(4)]
    pub variables: Document,
    /// Token of the activation that it is for; without one, of whichever there is.
    #[n(5)]
    pub lease: Option<Name>,
}

/// See [`Command::ThrowError`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ThrowError {
    #[n(0)]
    pub job_key: Key,
    /// Code that a catch event compares.
    #[n(1)]
    pub error_code: Name,
    #[n(2)]
    pub error_message: Name,
    /// Given to the catch event.
    #[n(3)]
    pub variables: Document,
    /// Token of the activation that it is for; without one, of whichever there is.
    #[n(4)]
    pub lease: Option<Name>,
}

/// See [`Command::UpdateJob`]; at least one change is set.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct UpdateJob {
    #[n(0)]
    pub job_key: Key,
    /// New number of retries, above 0.
    #[n(1)]
    pub retries: Option<i32>,
    /// New timeout from now, in milliseconds.
    #[n(2)]
    pub timeout_ms: Option<i64>,
    /// Echoed in the records of this command.
    #[n(3)]
    pub operation_reference: Option<u64>,
    /// New priority.
    #[n(4)]
    pub priority: Option<i32>,
    /// Token of the activation that it is for; without one, of whichever there is.
    #[n(5)]
    pub lease: Option<Name>,
}

/// See [`Command::SetVariables`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct SetVariables {
    /// Key of an element instance or process instance.
    #[n(0)]
    pub element_instance_key: Key,
    #[n(1)]
    pub variables: Document,
    /// Whether they are set in exactly this scope, or where they exist on the way up.
    #[n(2)]
    pub local: bool,
    /// Echoed in the records of this command.
    #[n(3)]
    pub operation_reference: Option<u64>,
    /// Number that the leader gave the waiting request; listeners of a user task may delay the response.
    #[n(4)]
    pub request_id: Option<u64>,
}
