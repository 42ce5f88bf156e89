//! Permissions and the resources that they are for.

use minicbor::{Decode, Encode};

use crate::FIRST_ACTIVE_VERSION;
use crate::intent::named;

named! {
    /// Types of resources.
    ResourceType {
        AuditLog = 0 "AUDIT_LOG", Authorization = 1 "AUTHORIZATION", Batch = 2 "BATCH",
        ClusterVariable = 3 "CLUSTER_VARIABLE", Component = 4 "COMPONENT", DecisionDefinition = 5 "DECISION_DEFINITION",
        DecisionRequirementsDefinition = 6 "DECISION_REQUIREMENTS_DEFINITION", Document = 7 "DOCUMENT",
        Expression = 8 "EXPRESSION", GlobalListener = 9 "GLOBAL_LISTENER", Group = 10 "GROUP",
        MappingRule = 11 "MAPPING_RULE", Message = 12 "MESSAGE", ProcessDefinition = 13 "PROCESS_DEFINITION",
        Resource = 14 "RESOURCE", Role = 15 "ROLE", System = 16 "SYSTEM", Tenant = 17 "TENANT", User = 18 "USER",
        UserTask = 19 "USER_TASK", Backup = 20 "BACKUP", Exporter = 21 "EXPORTER", Secret = 22 "SECRET",
    }
}

named! {
    /// Types of permissions.
    PermissionType {
        Access = 0 "ACCESS", CancelProcessInstance = 1 "CANCEL_PROCESS_INSTANCE", Claim = 2 "CLAIM",
        ClaimUserTask = 3 "CLAIM_USER_TASK", Complete = 4 "COMPLETE", CompleteUserTask = 5 "COMPLETE_USER_TASK",
        Create = 6 "CREATE",
        CreateBatchOperationCancelProcessInstance = 7 "CREATE_BATCH_OPERATION_CANCEL_PROCESS_INSTANCE",
        CreateBatchOperationDeleteDecisionDefinition = 8 "CREATE_BATCH_OPERATION_DELETE_DECISION_DEFINITION",
        CreateBatchOperationDeleteDecisionInstance = 9 "CREATE_BATCH_OPERATION_DELETE_DECISION_INSTANCE",
        CreateBatchOperationDeleteProcessDefinition = 10 "CREATE_BATCH_OPERATION_DELETE_PROCESS_DEFINITION",
        CreateBatchOperationDeleteProcessInstance = 11 "CREATE_BATCH_OPERATION_DELETE_PROCESS_INSTANCE",
        CreateBatchOperationMigrateProcessInstance = 12 "CREATE_BATCH_OPERATION_MIGRATE_PROCESS_INSTANCE",
        CreateBatchOperationModifyProcessInstance = 13 "CREATE_BATCH_OPERATION_MODIFY_PROCESS_INSTANCE",
        CreateBatchOperationResolveIncident = 14 "CREATE_BATCH_OPERATION_RESOLVE_INCIDENT",
        CreateDecisionInstance = 15 "CREATE_DECISION_INSTANCE", CreateProcessInstance = 16 "CREATE_PROCESS_INSTANCE",
        CreateTaskListener = 17 "CREATE_TASK_LISTENER", Delete = 18 "DELETE",
        DeleteDecisionInstance = 19 "DELETE_DECISION_INSTANCE", DeleteDrd = 20 "DELETE_DRD",
        DeleteForm = 21 "DELETE_FORM", DeleteProcess = 22 "DELETE_PROCESS",
        DeleteProcessInstance = 23 "DELETE_PROCESS_INSTANCE", DeleteResource = 24 "DELETE_RESOURCE",
        DeleteTaskListener = 25 "DELETE_TASK_LISTENER", Evaluate = 26 "EVALUATE",
        ModifyProcessInstance = 27 "MODIFY_PROCESS_INSTANCE", Read = 28 "READ",
        ReadDecisionDefinition = 29 "READ_DECISION_DEFINITION", ReadDecisionInstance = 30 "READ_DECISION_INSTANCE",
        ReadJobMetric = 31 "READ_JOB_METRIC", ReadProcessDefinition = 32 "READ_PROCESS_DEFINITION",
        ReadProcessInstance = 33 "READ_PROCESS_INSTANCE", ReadTaskListener = 34 "READ_TASK_LISTENER",
        ReadUsageMetric = 35 "READ_USAGE_METRIC", ReadUserTask = 36 "READ_USER_TASK", Update = 37 "UPDATE",
        UpdateProcessInstance = 38 "UPDATE_PROCESS_INSTANCE", UpdateTaskListener = 39 "UPDATE_TASK_LISTENER",
        UpdateUserTask = 40 "UPDATE_USER_TASK",
        CreateBatchOperationSuspendProcessInstance = 41 "CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE",
        CreateBatchOperationUpdateJob = 42 "CREATE_BATCH_OPERATION_UPDATE_JOB", Pause = 43 "PAUSE",
        Restore = 44 "RESTORE", Reveal = 45 "REVEAL", SuspendProcessInstance = 46 "SUSPEND_PROCESS_INSTANCE",
    }
}

named! {
    /// Properties of a user task that may name somebody.
    UserTaskProperty {
        Assignee = 0 "assignee", CandidateUsers = 1 "candidateUsers", CandidateGroups = 2 "candidateGroups",
    }
}

impl PermissionType {
    /// Whether it lets somebody look at things without changing them.
    pub fn is_for_reading(self) -> bool {
        self == Self::Access || self.as_str().starts_with("READ")
    }
}

impl PermissionType {
    /// The first version of the engine that knows it.
    pub const fn since_version(self) -> u16 {
        FIRST_ACTIVE_VERSION
    }
}

impl ResourceType {
    /// The first version of the engine that knows it.
    pub const fn since_version(self) -> u16 {
        FIRST_ACTIVE_VERSION
    }

    /// The permissions of a type of resource.
    pub const fn permissions(self) -> &'static [PermissionType] {
        use PermissionType as P;
        match self {
            Self::AuditLog | Self::DecisionRequirementsDefinition => &[P::Read],
            Self::Authorization
            | Self::ClusterVariable
            | Self::Group
            | Self::MappingRule
            | Self::Role
            | Self::Tenant
            | Self::User => &[P::Create, P::Delete, P::Read, P::Update],
            Self::Batch => &[
                P::Create,
                P::CreateBatchOperationCancelProcessInstance,
                P::CreateBatchOperationDeleteDecisionDefinition,
                P::CreateBatchOperationDeleteDecisionInstance,
                P::CreateBatchOperationDeleteProcessDefinition,
                P::CreateBatchOperationDeleteProcessInstance,
                P::CreateBatchOperationMigrateProcessInstance,
                P::CreateBatchOperationModifyProcessInstance,
                P::CreateBatchOperationResolveIncident,
                P::Read,
                P::Update,
                P::CreateBatchOperationSuspendProcessInstance,
                P::CreateBatchOperationUpdateJob,
            ],
            Self::Backup => &[P::Create, P::Delete, P::Read, P::Restore],
            Self::Component => &[P::Access],
            Self::DecisionDefinition => &[
                P::CreateDecisionInstance,
                P::DeleteDecisionInstance,
                P::ReadDecisionDefinition,
                P::ReadDecisionInstance,
            ],
            Self::Document => &[P::Create, P::Delete, P::Read],
            Self::Exporter => &[P::Pause],
            Self::Expression => &[P::Evaluate],
            Self::GlobalListener => {
                &[P::CreateTaskListener, P::DeleteTaskListener, P::ReadTaskListener, P::UpdateTaskListener]
            }
            Self::Message => &[P::Create, P::Read],
            Self::ProcessDefinition => &[
                P::CancelProcessInstance,
                P::ClaimUserTask,
                P::CompleteUserTask,
                P::CreateProcessInstance,
                P::DeleteProcessInstance,
                P::ModifyProcessInstance,
                P::ReadProcessDefinition,
                P::ReadProcessInstance,
                P::ReadUserTask,
                P::UpdateProcessInstance,
                P::UpdateUserTask,
                P::SuspendProcessInstance,
            ],
            Self::Resource => {
                &[P::Create, P::DeleteDrd, P::DeleteForm, P::DeleteProcess, P::DeleteResource, P::Read]
            }
            Self::Secret => &[P::Read, P::Reveal],
            Self::System => &[P::Read, P::ReadJobMetric, P::ReadUsageMetric, P::Update],
            Self::UserTask => &[P::Claim, P::Complete, P::Read, P::Update],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_permission_is_for_something_and_lists_are_in_order() {
        let used: BTreeSet<_> =
            ResourceType::ALL.iter().flat_map(|resource| resource.permissions()).collect();
        assert_eq!(used.len(), PermissionType::ALL.len());
        for resource in ResourceType::ALL {
            assert!(resource.permissions().is_sorted_by(|one, next| one < next), "{resource}");
        }
    }

    #[test]
    fn reading_changes_nothing() {
        assert!(PermissionType::Access.is_for_reading());
        assert!(PermissionType::ReadUserTask.is_for_reading());
        assert!(!PermissionType::Update.is_for_reading());
        assert!(!PermissionType::CreateTaskListener.is_for_reading());
        assert!(!PermissionType::Reveal.is_for_reading());
    }
}
