//! Queries: what may be asked of a partition's state without a command, and the answers. They never enter the log, so
//! they have no encoding yet. The engine answers each in a file of its `query/` directory.

#![expect(missing_docs, reason = "names say what is held")]

use minicbor::{Decode, Encode};
use std::collections::BTreeSet;

mod definition;
mod identity;
mod statistics;
mod user_task;

pub use definition::{DecisionRequirementsView, DecisionView, FileView, ProcessDefinitionView, SourceOf};

pub use identity::{CircleView, IdentityQuery, IdentityReply, Page, UserView};
pub use statistics::{ErrorView, FailingDefinitionView, RunningDefinitionView, SubscriptionView, error_hash};
pub use user_task::UserTaskView;

use crate::{BatchItemView, BatchOperationView, BatchSearch, GlobalListener, Key, Name};

/// A question about what lives now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    BatchOperation {
        key: Key,
    },
    /// All batch operations; there are never many.
    BatchOperations,
    /// Batch operations whose items are looked for outside the engine, as long as they are.
    BatchSearches,
    /// Items of one batch operation, or of all.
    BatchItems {
        batch_operation_key: Option<Key>,
        /// How many at the most.
        limit: usize,
    },
    /// A process instance that runs.
    ProcessInstance {
        key: Key,
    },
    /// An element instance that lives.
    ElementInstance {
        key: Key,
    },
    /// A variable of a scope that lives.
    Variable {
        key: Key,
    },
    /// An incident that is not resolved.
    Incident {
        key: Key,
    },
    /// The process instances above one that runs, and itself.
    CallHierarchy {
        /// Key of the one at the bottom.
        process_instance_key: Key,
    },
    ProcessDefinition {
        key: Key,
    },
    Decision {
        key: Key,
    },
    /// A decision requirements graph.
    DecisionRequirements {
        key: Key,
    },
    /// The model that a definition came from, as it was deployed.
    Source {
        /// The kind of the key's owner.
        of: SourceOf,
        /// Key of the definition.
        key: Key,
    },
    /// A form with its content.
    Form {
        key: Key,
    },
    /// The form of the none start event of a process definition.
    StartForm {
        process_definition_key: Key,
    },
    /// A resource that is neither a model nor a form.
    Resource {
        key: Key,
        /// Whether its content is wanted, too.
        with_content: bool,
    },
    /// Resources that are neither models nor forms.
    Resources {
        /// How many at the most.
        limit: usize,
    },
    /// A variable of the cluster or of a tenant.
    ClusterVariable {
        /// The tenant; `None`: that of all.
        tenant_id: Option<Name>,
        name: Name,
    },
    /// Variables of the cluster and of all tenants.
    ClusterVariables {
        /// How many at the most.
        limit: usize,
    },
    /// The context `camunda` of a tenant's expressions.
    ClusterContext {
        tenant_id: Name,
    },
    /// Variables that an instance sees, its own and those around it.
    Scope {
        /// Key of a process instance or an element instance.
        key: Key,
    },
    /// A user task that is not done.
    UserTask {
        key: Key,
    },
    /// The form of a user task that is not done.
    UserTaskForm {
        /// Key of the user task.
        key: Key,
    },
    /// A listener of all user tasks.
    GlobalListener {
        id: Name,
    },
    /// Listeners of all user tasks.
    GlobalListeners {
        /// How many at the most.
        limit: usize,
    },
    /// Process definitions with running instances.
    RunningDefinitions {
        /// Those of this BPMN process ID only.
        process_id: Option<Name>,
        /// How many at the most.
        limit: usize,
    },
    /// Errors that incidents tell of.
    Errors {
        /// How many incidents are looked at.
        limit: usize,
        /// Which process instances count.
        of: Instances,
    },
    /// Process definitions whose instances have incidents of one error.
    FailingDefinitions {
        /// The [`error_hash`] of the error's message.
        error_hash: i32,
        /// How many incidents are looked at.
        limit: usize,
    },
    /// Element instance that waits; none for start events.
    Subscriptions {
        /// How many at the most.
        limit: usize,
    },
    /// Process instances that the engine failed on, by their keys.
    BannedInstances {
        /// From the one after this key on.
        after: Key,
        /// So many at the most.
        limit: usize,
    },
    Identity(IdentityQuery),
}

/// Process instances that somebody may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instances {
    /// Those of these BPMN process IDs; `None`: of all.
    pub process_ids: Option<BTreeSet<Name>>,
    /// Those of these tenants; `None`: of all.
    pub tenant_ids: Option<BTreeSet<Name>>,
}

impl Instances {
    /// Whether an instance is among them.
    pub fn has(&self, process_id: &Name, tenant_id: &Name) -> bool {
        self.process_ids.as_ref().is_none_or(|ids| ids.contains(process_id))
            && self.tenant_ids.as_ref().is_none_or(|ids| ids.contains(tenant_id))
    }

    /// Whether all instances are among them.
    pub const fn is_all(&self) -> bool {
        self.process_ids.is_none() && self.tenant_ids.is_none()
    }
}

/// A process instance that the engine failed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BannedInstanceView {
    /// Key of the instance.
    pub key: Key,
    /// The instance at the top of the call hierarchy: the one to cancel.
    pub root_process_instance_key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    /// Version of the definition.
    pub version: u32,
    pub tenant_id: Name,
    /// How the engine failed.
    pub reason: Name,
    /// When, Unix milliseconds of the engine's clock.
    pub since_ms: i64,
}

/// The answer to a [`Query`], of the variant with its name.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryReply {
    /// See [`Query::BatchOperation`].
    BatchOperation(BatchOperationView),
    /// See [`Query::BatchOperations`]: in the order of their creation.
    BatchOperations(Vec<BatchOperationView>),
    /// See [`Query::BatchSearches`]: in the order of their creation.
    BatchSearches(Vec<BatchSearch>),
    /// See [`Query::BatchItems`]: in the order of their keys.
    BatchItems {
        items: Vec<BatchItemView>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::ProcessInstance`].
    ProcessInstance(ProcessInstanceView),
    /// See [`Query::ElementInstance`].
    ElementInstance(ElementInstanceView),
    /// See [`Query::Variable`].
    Variable(VariableView),
    /// See [`Query::Incident`].
    Incident(IncidentView),
    /// See [`Query::CallHierarchy`]: the root first.
    CallHierarchy(Vec<CallHierarchyEntry>),
    /// See [`Query::ProcessDefinition`].
    ProcessDefinition(ProcessDefinitionView),
    /// See [`Query::Decision`].
    Decision(DecisionView),
    /// See [`Query::DecisionRequirements`].
    DecisionRequirements(DecisionRequirementsView),
    /// See [`Query::Source`].
    Source(Vec<u8>),
    /// See [`Query::Form`].
    Form(FileView),
    /// See [`Query::StartForm`]; `None` if the process has no start form.
    StartForm(Option<FileView>),
    /// See [`Query::Resource`].
    Resource(FileView),
    /// See [`Query::Resources`]: in the order of their keys, without their content.
    Resources {
        resources: Vec<FileView>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::ClusterVariable`].
    ClusterVariable(ClusterVariableView),
    /// See [`Query::ClusterVariables`]: those of all first, then tenant by tenant, by their names.
    ClusterVariables {
        variables: Vec<ClusterVariableView>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::ClusterContext`].
    ClusterContext(crate::Json),
    /// See [`Query::Scope`].
    Scope(ScopeView),
    /// See [`Query::UserTask`].
    UserTask(Box<UserTaskView>),
    /// See [`Query::UserTaskForm`]; `None` if the task has no form.
    UserTaskForm(Option<FileView>),
    /// See [`Query::GlobalListener`].
    GlobalListener(GlobalListener),
    /// See [`Query::GlobalListeners`]: in the order of their IDs.
    GlobalListeners {
        listeners: Vec<GlobalListener>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::RunningDefinitions`]: in the order of their keys.
    RunningDefinitions {
        definitions: Vec<RunningDefinitionView>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::Errors`]: in the order of their messages.
    Errors {
        errors: Vec<ErrorView>,
        /// Whether there are more incidents than the limit.
        has_more: bool,
    },
    /// See [`Query::FailingDefinitions`]: in the order of their keys.
    FailingDefinitions {
        definitions: Vec<FailingDefinitionView>,
        /// Whether there are more incidents than the limit.
        has_more: bool,
    },
    /// See [`Query::Subscriptions`]: in the order of their keys.
    Subscriptions {
        subscriptions: Vec<SubscriptionView>,
        /// Whether there are more than the limit.
        has_more: bool,
    },
    /// See [`Query::BannedInstances`].
    BannedInstances(Vec<BannedInstanceView>),
    /// See [`Query::Identity`].
    Identity(IdentityReply),
}

/// A process instance that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInstanceView {
    /// Key of the instance.
    pub key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    pub process_name: Option<Name>,
    /// Version of the definition.
    pub version: u32,
    /// Version tag of the definition.
    pub version_tag: Option<Name>,
    /// When it was created, Unix milliseconds.
    pub start_ms: i64,
    /// Whether it, or an instance that it called, has an incident.
    pub has_incident: bool,
    pub tenant_id: Name,
    /// The process instance that called it.
    pub parent_process_instance_key: Option<Key>,
    /// The call activity that called it.
    pub parent_element_instance_key: Option<Key>,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub tags: Vec<Name>,
    pub business_id: Option<Name>,
    /// Since when it has been suspended, Unix milliseconds.
    pub suspended_ms: Option<i64>,
}

/// An element instance that lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementInstanceView {
    pub key: Key,
    pub element_id: Name,
    /// Name of the element; its ID if the model gives none.
    pub element_name: Name,
    /// Type of the element, as records name it.
    pub element_type: &'static str,
    /// When it was activated, Unix milliseconds.
    pub start_ms: i64,
    pub incident_key: Option<Key>,
    /// Whether there is an incident at it or below it.
    pub has_incident: bool,
    pub process_instance_key: Key,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    pub tenant_id: Name,
}

/// A variable of a scope that lives.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableView {
    pub key: Key,
    pub name: Name,
    pub value: crate::Json,
    /// The element instance or process instance that holds it.
    pub scope_key: Key,
    pub process_instance_key: Key,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub tenant_id: Name,
}

/// An incident that is not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentView {
    pub key: Key,
    /// Its kind, as records name it.
    pub error_type: &'static str,
    pub error_message: Name,
    /// When it was raised, Unix milliseconds.
    pub created_ms: i64,
    pub element_id: Name,
    pub element_instance_key: Key,
    /// The job, if it is about one.
    pub job_key: Option<Key>,
    pub process_instance_key: Key,
    /// The instance at the top of the call hierarchy.
    pub root_process_instance_key: Key,
    pub process_definition_key: Key,
    pub process_id: Name,
    pub tenant_id: Name,
}

/// One process instance of a call hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallHierarchyEntry {
    pub process_instance_key: Key,
    pub process_definition_key: Key,
    /// Name of the process; its ID if the model gives none.
    pub process_name: Name,
}

/// See [`Query::Scope`].
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeView {
    pub process_id: Name,
    pub tenant_id: Name,
    pub variables: crate::Document,
}

/// A variable of the cluster or of a tenant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ClusterVariableView {
    /// The tenant that sees it; `None`: all do.
    #[n(0)]
    pub tenant_id: Option<Name>,
    #[n(1)]
    pub name: Name,
    #[n(2)]
    pub value: crate::Json,
    /// `None`: there is none.
    #[n(3)]
    pub metadata: Option<crate::Document>,
    /// `None`: that of data.
    #[n(4)]
    pub kind: Option<crate::ClusterVariableKind>,
}
