//! The engine's protocol: commands in, responses and records out, and their encoding.
//!
//! A [`Batch`] of [`Command`]s is one entry of the replicated log, so its encoding is what must stay readable over
//! releases: fields are tagged by number, new ones are optional. Nothing here decides anything; that is `engine`.

mod actor;
mod agent;
mod batch;
mod batch_operation;
mod batch_query;
mod clock;
mod cluster_change;
mod cluster_variable;
mod command;
mod document;
mod entry_limit;
mod event;
mod global_listener;
mod idempotency;
mod identity;
mod intent;
mod job_kind;
mod key;
mod migration;
mod modification;
mod name;
mod parking;
mod partition_message;
mod path_id;
mod query;
mod record;
mod rejection;
mod response;
mod settings;
mod subjects;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod user_task;
mod version;

pub use actor::{Actor, ActorType};
pub use agent::{
    AgentConfiguration, AgentHistoryItem, AgentItemMetrics, AgentJob, AgentLimits, AgentMetrics, AgentRole,
    AgentStatus, CreateAgentInstance, CreatedHistoryItem, UpdateAgentInstance,
};
pub use batch::{Batch, BatchDigest, BatchOrigin, CodecError, Demand};
pub use batch_operation::{
    AddBatchItems, BatchAction, BatchItemState, BatchOperationChange, BatchOperationCreated,
    BatchOperationState, BatchOperationType, CreateBatchOperation, HistoryKind, HistoryOwner, JobChangeset,
};
pub use batch_query::{BatchItemView, BatchOperationView, BatchSearch};
pub use clock::Clock;
pub use cluster_change::ClusterChange;
pub use cluster_variable::{ClusterVariable, ClusterVariableAction, ClusterVariableKind};
pub use command::{
    ActivateAdHoc, AwaitResult, Command, CommandClass, CommandFacts, CompleteJob, CreateInstance,
    DecisionRef, DefinitionRef, DeleteHistory, DeleteResource, Deploy, EvaluateDecision, FailJob, Resource,
    SetVariables, Subject, ThrowError, UpdateJob,
};
pub use document::{Document, DocumentError, Json};
pub use entry_limit::{ENTRIES_MAX, ENTRIES_SETTING};
pub use event::{BroadcastSignal, BusinessIdClaim, CorrelateMessage, EvaluateConditionals, PublishMessage};
pub use global_listener::{GlobalListener, GlobalListenerCommand, GlobalListenerSource};
pub use idempotency::Idempotency;
pub use identity::{
    Access, Authorization, AuthorizationScope, AuthorizationView, Caller, Circle, CircleKind, EntityType,
    Grants, IdentityCommand, MappingRule, Membership, PasswordHash, PermissionType, Principal, ResourceType,
    SavedView, SavedViewCommand, User, UserChange, UserTaskProperty,
};
pub use intent::{Intent, ValueType};
pub use job_kind::{JobKind, JobListenerEventType};
pub use key::{FIRST_PARTITION, Key, PartitionId, compose_key, partition_of, partition_of_text};
pub use migration::{ElementMapping, MigrateInstance, MigrationPlan};
pub use modification::{
    ActivationInstruction, AncestorScope, ElementSource, ModifyInstance, MoveElement, ScopeVariables,
};
pub use name::{DEFAULT_TENANT, Name};
pub use parking::ParkRecord;
pub use partition_message::{
    BroadcastElsewhere, Correlate, CorrelationAnswer, CorrelationOutcome, DistributedRow, DistributedRows,
    OpenSubscription, Parcel, PartitionMessage, RemoteBatchItem, RemoteBatchOutcome,
};
pub use path_id::{is_kept_in_paths, is_path_part};
pub use query::{
    BannedInstanceView, CallHierarchyEntry, CircleView, ClusterVariableView, DecisionRequirementsView,
    DecisionView, ElementInstanceView, ErrorView, FailingDefinitionView, FileView, IdentityQuery,
    IdentityReply, IncidentView, Instances, Page, ProcessDefinitionView, ProcessInstanceView, Query,
    QueryReply, RunningDefinitionView, ScopeView, SourceOf, SubscriptionView, UserTaskView, UserView,
    VariableView, error_hash,
};
pub use record::{
    ActivateInstructionRecord, AdHocSubProcessInstructionRecord, AgentDefinitionRecord,
    AgentDefinitionValues, AgentHistoryIntent, AgentHistoryRecord, AgentInstanceIntent, AgentInstanceRecord,
    AuthorizationRecord, BatchMigrationPlan, BatchModificationPlan, BatchMoveInstruction,
    BatchOperationChunkRecord, BatchOperationCreationRecord, BatchOperationExecutionRecord,
    BatchOperationInitializationRecord, BatchOperationIntent, BatchOperationItem,
    BatchOperationLifecycleRecord, BatchOperationPartitionRecord, ClockRecord, ClusterVariableRecord,
    CompensationSubscriptionRecord, ConditionalEvaluationRecord, ConditionalSubscriptionIntent,
    ConditionalSubscriptionRecord, CreationRuntimeInstructionRecord, DecisionEvaluationRecord,
    DecisionRecord, DecisionRequirementsRecord, DeployedIntent, DeploymentRecord, ErrorRecord,
    EscalationRecord, EvaluatedDecisionRecord, EvaluatedInputRecord, EvaluatedOutputRecord, FormRecord,
    GlobalListenerRecord, GroupRecord, HistoryDeletionRecord, IdentityIntent, IncidentIntent, IncidentRecord,
    JobIntent, JobRecord, MappingRuleRecord, MatchedRuleRecord, MessageRecord,
    MessageStartSubscriptionIntent, MessageStartSubscriptionRecord, MessageSubscriptionIntent,
    MessageSubscriptionRecord, MoveInstructionRecord, MultiInstanceRecord, ProcessInstanceBatchRecord,
    ProcessInstanceCreationRecord, ProcessInstanceIntent, ProcessInstanceMigrationRecord,
    ProcessInstanceModificationRecord, ProcessInstanceRecord, ProcessIntent, ProcessRecord, PurgeRecord,
    Record, RecordValue, RecordedInstance, ResourceDeletionRecord, ResourceRecord, RoleRecord,
    RuntimeInstructionRecord, SignalRecord, SignalSubscriptionIntent, SignalSubscriptionRecord,
    StartInstructionRecord, StartedInstanceRecord, TenantRecord, TerminateInstructionRecord, TimerIntent,
    TimerRecord, UserRecord, UserTaskIntent, UserTaskRecord, VariableDocumentRecord,
    VariableInstructionRecord, VariableIntent, VariableRecord, Word,
};
pub use rejection::{Rejection, RejectionType};
pub use response::{
    ActivatedJob, DeployedDecision, DeployedFile, DeployedProcess, DeployedRequirements, DeploymentCreated,
    InstanceCreated, Response,
};
pub use settings::{
    BpmnSettings, DmnSettings, IdempotencySettings, PartitionSettings, Settings, WorkSettings,
};
pub use user_task::{
    ActivateElement, JobResult, UserTaskChanges, UserTaskCommand, UserTaskOperation, UserTaskProperties,
};
pub use version::{ENGINE_VERSION, FIRST_ACTIVE_VERSION};

/// The version of the compatible system whose API and records are spoken.
pub const COMPATIBLE_VERSION: &str = "8.9.0";
