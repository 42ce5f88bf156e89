//! Checks that the gateway itself makes of an operation before it serves it: one table that names each, so that none is
//! left unchecked because it was forgotten.

use protocol::{PermissionType as P, ResourceType as R};

use super::contract::Operation;

/// Checks of one operation.
pub(super) struct Checks {
    /// Permissions of which it requires one; empty if it requires none.
    pub(super) permissions: &'static [(R, P)],
    pub(super) tenant: TenantIn,
}

/// Where a request names the tenant that it is for.
pub(super) enum TenantIn {
    /// Its subject is of one, if anything is.
    Nothing,
    Body,
    /// In the body, if it is not that of its subject.
    BodyAtWill,
    Form,
    /// Several in the body, unless they are those that the principal is assigned to.
    List,
}

/// The permissions are not taken here.
#[rustfmt::skip]
macro_rules! checked_elsewhere {
    () => {
        // The engine checks their commands.
        Self::CreateAuthorization | Self::UpdateAuthorization | Self::DeleteAuthorization
        | Self::CancelBatchOperation | Self::ResumeBatchOperation | Self::SuspendBatchOperation
        | Self::PinClock | Self::ResetClock | Self::CreateGlobalClusterVariable
        | Self::UpdateGlobalClusterVariable | Self::DeleteGlobalClusterVariable
        | Self::CreateTenantClusterVariable | Self::UpdateTenantClusterVariable
        | Self::DeleteTenantClusterVariable | Self::DeleteDecisionInstance
        | Self::DeleteDecisionInstancesBatchOperation | Self::ActivateAdHocSubProcessActivities
        | Self::CreateElementInstanceVariables | Self::CreateGlobalTaskListener
        | Self::UpdateGlobalTaskListener | Self::DeleteGlobalTaskListener | Self::CreateGroup
        | Self::UpdateGroup | Self::DeleteGroup | Self::AssignClientToGroup | Self::UnassignClientFromGroup
        | Self::AssignMappingRuleToGroup | Self::UnassignMappingRuleFromGroup | Self::AssignUserToGroup
        | Self::UnassignUserFromGroup | Self::ResolveIncident | Self::UpdateJob | Self::CompleteJob
        | Self::ThrowJobError | Self::FailJob | Self::CreateMappingRule | Self::UpdateMappingRule
        | Self::DeleteMappingRule | Self::CancelProcessInstancesBatchOperation
        | Self::DeleteProcessInstancesBatchOperation | Self::ResolveIncidentsBatchOperation
        | Self::MigrateProcessInstancesBatchOperation | Self::ModifyProcessInstancesBatchOperation
        | Self::CancelProcessInstance | Self::DeleteProcessInstance | Self::ResolveProcessInstanceIncidents
        | Self::MigrateProcessInstance | Self::ModifyProcessInstance | Self::DeleteResource | Self::CreateRole
        | Self::UpdateRole | Self::DeleteRole | Self::AssignRoleToClient | Self::UnassignRoleFromClient
        | Self::AssignRoleToGroup | Self::UnassignRoleFromGroup | Self::AssignRoleToMappingRule
        | Self::UnassignRoleFromMappingRule | Self::AssignRoleToUser | Self::UnassignRoleFromUser
        | Self::CreateTenant | Self::UpdateTenant | Self::DeleteTenant | Self::AssignClientToTenant
        | Self::UnassignClientFromTenant | Self::AssignGroupToTenant | Self::UnassignGroupFromTenant
        | Self::AssignMappingRuleToTenant | Self::UnassignMappingRuleFromTenant | Self::AssignRoleToTenant
        | Self::UnassignRoleFromTenant | Self::AssignUserToTenant | Self::UnassignUserFromTenant
        | Self::CreateUser | Self::UpdateUser | Self::DeleteUser | Self::UpdateUserTask
        | Self::UnassignUserTask | Self::AssignUserTask | Self::CompleteUserTask | Self::CreateAgentInstance
        | Self::UpdateAgentInstance | Self::CreateAgentInstanceHistoryItem | Self::UpdateJobsBatchOperation
        | Self::ResumeProcessInstancesBatchOperation | Self::SuspendProcessInstancesBatchOperation
        | Self::AssignProcessInstanceBusinessId | Self::ResumeProcessInstance | Self::SuspendProcessInstance
        // Their rows or views are looked at before they are shown.
        | Self::SearchAuditLogs | Self::GetAuditLog | Self::SearchAuthorizations | Self::GetAuthorization
        | Self::SearchBatchOperationItems | Self::SearchBatchOperations | Self::GetBatchOperation
        | Self::GetGlobalClusterVariable | Self::SearchClusterVariables | Self::GetTenantClusterVariable
        | Self::SearchCorrelatedMessageSubscriptions | Self::SearchDecisionDefinitions
        | Self::GetDecisionDefinition | Self::GetDecisionDefinitionXML | Self::SearchDecisionInstances
        | Self::GetDecisionInstance | Self::SearchDecisionRequirements | Self::GetDecisionRequirements
        | Self::GetDecisionRequirementsXML | Self::SearchElementInstances | Self::GetElementInstance
        | Self::SearchElementInstanceIncidents | Self::GetGlobalTaskListener | Self::SearchGlobalTaskListeners
        | Self::SearchGroups | Self::GetGroup | Self::SearchClientsForGroup | Self::SearchMappingRulesForGroup
        | Self::SearchRolesForGroup | Self::SearchUsersForGroup | Self::SearchIncidents | Self::GetIncident
        | Self::GetProcessInstanceStatisticsByDefinition | Self::GetProcessInstanceStatisticsByError
        | Self::SearchJobs | Self::SearchMappingRule | Self::GetMappingRule | Self::SearchMessageSubscriptions
        | Self::SearchProcessDefinitions | Self::GetProcessDefinitionMessageSubscriptionStatistics
        | Self::GetProcessDefinitionInstanceStatistics | Self::GetProcessDefinition
        | Self::GetStartProcessForm | Self::GetProcessDefinitionStatistics | Self::GetProcessDefinitionXML
        | Self::GetProcessDefinitionInstanceVersionStatistics | Self::SearchProcessInstances
        | Self::GetProcessInstance | Self::GetProcessInstanceCallHierarchy
        | Self::SearchProcessInstanceIncidents | Self::GetProcessInstanceSequenceFlows
        | Self::GetProcessInstanceStatistics | Self::GetResource | Self::GetResourceContent
        | Self::SearchRoles | Self::GetRole | Self::SearchClientsForRole | Self::SearchGroupsForRole
        | Self::SearchMappingRulesForRole | Self::SearchUsersForRole | Self::SearchTenants | Self::GetTenant
        | Self::SearchClientsForTenant | Self::SearchGroupIdsForTenant | Self::SearchMappingRulesForTenant
        | Self::SearchRolesForTenant | Self::SearchUsersForTenant | Self::SearchUsers | Self::GetUser
        | Self::SearchUserTasks | Self::GetUserTask | Self::SearchUserTaskAuditLogs
        | Self::SearchUserTaskEffectiveVariables | Self::GetUserTaskForm | Self::SearchUserTaskVariables
        | Self::SearchVariables | Self::GetVariable | Self::GetAgentDefinition | Self::SearchAgentDefinitions
        | Self::GetAgentInstance | Self::SearchAgentInstances | Self::SearchAgentInstanceHistory
        | Self::SearchElementInstanceWaitStates | Self::GetFormByKey
        | Self::SearchProcessDefinitionVariableNames | Self::GetProcessInstanceWaitStateStatistics
        | Self::SearchResources | Self::GetResourceContentBinary | Self::SearchAnything
        | Self::ListProcessInstanceSteps | Self::CountProcessInstances | Self::GetProcessInstanceExplanation
        | Self::GetProcessInstanceTrend
        | Self::GetProcessInstanceTimeline | Self::GetProcessInstanceAt | Self::ListElementInstanceChildren
        | Self::GetProcessDefinitionDurations
        // They look at each thing, or show somebody his own.
        | Self::SearchOwnAuthorizations | Self::CheckPermissions | Self::ListViews | Self::CreateView
        | Self::UpdateView | Self::DeleteView | Self::ListSecrets | Self::ResolveSecrets | Self::AwaitChanges
        // Everybody may have them; there is an administrator only once.
        | Self::GetAuthentication | Self::GetLicense | Self::GetStatus | Self::GetSystemConfiguration
        | Self::GetTopology | Self::GetClusterStatus | Self::GetClusterTopology | Self::GetBoot
        | Self::CreateAdminUser
    };
}

const fn takes(permissions: &'static [(R, P)]) -> Checks {
    Checks { permissions, tenant: TenantIn::Nothing }
}

const fn is_for(tenant: TenantIn) -> Checks {
    Checks { permissions: &[], tenant }
}

impl Operation {
    /// The checks that the gateway makes for the operation.
    pub(super) const fn checks(self) -> Checks {
        match self {
            Self::CreateDocument | Self::CreateDocuments => takes(&[(R::Document, P::Create)]),
            Self::GetDocument | Self::CreateDocumentLink => takes(&[(R::Document, P::Read)]),
            Self::DeleteDocument => takes(&[(R::Document, P::Delete)]),
            Self::GetUsageMetrics => takes(&[(R::System, P::ReadUsageMetric)]),
            Self::GetGlobalJobStatistics
            | Self::GetJobTypeStatistics
            | Self::GetJobWorkerStatistics
            | Self::GetJobTimeSeriesStatistics
            | Self::GetJobErrorStatistics
            | Self::GetJobTrend
            | Self::ListJobTypes
            | Self::ListWorkers => takes(&[(R::System, P::ReadJobMetric)]),
            Self::GetCluster | Self::ListParkedRecords | Self::ListBannedInstances => {
                takes(&[(R::System, P::Read)])
            }
            Self::ReplayParkedRecords | Self::ReleaseBannedInstance | Self::CancelBannedInstance => {
                takes(&[(R::System, P::Update)])
            }
            Self::GetExportingStatus
            | Self::GetClusterExportingStatus
            | Self::PauseExporting
            | Self::PauseClusterExporting
            | Self::ResumeExporting
            | Self::ResumeClusterExporting => takes(&[(R::Exporter, P::Pause)]),
            Self::TakeRuntimeBackup
            | Self::TakeRuntimeBackupAsClusterAdmin
            | Self::SyncRuntimeBackupState
            | Self::SyncRuntimeBackupStateAsClusterAdmin
            | Self::TakeHistoryBackup
            | Self::TakeHistoryBackupAsClusterAdmin => takes(&[(R::Backup, P::Create)]),
            Self::ListRuntimeBackups
            | Self::ListRuntimeBackupsAsClusterAdmin
            | Self::GetRuntimeBackup
            | Self::GetRuntimeBackupAsClusterAdmin
            | Self::GetRuntimeBackupState
            | Self::GetRuntimeBackupStateAsClusterAdmin
            | Self::ListHistoryBackups
            | Self::ListHistoryBackupsAsClusterAdmin
            | Self::GetHistoryBackup
            | Self::GetHistoryBackupAsClusterAdmin => takes(&[(R::Backup, P::Read)]),
            Self::DeleteRuntimeBackup
            | Self::DeleteRuntimeBackupAsClusterAdmin
            | Self::DeleteRuntimeBackupState
            | Self::DeleteRuntimeBackupStateAsClusterAdmin
            | Self::DeleteHistoryBackup
            | Self::DeleteHistoryBackupAsClusterAdmin => takes(&[(R::Backup, P::Delete)]),
            Self::Restore | Self::RestoreAsClusterAdmin | Self::GetRestoreStatus => {
                takes(&[(R::Backup, P::Restore)])
            }
            Self::ChangeClusterMode | Self::ChangeClusterModeAsClusterAdmin => {
                takes(&[(R::System, P::Update), (R::Backup, P::Restore)])
            }
            Self::EvaluateExpression => {
                Checks { permissions: &[(R::Expression, P::Evaluate)], tenant: TenantIn::BodyAtWill }
            }
            Self::CreateProcessInstance
            | Self::PublishMessage
            | Self::CorrelateMessage
            | Self::BroadcastSignal
            | Self::EvaluateDecision
            | Self::EvaluateConditionals => is_for(TenantIn::Body),
            Self::CreateDeployment => is_for(TenantIn::Form),
            Self::ActivateJobs => is_for(TenantIn::List),
            checked_elsewhere!() => is_for(TenantIn::Nothing),
        }
    }
}
