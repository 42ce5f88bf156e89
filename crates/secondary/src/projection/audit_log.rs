//! The audit log. The engine names the actor in the records of exactly the requested change, and in no others.

#![expect(missing_docs, reason = "names say what is held")]

use protocol::{
    ActorType, BatchOperationIntent, BatchOperationType, DeployedIntent, GroupRecord, HistoryDeletionRecord,
    HistoryKind, IdentityIntent, Intent, Key, Name, ProcessInstanceIntent, ProcessIntent, Record,
    RecordValue, RoleRecord, TenantRecord, UserTaskIntent, compose_key,
};
use search::Value;
use search::model::{ColumnId, audit_log as log};

use super::names::Names;
use crate::change::{Batch, RowId};
use crate::words::{local, word};

/// Kinds of operation, as the API names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditCategory {
    Admin,
    /// Definitions and what they run.
    DeployedResources,
    UserTasks,
}

impl AuditCategory {
    pub const ALL: [Self; 3] = [Self::Admin, Self::DeployedResources, Self::UserTasks];

    /// Its name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::DeployedResources => "DEPLOYED_RESOURCES",
            Self::UserTasks => "USER_TASKS",
        }
    }
}

/// Categories that the audit log keeps.
#[derive(Debug, Clone)]
pub struct AuditSettings {
    /// Of users, and of whoever is not asked for a name.
    pub of_users: Vec<AuditCategory>,
    pub of_clients: Vec<AuditCategory>,
    /// Kinds of things, of [`Self::ENTITY_TYPES`], that are left out of what is kept of users.
    pub users_without: Vec<&'static str>,
    /// Kinds of things, of [`Self::ENTITY_TYPES`], that are left out of what is kept of clients.
    pub clients_without: Vec<&'static str>,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { of_users: AuditCategory::ALL.to_vec(), ..Self::none() }
    }
}

impl AuditSettings {
    pub const fn none() -> Self {
        Self {
            of_users: Vec::new(),
            of_clients: Vec::new(),
            users_without: Vec::new(),
            clients_without: Vec::new(),
        }
    }

    /// Kinds of things that something is done with, as the API names them.
    pub const ENTITY_TYPES: [&'static str; 14] = [
        "AUTHORIZATION",
        "BATCH",
        "DECISION",
        "GROUP",
        "INCIDENT",
        "JOB",
        "MAPPING_RULE",
        "PROCESS_INSTANCE",
        "RESOURCE",
        "ROLE",
        "TENANT",
        "USER",
        "USER_TASK",
        "VARIABLE",
    ];

    fn keeps(&self, actor: ActorType, entry: &Entry) -> bool {
        let (categories, without) = match actor {
            ActorType::Client => (&self.of_clients, &self.clients_without),
            ActorType::User | ActorType::Anonymous | ActorType::Unknown => {
                (&self.of_users, &self.users_without)
            }
        };
        categories.contains(&entry.category) && !without.contains(&entry.entity_type)
    }
}

struct Entry {
    category: AuditCategory,
    entity_type: &'static str,
    operation: &'static str,
    entity_key: Name,
    is_refused: bool,
    values: Vec<(ColumnId, Value)>,
}

impl Entry {
    fn new(entity_type: &'static str, operation: &'static str, key: impl ToString) -> Self {
        let entity_key = Name::from(key.to_string());
        let category = match entity_type {
            "USER_TASK" => AuditCategory::UserTasks,
            "USER" | "GROUP" | "ROLE" | "TENANT" | "MAPPING_RULE" | "AUTHORIZATION" => AuditCategory::Admin,
            _ => AuditCategory::DeployedResources,
        };
        Self { category, entity_type, operation, entity_key, is_refused: false, values: Vec::new() }
    }

    fn with(mut self, column: ColumnId, value: impl Into<Value>) -> Self {
        self.values.push((column, value.into()));
        self
    }

    /// Of a process instance.
    fn of_instance(
        self,
        instance: Key,
        root: Key,
        definition: Key,
        process_id: &Name,
        tenant: &Name,
    ) -> Self {
        self.with(log::INSTANCE_KEY, instance)
            .with(log::ROOT_INSTANCE_KEY, root)
            .with(log::DEFINITION_KEY, (definition > 0).then_some(definition))
            .with(log::PROCESS_ID, (!process_id.is_empty()).then(|| local(process_id)))
            .with(log::TENANT, (!tenant.is_empty()).then(|| local(tenant)))
    }
}

/// Says of which process instance an entry is; the records that are of one name it alike.
macro_rules! with_instance {
    ($entry:expr, $value:expr) => {
        $entry.of_instance(
            $value.process_instance_key,
            $value.root_process_instance_key,
            $value.process_definition_key,
            &$value.bpmn_process_id,
            &$value.tenant_id,
        )
    };
}

/// Adds the entry of a record, if it is one to keep.
pub(super) fn apply(record: &Record, settings: &AuditSettings, names: &mut Names, batch: &mut Batch) {
    let Some(actor) = &record.actor else { return };
    let Some(entry) = entry(record).filter(|entry| settings.keeps(actor.actor_type, entry)) else {
        return;
    };
    // One record is one entry at most, so its position tells them apart.
    let id = RowId::Key(compose_key(record.partition_id, record.position));
    let row = batch.insert(&log::ENTITY, id);
    row.set(log::ENTITY_KEY, &entry.entity_key)
        .set(log::ENTITY_TYPE, word(entry.entity_type))
        .set(log::OPERATION_TYPE, word(entry.operation))
        .set(log::CATEGORY, word(entry.category.as_str()))
        .set(log::RESULT, word(if entry.is_refused { "FAIL" } else { "SUCCESS" }))
        .set(log::TIMESTAMP, record.timestamp_ms)
        .set(log::ACTOR_TYPE, word(actor.actor_type.as_str()))
        .set(log::ACTOR_ID, actor.id.as_ref());
    if let Some(key) = record.batch_operation_reference {
        row.set(log::BATCH_KEY, key).set(log::BATCH_TYPE, batch_type(entry.operation));
    }
    for (column, value) in entry.values {
        row.set(column, value);
    }
    if let RecordValue::ProcessInstanceCreation(value) = &record.value {
        let names = names.of(value.process_definition_key);
        row.set(log::DESCRIPTION, names.name.as_ref().unwrap_or(&value.bpmn_process_id));
    }
}

/// The type of a batch operation with this action on its items.
fn batch_type(operation: &str) -> Option<&'static str> {
    let kind = match operation {
        "CANCEL" => BatchOperationType::CancelProcessInstance,
        "SUSPEND" => BatchOperationType::SuspendProcessInstance,
        "RESUME" => BatchOperationType::ResumeProcessInstance,
        "RESOLVE" => BatchOperationType::ResolveIncident,
        "MIGRATE" => BatchOperationType::MigrateProcessInstance,
        "MODIFY" => BatchOperationType::ModifyProcessInstance,
        // A deletion of histories, or one that goes with a resource: the record does not tell.
        _ => return None,
    };
    Some(kind.as_str())
}

/// Records that the log does not keep, or not of every intent.
#[rustfmt::skip]
macro_rules! not_kept {
    () => {
        RecordValue::Deployment(_) | RecordValue::Incident(_) | RecordValue::Message(_)
        | RecordValue::MessageSubscription(_) | RecordValue::ProcessMessageSubscription(_)
        | RecordValue::Timer(_) | RecordValue::MessageStartEventSubscription(_) | RecordValue::Error(_)
        | RecordValue::ResourceDeletion(_) | RecordValue::CompensationSubscription(_)
        | RecordValue::Signal(_) | RecordValue::SignalSubscription(_) | RecordValue::Escalation(_)
        | RecordValue::ConditionalSubscription(_) | RecordValue::ConditionalEvaluation(_)
        | RecordValue::RuntimeInstruction(_) | RecordValue::ClusterVariable(_)
        | RecordValue::BatchOperationCreation(_) | RecordValue::BatchOperationChunk(_)
        | RecordValue::BatchOperationExecution(_) | RecordValue::BatchOperationInitialization(_)
        | RecordValue::BatchOperationPartitionLifecycle(_) | RecordValue::ProcessInstanceBatch(_)
        | RecordValue::MultiInstance(_) | RecordValue::AdHocSubProcessInstruction(_)
        | RecordValue::GlobalListener(_) | RecordValue::VariableDocument(_) | RecordValue::Clock(_)
        | RecordValue::AgentDefinition(_) | RecordValue::AgentInstance(_) | RecordValue::AgentHistory(_)
        | RecordValue::Purge(_)
    };
}

fn entry(record: &Record) -> Option<Entry> {
    let entry = match &record.value {
        RecordValue::ProcessInstanceCreation(_)
        | RecordValue::ProcessInstance(_)
        | RecordValue::ProcessInstanceModification(_)
        | RecordValue::ProcessInstanceMigration(_) => return of_instance(record),
        RecordValue::Process(_)
        | RecordValue::Decision(_)
        | RecordValue::DecisionRequirements(_)
        | RecordValue::Form(_)
        | RecordValue::Resource(_) => return of_resource(record),
        RecordValue::User(_)
        | RecordValue::Group(_)
        | RecordValue::Role(_)
        | RecordValue::Tenant(_)
        | RecordValue::MappingRule(_)
        | RecordValue::Authorization(_) => return of_identity(record),
        RecordValue::UserTask(_) => return of_user_task(record),
        RecordValue::Incident(value) if record.intent == Intent::Resolved => {
            with_instance!(Entry::new("INCIDENT", "RESOLVE", record.key), value)
                .with(log::ELEMENT_KEY, value.element_instance_key)
                .with(log::JOB_KEY, value.job_key)
        }
        RecordValue::Job(value) => with_instance!(Entry::new("JOB", "UPDATE", record.key), value.instance)
            .with(log::ELEMENT_KEY, value.element_instance_key)
            .with(log::JOB_KEY, record.key),
        RecordValue::Variable(value) => {
            let operation = if record.intent == Intent::Created { "CREATE" } else { "UPDATE" };
            with_instance!(Entry::new("VARIABLE", operation, record.key), value.instance)
                .with(log::ELEMENT_KEY, value.scope_key)
                .with(log::DESCRIPTION, &value.name)
        }
        RecordValue::DecisionEvaluation(value) => Entry {
            is_refused: record.intent == Intent::Failed,
            ..Entry::new("DECISION", "EVALUATE", value.decision_key)
                .with(log::EVALUATION_KEY, record.key)
                .with(log::DECISION_ID, &value.decision_id)
                .with(log::DECISION_KEY, value.decision_key)
                .with(log::REQUIREMENTS_ID, &value.decision_requirements_id)
                .with(log::REQUIREMENTS_KEY, value.decision_requirements_key)
                .with(log::TENANT, &value.tenant_id)
        },
        RecordValue::HistoryDeletion(value) => of_deletion(value),
        RecordValue::BatchOperationCreation(value) if record.intent == Intent::Created => {
            Entry::new("BATCH", "CREATE", value.batch_operation_key)
                .with(log::BATCH_KEY, value.batch_operation_key)
                .with(log::BATCH_TYPE, &value.batch_operation_type)
        }
        RecordValue::BatchOperationLifecycleManagement(value) => {
            let operation = match BatchOperationIntent::of(record.intent)? {
                BatchOperationIntent::Canceled => "CANCEL",
                BatchOperationIntent::Suspended => "SUSPEND",
                BatchOperationIntent::Resumed => "RESUME",
                BatchOperationIntent::Completed | BatchOperationIntent::Failed => return None,
            };
            Entry::new("BATCH", operation, value.batch_operation_key)
                .with(log::BATCH_KEY, value.batch_operation_key)
                .with(log::BATCH_TYPE, &value.batch_operation_type)
        }
        not_kept!() => return None,
    };
    Some(entry)
}

fn of_deletion(value: &HistoryDeletionRecord) -> Entry {
    let is_process = *value.resource_type == *HistoryKind::ProcessInstance.as_str();
    // Of which definition it was, the record does not tell.
    let (kind, column, of) = if is_process {
        ("PROCESS_INSTANCE", log::INSTANCE_KEY, &value.process_id)
    } else {
        ("DECISION", log::EVALUATION_KEY, &value.decision_definition_id)
    };
    Entry::new(kind, "DELETE", value.resource_key)
        .with(column, value.resource_key)
        .with(log::DESCRIPTION, Value::non_empty(of))
        .with(log::PROCESS_ID, Value::non_empty(&value.process_id))
        .with(log::DECISION_ID, Value::non_empty(&value.decision_definition_id))
        .with(log::TENANT, Value::non_empty(&value.tenant_id))
}

fn of_instance(record: &Record) -> Option<Entry> {
    let entry = match &record.value {
        RecordValue::ProcessInstanceCreation(value) => {
            let key = value.process_instance_key;
            let (definition, id) = (value.process_definition_key, &value.bpmn_process_id);
            Entry::new("PROCESS_INSTANCE", "CREATE", key).of_instance(
                key,
                key,
                definition,
                id,
                &value.tenant_id,
            )
        }
        RecordValue::ProcessInstance(value) => {
            let is_process = &*value.bpmn_element_type == "PROCESS";
            let operation = match ProcessInstanceIntent::of(record.intent)? {
                ProcessInstanceIntent::ElementTerminating if is_process => "CANCEL",
                ProcessInstanceIntent::Suspended => "SUSPEND",
                ProcessInstanceIntent::Resumed => "RESUME",
                ProcessInstanceIntent::BusinessIdAssigned => "UPDATE",
                ProcessInstanceIntent::ElementActivating
                | ProcessInstanceIntent::ElementActivated
                | ProcessInstanceIntent::ElementCompleting
                | ProcessInstanceIntent::ElementCompleted
                | ProcessInstanceIntent::ElementTerminating
                | ProcessInstanceIntent::ElementTerminated
                | ProcessInstanceIntent::SequenceFlowTaken
                | ProcessInstanceIntent::ElementMigrated
                | ProcessInstanceIntent::AncestorMigrated => return None,
            };
            with_instance!(Entry::new("PROCESS_INSTANCE", operation, record.key), value.instance)
        }
        RecordValue::ProcessInstanceModification(value) => {
            let (key, root) = (value.process_instance_key, value.root_process_instance_key);
            Entry::new("PROCESS_INSTANCE", "MODIFY", key).of_instance(
                key,
                root,
                0,
                &Name::default(),
                &value.tenant_id,
            )
        }
        RecordValue::ProcessInstanceMigration(value) => {
            let (key, root) = (value.process_instance_key, value.root_process_instance_key);
            let target = value.target_process_definition_key;
            Entry::new("PROCESS_INSTANCE", "MIGRATE", key).of_instance(
                key,
                root,
                target,
                &value.bpmn_process_id,
                &value.tenant_id,
            )
        }
        _ => unreachable!("the caller picks those of instances"),
    };
    Some(entry)
}

/// Deletion begins at once; a process may take its time to be gone.
fn of_resource(record: &Record) -> Option<Entry> {
    let operation = if let RecordValue::Process(_) = record.value {
        match ProcessIntent::of(record.intent)? {
            ProcessIntent::Created => "CREATE",
            ProcessIntent::Deleting => "DELETE",
            ProcessIntent::Deleted => return None,
        }
    } else {
        match DeployedIntent::of(record.intent)? {
            DeployedIntent::Created => "CREATE",
            DeployedIntent::Deleted => "DELETE",
        }
    };
    let entry = |key: Key, deployment: Key, tenant: &Name, name: &Name| {
        Entry::new("RESOURCE", operation, key)
            .with(log::DEPLOYMENT_KEY, (deployment > 0).then_some(deployment))
            .with(log::TENANT, tenant)
            .with(log::DESCRIPTION, Value::non_empty(name))
    };
    let entry = match &record.value {
        RecordValue::Process(value) => {
            let key = value.process_definition_key;
            entry(key, value.deployment_key, &value.tenant_id, &value.resource_name)
                .with(log::RESOURCE_KEY, key)
                .with(log::DEFINITION_KEY, key)
                .with(log::PROCESS_ID, &value.bpmn_process_id)
        }
        RecordValue::Decision(value) => {
            let (key, deployment) = (value.decision_key, value.deployment_key);
            let of_decision = entry(key, deployment, &value.tenant_id, &value.decision_name);
            Entry { entity_type: "DECISION", ..of_decision }
                .with(log::DECISION_KEY, value.decision_key)
                .with(log::DECISION_ID, &value.decision_id)
                .with(log::REQUIREMENTS_KEY, value.decision_requirements_key)
                .with(log::REQUIREMENTS_ID, &value.decision_requirements_id)
        }
        RecordValue::DecisionRequirements(value) => {
            let key = value.decision_requirements_key;
            entry(key, value.deployment_key, &value.tenant_id, &value.resource_name)
                .with(log::RESOURCE_KEY, key)
                .with(log::REQUIREMENTS_KEY, key)
                .with(log::REQUIREMENTS_ID, &value.decision_requirements_id)
        }
        RecordValue::Form(value) => {
            entry(value.form_key, value.deployment_key, &value.tenant_id, &value.resource_name)
                .with(log::RESOURCE_KEY, value.form_key)
                .with(log::FORM_KEY, value.form_key)
        }
        RecordValue::Resource(value) => {
            entry(value.resource_key, value.deployment_key, &value.tenant_id, &value.resource_name)
                .with(log::RESOURCE_KEY, value.resource_key)
        }
        _ => unreachable!("the caller picks those of resources"),
    };
    Some(entry)
}

fn of_user_task(record: &Record) -> Option<Entry> {
    let RecordValue::UserTask(value) = &record.value else { return None };
    let (operation, is_refused) = match UserTaskIntent::of(record.intent)? {
        UserTaskIntent::Assigned if value.assignee.is_empty() => ("UNASSIGN", false),
        UserTaskIntent::AssignmentDenied if value.assignee.is_empty() => ("UNASSIGN", true),
        UserTaskIntent::Assigned => ("ASSIGN", false),
        UserTaskIntent::AssignmentDenied => ("ASSIGN", true),
        UserTaskIntent::Updated => ("UPDATE", false),
        UserTaskIntent::UpdateDenied => ("UPDATE", true),
        UserTaskIntent::Completed => ("COMPLETE", false),
        UserTaskIntent::CompletionDenied => ("COMPLETE", true),
        UserTaskIntent::Creating
        | UserTaskIntent::Created
        | UserTaskIntent::Assigning
        | UserTaskIntent::Claiming
        | UserTaskIntent::Updating
        | UserTaskIntent::Completing
        | UserTaskIntent::Canceling
        | UserTaskIntent::Canceled
        | UserTaskIntent::Corrected
        | UserTaskIntent::Migrated => return None,
    };
    let entry = with_instance!(Entry::new("USER_TASK", operation, record.key), value)
        .with(log::ELEMENT_KEY, value.element_instance_key)
        .with(log::USER_TASK_KEY, record.key)
        .with(log::FORM_KEY, value.form_key);
    let entry = match operation {
        "ASSIGN" => entry.with(log::RELATED_KEY, &value.assignee).with(log::RELATED_TYPE, "USER"),
        _ => entry,
    };
    Some(Entry { is_refused, ..entry })
}

fn of_identity(record: &Record) -> Option<Entry> {
    let operation = match IdentityIntent::of(record.intent)? {
        IdentityIntent::Created => "CREATE",
        IdentityIntent::Updated => "UPDATE",
        IdentityIntent::Deleted => "DELETE",
        IdentityIntent::EntityAdded => "ASSIGN",
        IdentityIntent::EntityRemoved => "UNASSIGN",
    };
    let entry = |kind: &'static str, id: &Name, name: &Name| {
        Entry::new(kind, operation, id).with(log::DESCRIPTION, Value::non_empty(name))
    };
    let with_member = |entry: Entry, id: &Name, kind: &Name| match operation {
        "ASSIGN" | "UNASSIGN" => entry.with(log::RELATED_KEY, id).with(log::RELATED_TYPE, kind),
        _ => entry,
    };
    let entry = match &record.value {
        RecordValue::User(value) => entry("USER", &value.username, &value.name),
        RecordValue::MappingRule(value) => entry("MAPPING_RULE", &value.mapping_rule_id, &value.name),
        RecordValue::Authorization(value) => Entry::new("AUTHORIZATION", operation, value.authorization_key)
            .with(log::RELATED_KEY, Value::non_empty(&value.owner_id))
            .with(log::RELATED_TYPE, Value::non_empty(&value.owner_type)),
        RecordValue::Group(value) => {
            let GroupRecord { group_id, name, entity_id, entity_type, .. } = &**value;
            with_member(entry("GROUP", group_id, name), entity_id, entity_type)
        }
        RecordValue::Role(value) => {
            let RoleRecord { role_id, name, entity_id, entity_type, .. } = &**value;
            with_member(entry("ROLE", role_id, name), entity_id, entity_type)
        }
        RecordValue::Tenant(value) => {
            let TenantRecord { tenant_id, name, entity_id, entity_type, .. } = &**value;
            with_member(entry("TENANT", tenant_id, name), entity_id, entity_type).with(log::TENANT, tenant_id)
        }
        _ => unreachable!("the caller picks those of identities"),
    };
    Some(entry)
}
