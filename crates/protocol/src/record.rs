//! Records: what happened, as exporters see it. Field names are those of the reference's exported records.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};
use serde::Serialize;

use crate::{
    ActivateElement, Actor, Document, ElementMapping, Intent, Json, Key, Name, PartitionId, ValueType,
};
use field::{base64, items_as_texts, json_as_text, key_or_none, raw_json};

/// One event of a partition.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Record {
    /// Position in the record stream of the partition; always growing, not always by one.
    #[n(0)]
    pub position: u64,
    /// Position of the command that caused it.
    #[n(1)]
    pub source_position: u64,
    /// Key of the entity.
    #[n(2)]
    pub key: Key,
    #[n(3)]
    pub timestamp_ms: i64,
    #[n(4)]
    pub partition_id: PartitionId,
    #[n(5)]
    pub intent: Intent,
    /// The client's number for the command that caused it.
    #[n(6)]
    pub operation_reference: Option<u64>,
    /// The entity after it happened.
    #[n(7)]
    pub value: RecordValue,
    /// The batch operation that caused it.
    #[n(8)]
    pub batch_operation_reference: Option<Key>,
    /// Actor of exactly this change.
    #[n(9)]
    pub actor: Option<Actor>,
}

macro_rules! values {
    ($($variant:ident($record:ident) $($by_hand:ident)? = $number:literal),* $(,)?) => {
        /// The entity of a record.
        #[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
        #[serde(untagged)]
        pub enum RecordValue {
            $(#[doc = stringify!($variant)] #[n($number)] $variant(#[n(0)] Box<$record>)),*
        }

        impl RecordValue {
            /// Value type and value of the record.
            pub const fn value_type(&self) -> ValueType {
                match self { $(Self::$variant(_) => ValueType::$variant),* }
            }
        }

        $(from_record!($variant($record) $($by_hand)?);)*
    };
}

macro_rules! from_record {
    ($variant:ident($record:ident)) => {
        impl From<$record> for RecordValue {
            fn from(value: $record) -> Self {
                Self::$variant(Box::new(value))
            }
        }
    };
    // The same record stands for two values.
    ($variant:ident($record:ident) by_hand) => {};
}

values! {
    Job(JobRecord) = 0, Deployment(DeploymentRecord) = 1, ProcessInstance(ProcessInstanceRecord) = 2,
    Incident(IncidentRecord) = 3, Message(MessageRecord) = 4, MessageSubscription(MessageSubscriptionRecord) by_hand = 5,
    ProcessMessageSubscription(MessageSubscriptionRecord) by_hand = 6, Timer(TimerRecord) = 7,
    MessageStartEventSubscription(MessageStartSubscriptionRecord) = 8, Variable(VariableRecord) = 9,
    ProcessInstanceCreation(ProcessInstanceCreationRecord) = 10, Error(ErrorRecord) = 11, Process(ProcessRecord) = 12,
    ResourceDeletion(ResourceDeletionRecord) = 13, CompensationSubscription(CompensationSubscriptionRecord) = 170,
    Signal(SignalRecord) = 140, SignalSubscription(SignalSubscriptionRecord) = 141, Escalation(EscalationRecord) = 142,
    ConditionalSubscription(ConditionalSubscriptionRecord) = 143,
    ConditionalEvaluation(ConditionalEvaluationRecord) = 144,
    ProcessInstanceMigration(ProcessInstanceMigrationRecord) = 200,
    ProcessInstanceModification(ProcessInstanceModificationRecord) = 180, RuntimeInstruction(RuntimeInstructionRecord) = 181,
    DecisionRequirements(DecisionRequirementsRecord) = 100, Decision(DecisionRecord) = 101, Form(FormRecord) = 102,
    ClusterVariable(ClusterVariableRecord) = 220,
    Resource(ResourceRecord) = 103, DecisionEvaluation(DecisionEvaluationRecord) = 104,
    BatchOperationCreation(BatchOperationCreationRecord) = 201, BatchOperationChunk(BatchOperationChunkRecord) = 202,
    BatchOperationExecution(BatchOperationExecutionRecord) = 203,
    BatchOperationInitialization(BatchOperationInitializationRecord) = 204,
    BatchOperationLifecycleManagement(BatchOperationLifecycleRecord) = 205,
    BatchOperationPartitionLifecycle(BatchOperationPartitionRecord) = 206,
    HistoryDeletion(HistoryDeletionRecord) = 207,
    ProcessInstanceBatch(ProcessInstanceBatchRecord) = 160, MultiInstance(MultiInstanceRecord) = 161,
    AdHocSubProcessInstruction(AdHocSubProcessInstructionRecord) = 162,
    UserTask(UserTaskRecord) = 120, GlobalListener(GlobalListenerRecord) = 121,
    VariableDocument(VariableDocumentRecord) = 122, Clock(ClockRecord) = 230,
    User(UserRecord) = 240, Group(GroupRecord) = 241, Role(RoleRecord) = 242, Tenant(TenantRecord) = 243,
    MappingRule(MappingRuleRecord) = 244, Authorization(AuthorizationRecord) = 245,
    AgentDefinition(AgentDefinitionRecord) = 190, AgentInstance(AgentInstanceRecord) = 191,
    AgentHistory(AgentHistoryRecord) = 192, Purge(PurgeRecord) = 250,
}

macro_rules! records {
    ($($(#[$meta:meta])* $record:ident { $($number:literal $(#[$fmeta:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Encode, Decode, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $record {
            $(#[doc = stringify!($field)] #[n($number)] $(#[$fmeta])* pub $field: $type),*
        })*
    };
}

mod agent;
mod batch_operation;
mod definition;
mod exported;
mod field;
mod identity;
mod instance;
mod intents;
mod job;
mod message_subscription;
mod word;

pub use instance::{ProcessInstanceRecord, RecordedInstance, VariableRecord};
pub use intents::{
    AgentHistoryIntent, AgentInstanceIntent, BatchOperationIntent, ConditionalSubscriptionIntent,
    DeployedIntent, IdentityIntent, IncidentIntent, JobIntent, MessageStartSubscriptionIntent,
    MessageSubscriptionIntent, ProcessInstanceIntent, ProcessIntent, SignalSubscriptionIntent, TimerIntent,
    UserTaskIntent, VariableIntent,
};
pub use job::JobRecord;
pub use word::Word;

pub use agent::{AgentDefinitionRecord, AgentDefinitionValues, AgentHistoryRecord, AgentInstanceRecord};
pub use batch_operation::{
    BatchMigrationPlan, BatchModificationPlan, BatchMoveInstruction, BatchOperationChunkRecord,
    BatchOperationCreationRecord, BatchOperationExecutionRecord, BatchOperationInitializationRecord,
    BatchOperationItem, BatchOperationLifecycleRecord, BatchOperationPartitionRecord,
};
pub use definition::{
    DecisionEvaluationRecord, DecisionRecord, DecisionRequirementsRecord, EvaluatedDecisionRecord,
    EvaluatedInputRecord, EvaluatedOutputRecord, FormRecord, MatchedRuleRecord, ResourceRecord,
};
pub use identity::{
    AuthorizationRecord, GroupRecord, MappingRuleRecord, RoleRecord, TenantRecord, UserRecord,
};
pub use message_subscription::MessageSubscriptionRecord;

records! {
    IncidentRecord {
        0 error_type: Name, 1 error_message: Name, 2 bpmn_process_id: Name, 3 process_definition_key: Key,
        4 process_instance_key: Key, 5 element_id: Name, 6 element_instance_key: Key,
        7 #[serde(serialize_with = "key_or_none")] job_key: Option<Key>, 8 variable_scope_key: Key, 9 tenant_id: Name,
        10 root_process_instance_key: Key,
        11 #[cbor(default)] element_instance_path: Vec<Vec<Key>>, 12 #[cbor(default)] process_definition_path: Vec<Key>,
        13 #[cbor(default)] calling_element_path: Vec<u32>,
    }
    TimerRecord {
        0 #[serde(serialize_with = "key_or_none")] element_instance_key: Option<Key>,
        1 #[serde(serialize_with = "key_or_none")] process_instance_key: Option<Key>, 2 process_definition_key: Key,
        3 #[serde(rename = "dueDate")] due_date_ms: i64, 4 target_element_id: Name, 5 repetitions: i64, 6 tenant_id: Name,
        7 element_type: Option<Word>, 8 #[serde(serialize_with = "key_or_none")] root_process_instance_key: Option<Key>,
        9 bpmn_process_id: Option<Name>,
    }
    MessageRecord {
        0 name: Name, 1 correlation_key: Name, 2 message_id: Name, 3 #[serde(rename = "timeToLive")] time_to_live_ms: i64,
        4 #[serde(rename = "deadline")] deadline_ms: i64, 5 variables: Document, 6 tenant_id: Name, 7 business_id: Option<Name>,
    }
    /// A message start event that waits for messages.
    MessageStartSubscriptionRecord {
        0 process_definition_key: Key, 1 bpmn_process_id: Name, 2 start_event_id: Name, 3 message_name: Name,
        4 #[serde(serialize_with = "key_or_none")] process_instance_key: Option<Key>, 5 #[serde(serialize_with = "key_or_none")] message_key: Option<Key>,
        6 correlation_key: Name, 7 variables: Document, 8 tenant_id: Name, 9 business_id: Option<Name>,
    }
    ProcessInstanceCreationRecord {
        0 bpmn_process_id: Name, 1 version: u32, 2 process_definition_key: Key, 3 process_instance_key: Key,
        4 variables: Document, 5 fetch_variables: Vec<Name>, 6 tenant_id: Name, 7 tags: Vec<Name>, 8 business_id: Option<Name>,
        9 start_instructions: Vec<StartInstructionRecord>, 10 runtime_instructions: Vec<CreationRuntimeInstructionRecord>,
    }
    /// An element that a new instance starts before.
    StartInstructionRecord { 0 element_id: Name }
    /// Instructions for a new instance.
    CreationRuntimeInstructionRecord { 0 #[serde(rename = "type")] instruction_type: Name, 1 after_element_id: Name }
    /// A runtime instruction that took effect.
    RuntimeInstructionRecord { 0 process_instance_key: Key, 1 element_id: Name, 2 tenant_id: Name }
    ProcessInstanceModificationRecord {
        0 process_instance_key: Key, 1 activate_instructions: Vec<ActivateInstructionRecord>,
        2 move_instructions: Vec<MoveInstructionRecord>, 3 terminate_instructions: Vec<TerminateInstructionRecord>,
        4 tenant_id: Name, 5 root_process_instance_key: Key,
    }
    /// An element that a modification activates.
    ActivateInstructionRecord {
        0 element_id: Name, 1 #[serde(serialize_with = "key_or_none")] ancestor_scope_key: Option<Key>,
        2 variable_instructions: Vec<VariableInstructionRecord>,
    }
    /// Element instances that a modification ends in favour of another element.
    MoveInstructionRecord {
        0 source_element_id: Name, 1 #[serde(serialize_with = "key_or_none")] source_element_instance_key: Option<Key>,
        2 target_element_id: Name, 3 variable_instructions: Vec<VariableInstructionRecord>,
        4 #[serde(serialize_with = "key_or_none")] ancestor_scope_key: Option<Key>,
        5 infer_ancestor_scope_from_source_hierarchy: bool, 6 use_source_parent_key_as_ancestor_scope_key: bool,
    }
    /// Element instances that a modification terminates.
    TerminateInstructionRecord {
        0 element_id: Name, 1 #[serde(serialize_with = "key_or_none")] element_instance_key: Option<Key>,
    }
    /// Variables that a modification sets.
    VariableInstructionRecord { 0 element_id: Name, 1 variables: Document }
    /// A completed activity that can be compensated.
    CompensationSubscriptionRecord {
        0 tenant_id: Name, 1 process_instance_key: Key, 2 process_definition_key: Key, 3 compensable_activity_id: Name,
        4 throw_event_id: Name, 5 #[serde(serialize_with = "key_or_none")] throw_event_instance_key: Option<Key>,
        6 compensation_handler_id: Name, 7 #[serde(serialize_with = "key_or_none")] compensation_handler_instance_key: Option<Key>,
        8 compensable_activity_scope_key: Key, 9 compensable_activity_instance_key: Key, 10 variables: Document,
    }
    /// A variable of the cluster or of a tenant.
    ClusterVariableRecord {
        0 name: Name, 1 #[serde(serialize_with = "json_as_text")] value: Json, 2 scope: Name, 3 tenant_id: Name,
        4 #[cbor(default)] metadata: Document, 5 #[cbor(default)] kind: Name,
    }
    /// A failure of the engine itself; the instance is banned.
    ErrorRecord {
        0 exception_message: Name, 1 stacktrace: Name, 2 error_event_position: u64, 3 process_instance_key: Key,
    }
    /// A signal told to everybody who waits for its name.
    SignalRecord {
        0 signal_name: Name, 1 variables: Document, 2 tenant_id: Name,
    }
    /// A subscription to a signal. A start event has no instance.
    SignalSubscriptionRecord {
        0 process_definition_key: Key, 1 bpmn_process_id: Name, 2 signal_name: Name, 3 catch_event_id: Name,
        4 #[serde(serialize_with = "key_or_none")] catch_event_instance_key: Option<Key>, 5 tenant_id: Name,
        6 element_type: Option<Word>, 7 #[serde(serialize_with = "key_or_none")] process_instance_key: Option<Key>,
        8 #[serde(serialize_with = "key_or_none")] root_process_instance_key: Option<Key>,
    }
    /// An escalation, and who caught it, if anybody.
    EscalationRecord {
        0 process_instance_key: Key, 1 escalation_code: Name, 2 throw_element_id: Name, 3 catch_element_id: Name,
    }
    /// A subscription to a condition.
    ConditionalSubscriptionRecord {
        0 #[serde(serialize_with = "key_or_none")] scope_key: Option<Key>,
        1 #[serde(serialize_with = "key_or_none")] element_instance_key: Option<Key>,
        2 #[serde(serialize_with = "key_or_none")] process_instance_key: Option<Key>, 3 process_definition_key: Key,
        4 bpmn_process_id: Name, 5 catch_event_id: Name, 6 interrupting: bool, 7 condition: Name,
        8 variable_names: Vec<Name>, 9 variable_events: Vec<Name>, 10 tenant_id: Name,
        11 element_type: Option<Word>, 12 #[serde(serialize_with = "key_or_none")] root_process_instance_key: Option<Key>,
    }
    /// Conditional start events that were evaluated, and what they started.
    ConditionalEvaluationRecord {
        0 #[serde(serialize_with = "key_or_none")] process_definition_key: Option<Key>, 1 tenant_id: Name,
        2 variables: Document, 3 started_process_instances: Vec<StartedInstanceRecord>,
    }
    /// An instance that a condition started.
    StartedInstanceRecord {
        0 process_definition_key: Key, 1 process_instance_key: Key,
    }
    ProcessRecord {
        0 bpmn_process_id: Name, 1 version: u32, 2 version_tag: Name, 3 process_definition_key: Key, 4 resource_name: Name,
        5 checksum: Name, 6 #[serde(serialize_with = "base64")] resource: Name, 7 duplicate: bool, 8 tenant_id: Name,
        9 deployment_key: Key,
    }
    DeploymentRecord {
        0 deployment_key: Key, 1 tenant_id: Name, 2 processes_metadata: Vec<ProcessRecord>,
        3 decisions_metadata: Vec<DecisionRecord>, 4 decision_requirements_metadata: Vec<DecisionRequirementsRecord>,
        5 form_metadata: Vec<FormRecord>, 6 resource_metadata: Vec<ResourceRecord>,
    }
    UserTaskRecord {
        0 user_task_key: Key, 1 assignee: Name, 2 candidate_groups_list: Vec<Name>, 3 candidate_users_list: Vec<Name>,
        4 due_date: Name, 5 follow_up_date: Name, 6 #[serde(serialize_with = "key_or_none")] form_key: Option<Key>,
        7 external_form_reference: Name, 8 variables: Document, 9 #[serde(serialize_with = "raw_json")] custom_headers: Name,
        10 changed_attributes: Vec<Name>, 11 action: Name, 12 #[serde(rename = "creationTimestamp")] creation_timestamp_ms: i64,
        13 priority: i32, 14 denied_reason: Name, 15 element_id: Name, 16 element_instance_key: Key,
        17 bpmn_process_id: Name, 18 process_definition_version: u32, 19 process_definition_key: Key,
        20 process_instance_key: Key, 21 root_process_instance_key: Key, 22 tenant_id: Name, 23 tags: Vec<Name>,
        24 business_id: Option<Name>,
    }
    /// A listener of all user tasks.
    GlobalListenerRecord {
        0 id: Name, 1 #[serde(rename = "type")] job_type: Name, 2 retries: i32, 3 event_types: Vec<Name>,
        4 after_non_global: bool, 5 priority: i32, 6 source: Name,
    }
    /// Variables that are set from outside.
    VariableDocumentRecord {
        0 scope_key: Key, 1 update_semantics: Name, 2 variables: Document, 3 tenant_id: Name,
    }
    /// The clock of the engine, pinned or running; what it shows.
    ClockRecord { 0 #[serde(rename = "time")] time_ms: i64 }
    /// All that was before is gone. For secondary storage alone.
    PurgeRecord { 0 change_id: u64 }
    ResourceDeletionRecord {
        0 resource_key: Key, 1 tenant_id: Name,
    }
    /// The deletion of what is kept of a process instance or a decision that has ended.
    HistoryDeletionRecord {
        0 resource_key: Key, 1 resource_type: Name, 2 process_id: Name, 3 decision_definition_id: Name, 4 tenant_id: Name,
    }
    ProcessInstanceMigrationRecord {
        0 process_instance_key: Key, 1 target_process_definition_key: Key, 2 mapping_instructions: Vec<ElementMapping>,
        3 tenant_id: Name, 4 root_process_instance_key: Key, 5 bpmn_process_id: Name,
    }
    /// A slice of the children of a scope that are activated or terminated; `index` tells where the slice begins.
    ProcessInstanceBatchRecord {
        0 process_instance_key: Key, 1 batch_element_instance_key: Key, 2 index: u64, 3 tenant_id: Name,
    }
    /// The collection of a multi-instance body.
    MultiInstanceRecord {
        0 process_instance_key: Key, 1 process_definition_key: Key, 2 bpmn_process_id: Name, 3 element_id: Name,
        4 element_instance_key: Key, 5 #[serde(serialize_with = "items_as_texts")] input_collection: Json,
        6 tenant_id: Name,
    }
    /// Activations inside an ad-hoc sub-process.
    AdHocSubProcessInstructionRecord {
        0 ad_hoc_sub_process_instance_key: Key, 1 activate_elements: Vec<ActivateElement>,
        2 cancel_remaining_instances: bool, 3 completion_condition_fulfilled: bool, 4 tenant_id: Name,
    }
}

impl From<MessageSubscriptionRecord> for RecordValue {
    fn from(record: MessageSubscriptionRecord) -> Self {
        match record.element_id {
            Some(_) => Self::ProcessMessageSubscription(Box::new(record)),
            None => Self::MessageSubscription(Box::new(record)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_shape_has_the_reference_names() {
        let record = crate::testing::variable(5, 1);
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["valueType"], "VARIABLE");
        assert_eq!(json["intent"], "CREATED");
        assert_eq!(json["operationReference"], -1);
        let of_operation = Record { operation_reference: Some(7), ..record.clone() };
        assert_eq!(serde_json::to_value(&of_operation).unwrap()["operationReference"], 7);
        assert_eq!(json["value"]["value"], "1");
        assert_eq!(json["value"]["processInstanceKey"], 2);
        let bytes = minicbor::to_vec(&record).unwrap();
        assert_eq!(minicbor::decode::<Record>(&bytes).unwrap(), record);
    }
}
