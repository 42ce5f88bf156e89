//! Value types and intents of records, named as the reference exports them.

use minicbor::{Decode, Encode};

/// Enums whose variants have the names that the API and exported records use.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident { $($variant:ident = $number:literal $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
        #[cbor(index_only)]
        pub enum $type { $(#[doc = $text] #[n($number)] $variant),* }

        impl $type {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in exported records.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// The one of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == name)
            }

            /// The number that stands for it wherever it is stored.
            pub const fn number(self) -> u8 {
                match self { $(Self::$variant => $number),* }
            }

            /// The one of a number.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.number() == number)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use named;

named! {
    /// Value types of records.
    ValueType {
        Job = 0 "JOB", Deployment = 1 "DEPLOYMENT", ProcessInstance = 2 "PROCESS_INSTANCE", Incident = 3 "INCIDENT",
        Message = 4 "MESSAGE", MessageSubscription = 5 "MESSAGE_SUBSCRIPTION",
        ProcessMessageSubscription = 6 "PROCESS_MESSAGE_SUBSCRIPTION", Timer = 7 "TIMER",
        MessageStartEventSubscription = 8 "MESSAGE_START_EVENT_SUBSCRIPTION", Variable = 9 "VARIABLE",
        ProcessInstanceCreation = 10 "PROCESS_INSTANCE_CREATION", Error = 11 "ERROR", Process = 12 "PROCESS",
        ResourceDeletion = 13 "RESOURCE_DELETION", CompensationSubscription = 170 "COMPENSATION_SUBSCRIPTION",
        Signal = 140 "SIGNAL", SignalSubscription = 141 "SIGNAL_SUBSCRIPTION", Escalation = 142 "ESCALATION",
        ConditionalSubscription = 143 "CONDITIONAL_SUBSCRIPTION", ConditionalEvaluation = 144 "CONDITIONAL_EVALUATION",
        ProcessInstanceMigration = 200 "PROCESS_INSTANCE_MIGRATION",
        ProcessInstanceModification = 180 "PROCESS_INSTANCE_MODIFICATION", RuntimeInstruction = 181 "RUNTIME_INSTRUCTION",
        DecisionRequirements = 100 "DECISION_REQUIREMENTS", Decision = 101 "DECISION", Form = 102 "FORM",
        ClusterVariable = 220 "CLUSTER_VARIABLE",
        Resource = 103 "RESOURCE", DecisionEvaluation = 104 "DECISION_EVALUATION",
        BatchOperationCreation = 201 "BATCH_OPERATION_CREATION", BatchOperationChunk = 202 "BATCH_OPERATION_CHUNK",
        BatchOperationExecution = 203 "BATCH_OPERATION_EXECUTION",
        BatchOperationInitialization = 204 "BATCH_OPERATION_INITIALIZATION",
        BatchOperationLifecycleManagement = 205 "BATCH_OPERATION_LIFECYCLE_MANAGEMENT",
        BatchOperationPartitionLifecycle = 206 "BATCH_OPERATION_PARTITION_LIFECYCLE",
        HistoryDeletion = 207 "HISTORY_DELETION",
        ProcessInstanceBatch = 160 "PROCESS_INSTANCE_BATCH", MultiInstance = 161 "MULTI_INSTANCE",
        AdHocSubProcessInstruction = 162 "AD_HOC_SUB_PROCESS_INSTRUCTION",
        UserTask = 120 "USER_TASK", GlobalListener = 121 "GLOBAL_LISTENER",
        VariableDocument = 122 "VARIABLE_DOCUMENT", Clock = 230 "CLOCK",
        User = 240 "USER", Group = 241 "GROUP", Role = 242 "ROLE", Tenant = 243 "TENANT",
        MappingRule = 244 "MAPPING_RULE", Authorization = 245 "AUTHORIZATION",
        AgentDefinition = 190 "AGENT_DEFINITION", AgentInstance = 191 "AGENT_INSTANCE", AgentHistory = 192 "AGENT_HISTORY",
        Purge = 250 "PURGE", JobBatch = 14 "JOB_BATCH",
    }
}

impl ValueType {
    /// Whether records of it are for consumers, which know those of the compatible system, and not for secondary
    /// storage alone.
    pub const fn is_for_others(self) -> bool {
        !matches!(self, Self::Purge)
    }
}

named! {
    /// Intents of records.
    Intent {
        Created = 0 "CREATED", Completed = 1 "COMPLETED", Failed = 2 "FAILED", TimedOut = 3 "TIMED_OUT",
        RetriesUpdated = 4 "RETRIES_UPDATED", TimeoutUpdated = 5 "TIMEOUT_UPDATED", Updated = 6 "UPDATED",
        Canceled = 7 "CANCELED", ErrorThrown = 8 "ERROR_THROWN", RecurredAfterBackoff = 9 "RECURRED_AFTER_BACKOFF",
        Yielded = 10 "YIELDED", Activated = 11 "ACTIVATED", ElementActivating = 12 "ELEMENT_ACTIVATING",
        ElementActivated = 13 "ELEMENT_ACTIVATED", ElementCompleting = 14 "ELEMENT_COMPLETING",
        ElementCompleted = 15 "ELEMENT_COMPLETED", ElementTerminating = 16 "ELEMENT_TERMINATING",
        ElementTerminated = 17 "ELEMENT_TERMINATED", SequenceFlowTaken = 18 "SEQUENCE_FLOW_TAKEN",
        Resolved = 19 "RESOLVED", Published = 20 "PUBLISHED", Expired = 21 "EXPIRED", Correlating = 22 "CORRELATING",
        Correlated = 23 "CORRELATED", Deleted = 24 "DELETED", Triggered = 25 "TRIGGERED", Deleting = 26 "DELETING",
        Broadcasted = 140 "BROADCASTED", Escalated = 141 "ESCALATED", NotEscalated = 142 "NOT_ESCALATED",
        ElementMigrated = 200 "ELEMENT_MIGRATED", AncestorMigrated = 201 "ANCESTOR_MIGRATED", Migrated = 202 "MIGRATED",
        Modified = 180 "MODIFIED", Interrupted = 181 "INTERRUPTED",
        Evaluated = 100 "EVALUATED",
        Initializing = 203 "INITIALIZING", Initialized = 204 "INITIALIZED", Executed = 205 "EXECUTED",
        Suspended = 206 "SUSPENDED", Resumed = 207 "RESUMED", PartitionCompleted = 208 "PARTITION_COMPLETED",
        Terminated = 160 "TERMINATED", InputCollectionEvaluated = 161 "INPUT_COLLECTION_EVALUATED",
        Creating = 120 "CREATING", Assigning = 121 "ASSIGNING", Claiming = 122 "CLAIMING", Assigned = 123 "ASSIGNED",
        Updating = 124 "UPDATING", Completing = 125 "COMPLETING", Canceling = 126 "CANCELING",
        Corrected = 127 "CORRECTED", AssignmentDenied = 128 "ASSIGNMENT_DENIED", UpdateDenied = 129 "UPDATE_DENIED",
        CompletionDenied = 130 "COMPLETION_DENIED", Pinned = 230 "PINNED", Resetted = 231 "RESETTED",
        PriorityUpdated = 184 "PRIORITY_UPDATED", BusinessIdAssigned = 185 "BUSINESS_ID_ASSIGNED",
        Committed = 190 "COMMITTED", Discarded = 191 "DISCARDED",
        EntityAdded = 240 "ENTITY_ADDED", EntityRemoved = 241 "ENTITY_REMOVED",
        Purged = 250 "PURGED",
    }
}
