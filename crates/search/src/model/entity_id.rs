//! Names of the entities.

/// Names of the entities, in the order of their table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntityId {
    ProcessInstance,
    ElementInstance,
    SequenceFlow,
    Variable,
    Incident,
    Job,
    UserTask,
    MessageSubscription,
    CorrelatedMessage,
    ProcessDefinition,
    DecisionDefinition,
    DecisionRequirements,
    DecisionInstance,
    Form,
    BatchOperation,
    BatchItem,
    HistoryDeletion,
    AuditLog,
    JobMetric,
    UsageMetric,
    ElementCount,
    UsageAssignee,
    AgentDefinition,
    AgentInstance,
    AgentHistory,
    WaitState,
    InstanceStep,
    ElementDuration,
}
