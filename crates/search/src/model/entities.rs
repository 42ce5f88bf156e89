//! The table of entities. Columns are named as the API names properties; those that it does not show stand last.
//! `always`: no row lacks it. `peak`: it is the largest of what was added, not the sum.

use super::entity::{Column, ColumnId, Entity, Index, IndexScope, Kind};
use super::entity_id::EntityId;

impl Entity {
    pub fn of(id: EntityId) -> &'static Self {
        ENTITIES[id as usize]
    }
}

macro_rules! columns {
    ($number:expr; ) => {};
    ($number:expr; $constant:ident $($rest:ident)*) => {
        #[doc = stringify!($constant)]
        pub const $constant: ColumnId = $number;
        columns!($number + 1; $($rest)*);
    };
}

macro_rules! entities {
    ($($(#[$meta:meta])* $variant:ident $module:ident { $($constant:ident $column:ident: $kind:ident $($mark:ident)?),* $(,)? }
       $(id begins with $begin:ident)?
       index $([$($index:ident)*])* $($scope:ident $arguments:tt $([$($partial:ident)*])*)*;)*) => {
        /// All entities, in the order of their IDs.
        pub static ENTITIES: &[&Entity] = &[$(&$module::ENTITY),*];

        $($(#[$meta])*
        pub mod $module {
            use super::{Column, ColumnId, Entity, EntityId, Kind};

            columns!(0; $($constant)*);

            const BEGIN: &[ColumnId] = &[$($begin)?];

            pub static ENTITY: Entity = Entity {
                id: EntityId::$variant,
                name: stringify!($module),
                columns: &[$(Column {
                    name: stringify!($column),
                    kind: Kind::$kind,
                    is_always_set: matches!(stringify!($($mark)?).as_bytes(), b"always"),
                    is_peak: matches!(stringify!($($mark)?).as_bytes(), b"peak"),
                }),*],
                indexes: &[
                    $(super::Index { columns: &[$($index),*], scope: super::IndexScope::All },)*
                    $($(super::Index { columns: &[$($partial),*], scope: super::IndexScope::$scope $arguments },)*)*
                ],
                id_begins_with: BEGIN.first().copied(),
            };
        })*
    };
}

entities! {
    ProcessInstance process_instance {
        KEY processInstanceKey: Key always, PROCESS_ID processDefinitionId: Text, PROCESS_NAME processDefinitionName: Text,
        VERSION processDefinitionVersion: Integer, VERSION_TAG processDefinitionVersionTag: Text, START startDate: Time always,
        END endDate: Time, STATE state: Text, HAS_INCIDENT hasIncident: Flag, TENANT tenantId: Text,
        DEFINITION_KEY processDefinitionKey: Key, PARENT_INSTANCE_KEY parentProcessInstanceKey: Key,
        PARENT_ELEMENT_KEY parentElementInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, TAGS tags: List,
        BUSINESS_ID businessId: Text, PARTITION partitionId: Integer, SUSPENDED suspendedDate: Time,
    } index [START] [END] [DEFINITION_KEY START] [PROCESS_ID START]
        Unless(STATE, "COMPLETED") [STATE START] [DEFINITION_KEY STATE START] [PROCESS_ID STATE START]
        Above(HAS_INCIDENT) [STATE START]
        Set(PARENT_INSTANCE_KEY) [PARENT_INSTANCE_KEY] [ROOT_INSTANCE_KEY] Set(BUSINESS_ID) [BUSINESS_ID];

    ElementInstance element_instance {
        KEY elementInstanceKey: Key always, PROCESS_ID processDefinitionId: Text, START startDate: Time always, END endDate: Time,
        ELEMENT_ID elementId: Text, ELEMENT_NAME elementName: Text, TYPE type: Text, STATE state: Text,
        HAS_INCIDENT hasIncident: Flag, TENANT tenantId: Text, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, DEFINITION_KEY processDefinitionKey: Key, INCIDENT_KEY incidentKey: Key,
        SCOPE_KEY elementInstanceScopeKey: Key,
    } index [INSTANCE_KEY] [START] [DEFINITION_KEY ELEMENT_ID]
        Unless(STATE, "COMPLETED") [DEFINITION_KEY STATE ELEMENT_ID KEY HAS_INCIDENT] Apart(SCOPE_KEY, INSTANCE_KEY) [SCOPE_KEY];

    /// A sequence flow that was taken.
    SequenceFlow sequence_flow {
        ID sequenceFlowId: Text always, INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key,
        DEFINITION_KEY processDefinitionKey: Key, PROCESS_ID processDefinitionId: Text, ELEMENT_ID elementId: Text,
        TENANT tenantId: Text,
    } id begins with INSTANCE_KEY index;

    /// A variable of a process instance.
    Variable variable {
        KEY variableKey: Key always, NAME name: Text, VALUE value: Text, TENANT tenantId: Text, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, SCOPE_KEY scopeKey: Key, IS_TRUNCATED isTruncated: Flag,
        PROCESS_ID processDefinitionId: Text, DEFINITION_KEY processDefinitionKey: Key,
    } index [INSTANCE_KEY NAME] Cut(VALUE) [NAME VALUE] Apart(SCOPE_KEY, INSTANCE_KEY) [SCOPE_KEY];

    Incident incident {
        KEY incidentKey: Key always, PROCESS_ID processDefinitionId: Text, ERROR_TYPE errorType: Text, ERROR_MESSAGE errorMessage: Text,
        ELEMENT_ID elementId: Text, CREATED creationTime: Time always, STATE state: Text, TENANT tenantId: Text,
        DEFINITION_KEY processDefinitionKey: Key, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, ELEMENT_KEY elementInstanceKey: Key, JOB_KEY jobKey: Key,
        ERROR_HASH errorHashCode: Integer, HOLDERS holderKeys: List,
    } index [INSTANCE_KEY] [ROOT_INSTANCE_KEY] [STATE ERROR_HASH] [CREATED] [DEFINITION_KEY STATE] [ELEMENT_KEY];

    Job job {
        KEY jobKey: Key always, CUSTOM_HEADERS customHeaders: Json, DEADLINE deadline: Time, DENIED_REASON deniedReason: Text,
        ELEMENT_ID elementId: Text, ELEMENT_KEY elementInstanceKey: Key, END endTime: Time, ERROR_CODE errorCode: Text,
        ERROR_MESSAGE errorMessage: Text, HAS_FAILED_WITH_RETRIES_LEFT hasFailedWithRetriesLeft: Flag, IS_DENIED isDenied: Flag,
        KIND kind: Text, LISTENER_EVENT_TYPE listenerEventType: Text, PROCESS_ID processDefinitionId: Text,
        DEFINITION_KEY processDefinitionKey: Key, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, RETRIES retries: Integer, STATE state: Text, TENANT tenantId: Text,
        TYPE type: Text, WORKER worker: Text, CREATED creationTime: Time always, UPDATED lastUpdateTime: Time,
        BUSINESS_ID businessId: Text, PRIORITY priority: Integer, ACTIVATED activationTime: Time,
    } index [INSTANCE_KEY] [TYPE CREATED] [CREATED] Unless(STATE, "COMPLETED") [STATE CREATED] [TYPE STATE CREATED];

    UserTask user_task {
        KEY userTaskKey: Key always, NAME name: Text, STATE state: Text, ASSIGNEE assignee: Text, ELEMENT_ID elementId: Text,
        CANDIDATE_GROUPS candidateGroups: List, CANDIDATE_USERS candidateUsers: List, PROCESS_ID processDefinitionId: Text,
        CREATED creationDate: Time always, COMPLETED completionDate: Time, FOLLOW_UP followUpDate: Time, DUE dueDate: Time,
        TENANT tenantId: Text, EXTERNAL_FORM externalFormReference: Text, VERSION processDefinitionVersion: Integer,
        CUSTOM_HEADERS customHeaders: Json, PRIORITY priority: Integer, ELEMENT_KEY elementInstanceKey: Key,
        PROCESS_NAME processName: Text, DEFINITION_KEY processDefinitionKey: Key, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, FORM_KEY formKey: Key, TAGS tags: List, BUSINESS_ID businessId: Text,
    } index [STATE CREATED] [ASSIGNEE STATE] [INSTANCE_KEY] [CREATED] [DUE] [PRIORITY]
        Elements(CANDIDATE_GROUPS) [CANDIDATE_GROUPS] Elements(CANDIDATE_USERS) [CANDIDATE_USERS];

    /// A message subscription of an instance or a start event.
    MessageSubscription message_subscription {
        KEY messageSubscriptionKey: Key always, PROCESS_ID processDefinitionId: Text, DEFINITION_KEY processDefinitionKey: Key,
        INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, ELEMENT_ID elementId: Text,
        ELEMENT_KEY elementInstanceKey: Key, STATE messageSubscriptionState: Text, UPDATED lastUpdatedDate: Time always,
        MESSAGE_NAME messageName: Text, CORRELATION_KEY correlationKey: Text, TENANT tenantId: Text,
        TYPE messageSubscriptionType: Text, PROCESS_NAME processDefinitionName: Text, VERSION processDefinitionVersion: Integer,
        BUSINESS_ID businessId: Text, TOOL_NAME toolName: Text, CONNECTOR_TYPE inboundConnectorType: Text,
        TOOL_PROPERTIES toolProperties: Json, PROPERTIES extensionProperties: Json,
    } index [INSTANCE_KEY] [MESSAGE_NAME CORRELATION_KEY] [DEFINITION_KEY STATE] [UPDATED];

    /// A message that reached a subscription.
    CorrelatedMessage correlated_message_subscription {
        ID id: Text always, CORRELATION_KEY correlationKey: Text, TIME correlationTime: Time always, ELEMENT_ID elementId: Text,
        ELEMENT_KEY elementInstanceKey: Key, MESSAGE_KEY messageKey: Key, MESSAGE_NAME messageName: Text,
        PARTITION partitionId: Integer, PROCESS_ID processDefinitionId: Text, DEFINITION_KEY processDefinitionKey: Key,
        INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, SUBSCRIPTION_KEY subscriptionKey: Key,
        TENANT tenantId: Text, BUSINESS_ID businessId: Text,
    } index [INSTANCE_KEY] [MESSAGE_KEY] [TIME];

    ProcessDefinition process_definition {
        KEY processDefinitionKey: Key always, NAME name: Text, RESOURCE_NAME resourceName: Text, VERSION version: Integer,
        VERSION_TAG versionTag: Text, PROCESS_ID processDefinitionId: Text, TENANT tenantId: Text, HAS_START_FORM hasStartForm: Flag,
        STATE state: Text, XML xml: Text,
    } index [PROCESS_ID VERSION];

    DecisionDefinition decision_definition {
        KEY decisionDefinitionKey: Key always, DECISION_ID decisionDefinitionId: Text, REQUIREMENTS_ID decisionRequirementsId: Text,
        REQUIREMENTS_KEY decisionRequirementsKey: Key, REQUIREMENTS_NAME decisionRequirementsName: Text,
        REQUIREMENTS_VERSION decisionRequirementsVersion: Integer, NAME name: Text, TENANT tenantId: Text, VERSION version: Integer,
    } index [DECISION_ID VERSION] [REQUIREMENTS_KEY];

    /// A decision requirements graph.
    DecisionRequirements decision_requirements {
        KEY decisionRequirementsKey: Key always, REQUIREMENTS_ID decisionRequirementsId: Text, NAME decisionRequirementsName: Text,
        RESOURCE_NAME resourceName: Text, TENANT tenantId: Text, VERSION version: Integer, XML xml: Text,
    } index [REQUIREMENTS_ID VERSION];

    /// One decision that was evaluated.
    DecisionInstance decision_instance {
        ID decisionEvaluationInstanceKey: Text always, DECISION_ID decisionDefinitionId: Text, DECISION_KEY decisionDefinitionKey: Key,
        NAME decisionDefinitionName: Text, TYPE decisionDefinitionType: Text, VERSION decisionDefinitionVersion: Integer,
        EVALUATION_KEY decisionEvaluationKey: Key, ELEMENT_KEY elementInstanceKey: Key, DATE evaluationDate: Time always,
        FAILURE evaluationFailure: Text, DEFINITION_KEY processDefinitionKey: Key, INSTANCE_KEY processInstanceKey: Key,
        RESULT result: Text, ROOT_DECISION_KEY rootDecisionDefinitionKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key,
        STATE state: Text, TENANT tenantId: Text, REQUIREMENTS_KEY decisionRequirementsKey: Key,
        EVALUATED_INPUTS evaluatedInputs: Json, MATCHED_RULES matchedRules: Json, PROCESS_ID processDefinitionId: Text, BUSINESS_ID businessId: Text,
    } index [DATE] [DECISION_KEY STATE] [INSTANCE_KEY] [EVALUATION_KEY];

    Form form {
        KEY formKey: Key always, FORM_ID formId: Text, VERSION version: Integer, TENANT tenantId: Text, SCHEMA schema: Text,
        IS_DELETED isDeleted: Flag,
    } index [FORM_ID VERSION];

    BatchOperation batch_operation {
        KEY batchOperationKey: Key always, STATE state: Text, TYPE batchOperationType: Text, START startDate: Time, END endDate: Time,
        ACTOR_TYPE actorType: Text, ACTOR_ID actorId: Text, TOTAL operationsTotalCount: Integer,
        FAILED operationsFailedCount: Integer, COMPLETED operationsCompletedCount: Integer, ERRORS errors: Json,
    } index [STATE] [START] [END];

    /// One item of a batch operation.
    BatchItem batch_operation_item {
        ID id: Text always, TYPE operationType: Text, BATCH_KEY batchOperationKey: Key, ITEM_KEY itemKey: Key,
        INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, STATE state: Text,
        PROCESSED processedDate: Time, ERROR_MESSAGE errorMessage: Text,
    } index [BATCH_KEY STATE] [INSTANCE_KEY] [ITEM_KEY];

    /// Requests to delete history, until they are done.
    HistoryDeletion history_deletion {
        KEY historyDeletionKey: Key always, TYPE resourceType: Text, RESOURCE_KEY resourceKey: Key, TIME time: Time,
    } index [TIME];

    AuditLog audit_log {
        KEY auditLogKey: Key always, ENTITY_KEY entityKey: Text, ENTITY_TYPE entityType: Text, OPERATION_TYPE operationType: Text,
        BATCH_KEY batchOperationKey: Key, BATCH_TYPE batchOperationType: Text, TIMESTAMP timestamp: Time always, ACTOR_ID actorId: Text,
        ACTOR_TYPE actorType: Text, AGENT_ELEMENT_ID agentElementId: Text, TENANT tenantId: Text, RESULT result: Text,
        CATEGORY category: Text, PROCESS_ID processDefinitionId: Text, DEFINITION_KEY processDefinitionKey: Key,
        INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, ELEMENT_KEY elementInstanceKey: Key,
        JOB_KEY jobKey: Key, USER_TASK_KEY userTaskKey: Key, REQUIREMENTS_ID decisionRequirementsId: Text,
        REQUIREMENTS_KEY decisionRequirementsKey: Key, DECISION_ID decisionDefinitionId: Text, DECISION_KEY decisionDefinitionKey: Key,
        EVALUATION_KEY decisionEvaluationKey: Key, DEPLOYMENT_KEY deploymentKey: Key, FORM_KEY formKey: Key,
        RESOURCE_KEY resourceKey: Key, RELATED_KEY relatedEntityKey: Text, RELATED_TYPE relatedEntityType: Text,
        DESCRIPTION entityDescription: Text, CHANNEL_TYPE inboundChannelType: Text,
        CHANNEL_TOOL_NAME inboundChannelToolName: Text,
    } index [TIMESTAMP] [INSTANCE_KEY] [ENTITY_KEY] Set(ACTOR_ID) [ACTOR_ID];

    /// How many jobs came to what, by type, worker and minute.
    JobMetric job_metric {
        ID id: Text always, TIME time: Time, TYPE jobType: Text, WORKER worker: Text, TENANT tenantId: Text, CREATED created: Integer,
        COMPLETED completed: Integer, FAILED failed: Integer, LAST_CREATED lastCreated: Time, LAST_COMPLETED lastCompleted: Time,
        LAST_FAILED lastFailed: Time,
    } index [TIME];

    /// Usage metrics by tenant and interval.
    UsageMetric usage_metric {
        ID id: Text always, TIME time: Time, TENANT tenantId: Text, PROCESS_INSTANCES processInstances: Integer,
        DECISION_INSTANCES decisionInstances: Integer,
    } index [TIME];

    /// How many instances of an element have ended, by definition and by whoever counted them. Numbers that stores
    /// keep which cannot count many rows quickly.
    ElementCount element_count {
        ID id: Text always, DEFINITION_KEY processDefinitionKey: Key, ELEMENT_ID elementId: Text,
        PROCESS_ID processDefinitionId: Text, TENANT tenantId: Text, COMPLETED completed: Integer, TERMINATED terminated: Integer,
    } index [DEFINITION_KEY];

    /// Assignees of tasks, by tenant and interval.
    UsageAssignee usage_assignee {
        ID id: Text always, TIME time: Time, TENANT tenantId: Text, ASSIGNEE_HASH assigneeHash: Integer,
    } index [TIME];

    /// An element of a process that is an agent.
    AgentDefinition agent_definition {
        KEY agentDefinitionKey: Key always, TYPE agentType: Text, NAME name: Text, ELEMENT_ID elementId: Text,
        PROCESS_ID processDefinitionId: Text, DEFINITION_KEY processDefinitionKey: Key, VERSION processDefinitionVersion: Integer,
        VERSION_TAG processDefinitionVersionTag: Text, TENANT tenantId: Text,
    } index [DEFINITION_KEY] [PROCESS_ID VERSION];

    /// An agent that works, or has worked, for a process instance.
    AgentInstance agent_instance {
        KEY agentInstanceKey: Key always, DEFINITION_KEY agentDefinitionKey: Key, STATUS status: Text, DEFINITION definition: Json,
        METRICS metrics: Json, LIMITS limits: Json, TOOLS tools: Json, ELEMENT_ID elementId: Text,
        INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key,
        PROCESS_KEY processDefinitionKey: Key, PROCESS_ID processDefinitionId: Text, VERSION processDefinitionVersion: Integer,
        VERSION_TAG processDefinitionVersionTag: Text, TENANT tenantId: Text, CREATED creationDate: Time always,
        UPDATED lastUpdatedDate: Time, COMPLETED completionDate: Time, ELEMENT_KEYS elementInstanceKeys: List,
    } index [INSTANCE_KEY] [CREATED] [DEFINITION_KEY];

    /// An item of the history of an agent.
    AgentHistory agent_history {
        KEY historyItemKey: Key always, ITEM_ID historyItemId: Text, AGENT_KEY agentInstanceKey: Key,
        ELEMENT_KEY elementInstanceKey: Key, JOB_KEY jobKey: Key, LEASE jobLease: Text, LOOP_ITERATION loopIteration: Integer,
        ROLE role: Text, CONTENT content: Json, TOOL_CALLS toolCalls: Json, METRICS metrics: Json, COMMIT_STATUS commitStatus: Text,
        PRODUCED producedAt: Time, TOOLS tools: Json, MODEL model: Text, PROVIDER provider: Text, LIMITS limits: Json,
        SYSTEM_PROMPT systemPrompt: Json, INSTANCE_KEY processInstanceKey: Key, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key,
        PROCESS_ID processDefinitionId: Text, TENANT tenantId: Text,
    } index [AGENT_KEY PRODUCED] [INSTANCE_KEY];

    /// Something that an active element instance waits for, until it comes.
    WaitState wait_state {
        ID waitStateId: Text always, ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, INSTANCE_KEY processInstanceKey: Key,
        ELEMENT_KEY elementInstanceKey: Key, ELEMENT_ID elementId: Text, ELEMENT_TYPE elementType: Text, TENANT tenantId: Text,
        PROCESS_ID bpmnProcessId: Text, DETAILS details: Json, TYPE waitStateType: Text,
    } id begins with ELEMENT_KEY index [INSTANCE_KEY];

    /// One step of a process instance, where steps are kept. Its key is the position of its record.
    InstanceStep instance_step {
        KEY position: Key always, TIME time: Time always, TYPE kind: Text, INSTANCE_KEY processInstanceKey: Key,
        ROOT_INSTANCE_KEY rootProcessInstanceKey: Key, DEFINITION_KEY processDefinitionKey: Key,
        PROCESS_ID processDefinitionId: Text, TENANT tenantId: Text, ELEMENT_ID elementId: Text,
        ELEMENT_KEY elementInstanceKey: Key, SUBJECT_KEY subjectKey: Key, NAME name: Text, VALUE value: Text,
    } index [INSTANCE_KEY];

    /// How many elements took how long, by the hour of their end, what was measured, and the bucket of its length.
    ElementDuration element_duration {
        ID id: Text always, TIME time: Time, DEFINITION_KEY processDefinitionKey: Key, ELEMENT_ID elementId: Text,
        MEASURE measure: Text, BUCKET bucket: Integer, PROCESS_ID processDefinitionId: Text, TENANT tenantId: Text,
        COUNT count: Integer, TOTAL totalMs: Integer, MAX maxMs: Integer peak,
    } index [DEFINITION_KEY TIME] [TIME];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_fit_their_limits() {
        for (at, entity) in ENTITIES.iter().enumerate() {
            assert_eq!(entity.id as usize, at, "{}", entity.name);
            assert!(entity.columns.len() <= 64, "{}", entity.name);
            for index in entity.indexes {
                let kinds = index.columns.iter().map(|column| entity.columns[*column as usize].kind);
                let kinds: Vec<_> = kinds.collect();
                if let IndexScope::Elements(column) = index.scope {
                    assert_eq!((index.columns, &kinds[..]), (&[column][..], &[Kind::List][..]));
                } else {
                    assert!(!kinds.iter().any(|kind| matches!(kind, Kind::Json | Kind::List)));
                }
            }
        }
    }
}
