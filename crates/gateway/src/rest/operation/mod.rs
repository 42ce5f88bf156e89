//! The operations that are served, one file each. To add one: a file, its module, and a line in the table below.
//! Operations that differ only in their subject share a function, with a line each in the second half of the table.

mod activate_ad_hoc_sub_process_activities;
mod activate_jobs;
mod administration;
mod agent_instance;
mod assign_process_instance_business_id;
mod assign_user_task;
mod batch_operation;
mod broadcast_signal;
mod cancel_batch_operation;
mod cluster_variable;
mod complete_job;
mod complete_user_task;
mod correlate_message;
mod create_deployment;
mod create_document;
mod create_document_link;
mod create_documents;
mod create_element_instance_variables;
mod create_global_cluster_variable;
mod create_global_task_listener;
mod create_process_instance;
mod create_tenant_cluster_variable;
mod delete_document;
mod delete_global_cluster_variable;
mod delete_global_task_listener;
mod delete_resource;
mod delete_tenant_cluster_variable;
pub(super) mod document;
mod evaluate_conditionals;
mod evaluate_decision;
mod evaluate_expression;
mod fail_job;
mod get_authentication;
mod get_batch_operation;
mod get_decision_definition;
mod get_decision_definition_xml;
mod get_decision_requirements;
mod get_decision_requirements_xml;
mod get_document;
mod get_element_instance;
mod get_form_by_key;
mod get_global_cluster_variable;
mod get_global_job_statistics;
mod get_global_task_listener;
mod get_incident;
mod get_job_error_statistics;
mod get_job_time_series_statistics;
mod get_job_type_statistics;
mod get_job_worker_statistics;
mod get_license;
mod get_process_definition;
mod get_process_definition_instance_statistics;
mod get_process_definition_instance_version_statistics;
mod get_process_definition_message_subscription_statistics;
mod get_process_definition_statistics;
mod get_process_definition_xml;
mod get_process_instance;
mod get_process_instance_call_hierarchy;
mod get_process_instance_statistics;
mod get_process_instance_statistics_by_definition;
mod get_process_instance_statistics_by_error;
mod get_process_instance_wait_state_statistics;
mod get_start_process_form;
mod get_status;
mod get_system_configuration;
mod get_tenant_cluster_variable;
mod get_topology;
mod get_usage_metrics;
mod get_user_task;
mod get_user_task_form;
mod get_variable;
mod global_task_listener;
pub(super) mod history;
pub(super) mod identity;
mod metadata_filter;
mod migrate_process_instance;
mod migrate_process_instances_batch_operation;
mod modify_process_instance;
mod modify_process_instances_batch_operation;
mod pin_clock;
mod process_instance;
mod publish_message;
mod reset_clock;
mod resolve_incident;
mod resolve_incidents_batch_operation;
mod resolve_process_instance_incidents;
mod resource;
mod resume_batch_operation;
mod search_batch_operation_items;
mod search_batch_operations;
mod search_cluster_variables;
mod search_global_task_listeners;
mod search_process_definition_variable_names;
mod search_resources;
mod search_user_task_effective_variables;
mod search_user_task_variables;
mod suspend_batch_operation;
mod throw_job_error;
mod unassign_user_task;
mod update_global_cluster_variable;
mod update_global_task_listener;
mod update_job;
mod update_jobs_batch_operation;
mod update_tenant_cluster_variable;
mod update_user_task;

use http::StatusCode;
use protocol::{BatchAction, CircleKind, EntityType, HistoryKind};

use super::baton;
pub(crate) use super::call::{Call, Served};
pub(super) use super::call::{form_reply, unexpected};
use super::contract::Operation;
use super::problem::Failure;
use super::query;
use super::reply::Reply;

macro_rules! served {
    ($($operation:ident in $module:ident),*; $($alike:ident in $handler:path $([$($whom:expr),*])?,)*) => {
        /// The operations that have a file here.
        #[cfg(test)]
        const NAMED: &[Operation] = &[$(Operation::$operation,)* $(Operation::$alike),*];

        /// The work of a call on its operation. It is boxed, so that no future holds those of all operations.
        fn serve<'a>(call: &'a Call<'_>) -> Served<'a> {
            match call.operation {
                $(Operation::$operation => Box::pin($module::handle(call)),)*
                $(Operation::$alike => Box::pin($handler(call $($(, $whom)*)?)),)*
                other => baton::serve(call).unwrap_or_else(|| Box::pin(read(call, other))),
            }
        }
    };
}

/// A search or a read of secondary storage, which have no file here.
async fn read(call: &Call<'_>, operation: Operation) -> Result<Reply, Failure> {
    if let Some(spec) = query::of(operation) {
        return query::search(call, spec).await;
    }
    if query::get_of(operation).is_some() {
        call.storage()?;
        return Err(Failure::not_found(format!("no resource has the key {}", call.parameter())));
    }
    let id = operation.spec().id;
    Err(Failure::not_served(format!("the operation {id} is not served by this release")))
}

/// The operations that are served; the rest of the contract answers 501.
#[cfg(test)]
pub(crate) fn served() -> Vec<Operation> {
    use super::contract::ROUTES;
    let all = ROUTES.iter().flat_map(|node| node.operations).flatten();
    let is_served = |one: &Operation| {
        NAMED.contains(one)
            || baton::SERVED.contains(one)
            || query::of(*one).is_some()
            || query::get_of(*one).is_some()
    };
    all.filter(is_served).collect()
}

/// Runs the operation of a call. An entity that the engine does not know may have ended, and is searched in
/// secondary storage.
pub(crate) async fn perform(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_operation().await?;
    call.check_tenants()?;
    match serve(call).await {
        Err(failure) if failure.status() == StatusCode::NOT_FOUND => query::get(call, failure).await,
        outcome => outcome,
    }
}

served! {
    ActivateAdHocSubProcessActivities in activate_ad_hoc_sub_process_activities,
    ActivateJobs in activate_jobs,
    AssignProcessInstanceBusinessId in assign_process_instance_business_id,
    AssignUserTask in assign_user_task,
    BroadcastSignal in broadcast_signal,
    CancelBatchOperation in cancel_batch_operation,
    CompleteJob in complete_job,
    CompleteUserTask in complete_user_task,
    CorrelateMessage in correlate_message,
    CreateDeployment in create_deployment,
    CreateDocument in create_document,
    CreateDocumentLink in create_document_link,
    CreateDocuments in create_documents,
    CreateElementInstanceVariables in create_element_instance_variables,
    CreateGlobalClusterVariable in create_global_cluster_variable,
    CreateGlobalTaskListener in create_global_task_listener,
    CreateProcessInstance in create_process_instance,
    CreateTenantClusterVariable in create_tenant_cluster_variable,
    DeleteDocument in delete_document,
    DeleteGlobalClusterVariable in delete_global_cluster_variable,
    DeleteGlobalTaskListener in delete_global_task_listener,
    DeleteResource in delete_resource,
    DeleteTenantClusterVariable in delete_tenant_cluster_variable,
    EvaluateConditionals in evaluate_conditionals,
    EvaluateDecision in evaluate_decision,
    EvaluateExpression in evaluate_expression,
    FailJob in fail_job,
    GetAuthentication in get_authentication,
    GetBatchOperation in get_batch_operation,
    GetDecisionDefinition in get_decision_definition,
    GetDecisionDefinitionXML in get_decision_definition_xml,
    GetDecisionRequirements in get_decision_requirements,
    GetDecisionRequirementsXML in get_decision_requirements_xml,
    GetDocument in get_document,
    GetElementInstance in get_element_instance,
    GetFormByKey in get_form_by_key,
    GetGlobalClusterVariable in get_global_cluster_variable,
    GetGlobalJobStatistics in get_global_job_statistics,
    GetGlobalTaskListener in get_global_task_listener,
    GetIncident in get_incident,
    GetJobErrorStatistics in get_job_error_statistics,
    GetJobTimeSeriesStatistics in get_job_time_series_statistics,
    GetJobTypeStatistics in get_job_type_statistics,
    GetJobWorkerStatistics in get_job_worker_statistics,
    GetLicense in get_license,
    GetProcessDefinition in get_process_definition,
    GetProcessDefinitionInstanceStatistics in get_process_definition_instance_statistics,
    GetProcessDefinitionInstanceVersionStatistics in get_process_definition_instance_version_statistics,
    GetProcessDefinitionMessageSubscriptionStatistics in get_process_definition_message_subscription_statistics,
    GetProcessDefinitionStatistics in get_process_definition_statistics,
    GetProcessDefinitionXML in get_process_definition_xml,
    GetProcessInstance in get_process_instance,
    GetProcessInstanceCallHierarchy in get_process_instance_call_hierarchy,
    GetProcessInstanceStatistics in get_process_instance_statistics,
    GetProcessInstanceStatisticsByDefinition in get_process_instance_statistics_by_definition,
    GetProcessInstanceStatisticsByError in get_process_instance_statistics_by_error,
    GetProcessInstanceWaitStateStatistics in get_process_instance_wait_state_statistics,
    GetStartProcessForm in get_start_process_form,
    GetStatus in get_status,
    GetSystemConfiguration in get_system_configuration,
    GetTenantClusterVariable in get_tenant_cluster_variable,
    GetTopology in get_topology,
    GetUsageMetrics in get_usage_metrics,
    GetUserTask in get_user_task,
    GetUserTaskForm in get_user_task_form,
    GetVariable in get_variable,
    MigrateProcessInstance in migrate_process_instance,
    MigrateProcessInstancesBatchOperation in migrate_process_instances_batch_operation,
    ModifyProcessInstance in modify_process_instance,
    ModifyProcessInstancesBatchOperation in modify_process_instances_batch_operation,
    PinClock in pin_clock,
    PublishMessage in publish_message,
    ResetClock in reset_clock,
    ResolveIncident in resolve_incident,
    ResolveIncidentsBatchOperation in resolve_incidents_batch_operation,
    ResolveProcessInstanceIncidents in resolve_process_instance_incidents,
    ResumeBatchOperation in resume_batch_operation,
    SearchBatchOperationItems in search_batch_operation_items,
    SearchBatchOperations in search_batch_operations,
    SearchClusterVariables in search_cluster_variables,
    SearchGlobalTaskListeners in search_global_task_listeners,
    SearchProcessDefinitionVariableNames in search_process_definition_variable_names,
    SearchResources in search_resources,
    SearchUserTaskEffectiveVariables in search_user_task_effective_variables,
    SearchUserTaskVariables in search_user_task_variables,
    SuspendBatchOperation in suspend_batch_operation,
    ThrowJobError in throw_job_error,
    UnassignUserTask in unassign_user_task,
    UpdateGlobalClusterVariable in update_global_cluster_variable,
    UpdateGlobalTaskListener in update_global_task_listener,
    UpdateJob in update_job,
    UpdateJobsBatchOperation in update_jobs_batch_operation,
    UpdateTenantClusterVariable in update_tenant_cluster_variable,
    UpdateUserTask in update_user_task;
    AssignClientToGroup in identity::member::add[CircleKind::Group, EntityType::Client],
    AssignClientToTenant in identity::member::add[CircleKind::Tenant, EntityType::Client],
    AssignGroupToTenant in identity::member::add[CircleKind::Tenant, EntityType::Group],
    AssignMappingRuleToGroup in identity::member::add[CircleKind::Group, EntityType::MappingRule],
    AssignMappingRuleToTenant in identity::member::add[CircleKind::Tenant, EntityType::MappingRule],
    AssignRoleToClient in identity::member::add[CircleKind::Role, EntityType::Client],
    AssignRoleToGroup in identity::member::add[CircleKind::Role, EntityType::Group],
    AssignRoleToMappingRule in identity::member::add[CircleKind::Role, EntityType::MappingRule],
    AssignRoleToTenant in identity::member::add[CircleKind::Tenant, EntityType::Role],
    AssignRoleToUser in identity::member::add[CircleKind::Role, EntityType::User],
    AssignUserToGroup in identity::member::add[CircleKind::Group, EntityType::User],
    AssignUserToTenant in identity::member::add[CircleKind::Tenant, EntityType::User],
    ChangeClusterMode in administration::cluster::change_mode,
    ChangeClusterModeAsClusterAdmin in administration::cluster::change_mode,
    CancelProcessInstance in process_instance::cancel,
    CancelProcessInstancesBatchOperation in batch_operation::create[BatchAction::Cancel],
    CreateAgentInstance in agent_instance::create,
    CreateAgentInstanceHistoryItem in agent_instance::create_item,
    UpdateAgentInstance in agent_instance::update,
    CreateAdminUser in identity::user::create_administrator,
    CreateAuthorization in identity::authorization::create,
    CreateGroup in identity::circle::create[CircleKind::Group],
    CreateMappingRule in identity::mapping_rule::create,
    CreateRole in identity::circle::create[CircleKind::Role],
    CreateTenant in identity::circle::create[CircleKind::Tenant],
    CreateUser in identity::user::create,
    DeleteAuthorization in identity::authorization::delete,
    DeleteDecisionInstance in history::delete[HistoryKind::DecisionInstance],
    DeleteDecisionInstancesBatchOperation in history::delete_all[HistoryKind::DecisionInstance],
    DeleteGroup in identity::circle::delete[CircleKind::Group],
    DeleteHistoryBackup in administration::history_backups::delete,
    DeleteHistoryBackupAsClusterAdmin in administration::history_backups::delete,
    DeleteMappingRule in identity::mapping_rule::delete,
    DeleteProcessInstance in history::delete[HistoryKind::ProcessInstance],
    DeleteProcessInstancesBatchOperation in history::delete_all[HistoryKind::ProcessInstance],
    DeleteRole in identity::circle::delete[CircleKind::Role],
    DeleteRuntimeBackup in administration::backups::delete,
    DeleteRuntimeBackupAsClusterAdmin in administration::backups::delete,
    DeleteRuntimeBackupState in administration::backups::delete_state,
    DeleteRuntimeBackupStateAsClusterAdmin in administration::backups::delete_state,
    DeleteTenant in identity::circle::delete[CircleKind::Tenant],
    DeleteUser in identity::user::delete,
    GetAuthorization in identity::authorization::get,
    GetClusterExportingStatus in administration::exporting::status,
    GetClusterStatus in administration::cluster::status,
    GetClusterTopology in administration::cluster::topology,
    GetExportingStatus in administration::exporting::status,
    GetGroup in identity::circle::get[CircleKind::Group],
    GetHistoryBackup in administration::history_backups::get,
    GetHistoryBackupAsClusterAdmin in administration::history_backups::get_of_all,
    GetMappingRule in identity::mapping_rule::get,
    GetResource in resource::get,
    GetResourceContent in resource::get_content,
    GetResourceContentBinary in resource::get_bytes,
    GetRestoreStatus in administration::restore::status,
    GetRole in identity::circle::get[CircleKind::Role],
    GetRuntimeBackup in administration::backups::get,
    GetRuntimeBackupAsClusterAdmin in administration::backups::get_of_all,
    GetRuntimeBackupState in administration::backups::state,
    GetRuntimeBackupStateAsClusterAdmin in administration::backups::state_of_all,
    GetTenant in identity::circle::get[CircleKind::Tenant],
    GetUser in identity::user::get,
    ListHistoryBackups in administration::history_backups::list,
    ListHistoryBackupsAsClusterAdmin in administration::history_backups::list_of_all,
    ListRuntimeBackups in administration::backups::list,
    ListRuntimeBackupsAsClusterAdmin in administration::backups::list_of_all,
    ListSecrets in administration::secrets::list,
    PauseClusterExporting in administration::exporting::pause,
    PauseExporting in administration::exporting::pause,
    ResolveSecrets in administration::secrets::resolve,
    Restore in administration::restore::begin,
    RestoreAsClusterAdmin in administration::restore::begin,
    ResumeClusterExporting in administration::exporting::resume,
    ResumeExporting in administration::exporting::resume,
    ResumeProcessInstance in process_instance::resume,
    ResumeProcessInstancesBatchOperation in batch_operation::create[BatchAction::Resume],
    SearchAuthorizations in identity::authorization::search,
    SearchClientsForGroup in identity::member::search[CircleKind::Group, EntityType::Client],
    SearchClientsForRole in identity::member::search[CircleKind::Role, EntityType::Client],
    SearchClientsForTenant in identity::member::search[CircleKind::Tenant, EntityType::Client],
    SearchGroupIdsForTenant in identity::member::search[CircleKind::Tenant, EntityType::Group],
    SearchGroups in identity::circle::search[CircleKind::Group],
    SearchGroupsForRole in identity::member::search[CircleKind::Role, EntityType::Group],
    SearchMappingRule in identity::mapping_rule::search,
    SearchMappingRulesForGroup in identity::member::search[CircleKind::Group, EntityType::MappingRule],
    SearchMappingRulesForRole in identity::member::search[CircleKind::Role, EntityType::MappingRule],
    SearchMappingRulesForTenant in identity::member::search[CircleKind::Tenant, EntityType::MappingRule],
    SearchOwnAuthorizations in identity::authorization::search_own,
    SearchRoles in identity::circle::search[CircleKind::Role],
    SearchRolesForGroup in identity::circle::search_of[EntityType::Group, CircleKind::Role],
    SearchRolesForTenant in identity::member::search[CircleKind::Tenant, EntityType::Role],
    SearchTenants in identity::circle::search[CircleKind::Tenant],
    SearchUsers in identity::user::search,
    SearchUsersForGroup in identity::member::search[CircleKind::Group, EntityType::User],
    SearchUsersForRole in identity::member::search[CircleKind::Role, EntityType::User],
    SearchUsersForTenant in identity::member::search[CircleKind::Tenant, EntityType::User],
    SuspendProcessInstance in process_instance::suspend,
    SuspendProcessInstancesBatchOperation in batch_operation::create[BatchAction::Suspend],
    SyncRuntimeBackupState in administration::backups::sync_state,
    SyncRuntimeBackupStateAsClusterAdmin in administration::backups::sync_state_of_all,
    TakeHistoryBackup in administration::history_backups::take,
    TakeHistoryBackupAsClusterAdmin in administration::history_backups::take_of_all,
    TakeRuntimeBackup in administration::backups::take,
    TakeRuntimeBackupAsClusterAdmin in administration::backups::take_of_all,
    UnassignClientFromGroup in identity::member::remove[CircleKind::Group, EntityType::Client],
    UnassignClientFromTenant in identity::member::remove[CircleKind::Tenant, EntityType::Client],
    UnassignGroupFromTenant in identity::member::remove[CircleKind::Tenant, EntityType::Group],
    UnassignMappingRuleFromGroup in identity::member::remove[CircleKind::Group, EntityType::MappingRule],
    UnassignMappingRuleFromTenant in identity::member::remove[CircleKind::Tenant, EntityType::MappingRule],
    UnassignRoleFromClient in identity::member::remove[CircleKind::Role, EntityType::Client],
    UnassignRoleFromGroup in identity::member::remove[CircleKind::Role, EntityType::Group],
    UnassignRoleFromMappingRule in identity::member::remove[CircleKind::Role, EntityType::MappingRule],
    UnassignRoleFromTenant in identity::member::remove[CircleKind::Tenant, EntityType::Role],
    UnassignRoleFromUser in identity::member::remove[CircleKind::Role, EntityType::User],
    UnassignUserFromGroup in identity::member::remove[CircleKind::Group, EntityType::User],
    UnassignUserFromTenant in identity::member::remove[CircleKind::Tenant, EntityType::User],
    UpdateAuthorization in identity::authorization::update,
    UpdateGroup in identity::circle::update[CircleKind::Group],
    UpdateMappingRule in identity::mapping_rule::update,
    UpdateRole in identity::circle::update[CircleKind::Role],
    UpdateTenant in identity::circle::update[CircleKind::Tenant],
    UpdateUser in identity::user::update,
}
