//! Every operation of the client that reads, about what the runner has put into the server (seeds.py). Each answer is
//! decoded; searches must find something.

use camunda_orchestration_sdk::apis::*;
use camunda_orchestration_sdk::{CamundaError, Result};
use rust_client_suite::{body, client, key, refused};
use serde::Serialize;
use serde_json::{Value, json};

const SINCE: &str = "2020-01-01T00:00:00Z";
const UNTIL: &str = "2099-01-01T00:00:00Z";

/// Searches for what the runner has not put there.
const EMPTY: &[&str] = &[
    "get_process_instance_statistics_by_definition",
    "search_element_instance_incidents",
    "search_own_authorizations",
    "search_process_instance_incidents",
];

/// A moment as the client has it.
fn moment<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(json!(text)).unwrap()
}

fn decoded<T: Serialize>(name: &str, answer: Result<T>) {
    let answer = serde_json::to_value(answer.unwrap()).unwrap();
    if let Some(items) = answer.get("items").and_then(Value::as_array) {
        assert_eq!(items.is_empty(), EMPTY.contains(&name), "{name}: {answer}");
    }
}

/// It asks for another path than that of the contract: one below `/v2`.
fn asked_elsewhere<T>(name: &str, answer: Result<T>) {
    assert_eq!(refused(answer), 404, "{name}");
}

/// It writes moments of queries in another form than that of the contract.
fn asked_wrongly<T>(name: &str, answer: Result<T>) {
    assert_eq!(refused(answer), 400, "{name}");
}

/// It takes no XML, and no key of a resource.
fn not_decoded<T>(name: &str, answer: Result<T>) {
    assert!(matches!(answer, Err(CamundaError::Serialization(_))), "{name}");
}

macro_rules! reads {
    ($check:ident; $($name:ident: $($params:expr)?;)*) => {$(
        #[tokio::test]
        async fn $name() {
            $check(stringify!($name), client().$name($($params)?).await);
        }
    )*};
}

reads! { decoded;
    get_agent_definition: agent_definition_api::GetAgentDefinitionParams { agent_definition_key: key("agentDefinitionKey") };
    search_agent_definitions: agent_definition_api::SearchAgentDefinitionsParams { agent_definition_search_query: body(json!({})) };
    get_agent_instance: agent_instance_api::GetAgentInstanceParams { agent_instance_key: key("agentInstanceKey") };
    search_agent_instance_history: agent_instance_api::SearchAgentInstanceHistoryParams { agent_instance_key: key("agentInstanceKey"), agent_instance_history_search_query: body(json!({})) };
    search_agent_instances: agent_instance_api::SearchAgentInstancesParams { agent_instance_search_query: body(json!({})) };
    get_audit_log: audit_log_api::GetAuditLogParams { audit_log_key: key("auditLogKey") };
    get_authentication: ;
    get_runtime_backup_state: ;
    get_exporting_status: ;
    get_license: ;
    get_system_configuration: ;
    search_own_authorizations: authentication_api::SearchOwnAuthorizationsParams { authorization_search_query: body(json!({})) };
    get_authorization: authorization_api::GetAuthorizationParams { authorization_key: key("authorizationKey") };
    search_authorizations: authorization_api::SearchAuthorizationsParams { authorization_search_query: body(json!({})) };
    get_history_backup: backup_api::GetHistoryBackupParams { backup_id: 1 };
    get_runtime_backup: backup_api::GetRuntimeBackupParams { backup_id: 1 };
    list_history_backups: backup_api::ListHistoryBackupsParams { prefix: None, verbose: None };
    list_runtime_backups: backup_api::ListRuntimeBackupsParams { prefix: None };
    get_batch_operation: batch_operation_api::GetBatchOperationParams { batch_operation_key: key("batchOperationKey") };
    search_batch_operation_items: batch_operation_api::SearchBatchOperationItemsParams { batch_operation_item_search_query: body(json!({})) };
    search_batch_operations: batch_operation_api::SearchBatchOperationsParams { batch_operation_search_query: body(json!({})) };
    get_global_cluster_variable: cluster_variable_api::GetGlobalClusterVariableParams { name: key("name") };
    get_tenant_cluster_variable: cluster_variable_api::GetTenantClusterVariableParams { tenant_id: key("tenantId"), name: key("name") };
    search_cluster_variables: cluster_variable_api::SearchClusterVariablesParams { truncate_values: None, cluster_variable_search_query_request: body(json!({})) };
    get_decision_definition: decision_definition_api::GetDecisionDefinitionParams { decision_definition_key: key("decisionDefinitionKey") };
    search_decision_definitions: decision_definition_api::SearchDecisionDefinitionsParams { decision_definition_search_query: body(json!({})) };
    get_decision_instance: decision_instance_api::GetDecisionInstanceParams { decision_evaluation_instance_key: key("decisionEvaluationInstanceKey") };
    search_decision_instances: decision_instance_api::SearchDecisionInstancesParams { decision_instance_search_query: body(json!({})) };
    get_decision_requirements: decision_requirements_api::GetDecisionRequirementsParams { decision_requirements_key: key("decisionRequirementsKey") };
    search_decision_requirements: decision_requirements_api::SearchDecisionRequirementsParams { decision_requirements_search_query: body(json!({})) };
    get_element_instance: element_instance_api::GetElementInstanceParams { element_instance_key: key("elementInstanceKey") };
    search_element_instance_incidents: element_instance_api::SearchElementInstanceIncidentsParams { element_instance_key: key("elementInstanceKey"), incident_search_query: body(json!({})) };
    search_element_instance_wait_states: element_instance_api::SearchElementInstanceWaitStatesParams { element_instance_wait_state_query: body(json!({})) };
    search_element_instances: element_instance_api::SearchElementInstancesParams { element_instance_search_query: body(json!({})) };
    get_form_by_key: form_api::GetFormByKeyParams { form_key: key("formKey") };
    get_global_task_listener: global_listener_api::GetGlobalTaskListenerParams { id: key("id") };
    search_global_task_listeners: global_listener_api::SearchGlobalTaskListenersParams { global_task_listener_search_query_request: body(json!({})) };
    get_group: group_api::GetGroupParams { group_id: key("groupId") };
    search_clients_for_group: group_api::SearchClientsForGroupParams { group_id: key("groupId"), group_client_search_query_request: body(json!({})) };
    search_groups: group_api::SearchGroupsParams { group_search_query_request: body(json!({})) };
    search_mapping_rules_for_group: group_api::SearchMappingRulesForGroupParams { group_id: key("groupId"), mapping_rule_search_query_request: body(json!({})) };
    search_roles_for_group: group_api::SearchRolesForGroupParams { group_id: key("groupId"), role_search_query_request: body(json!({})) };
    search_users_for_group: group_api::SearchUsersForGroupParams { group_id: key("groupId"), group_user_search_query_request: body(json!({})) };
    get_incident: incident_api::GetIncidentParams { incident_key: key("incidentKey") };
    get_process_instance_statistics_by_definition: incident_api::GetProcessInstanceStatisticsByDefinitionParams { incident_process_instance_statistics_by_definition_query: body(json!({"filter": {"errorHashCode": 1}})) };
    get_process_instance_statistics_by_error: incident_api::GetProcessInstanceStatisticsByErrorParams { incident_process_instance_statistics_by_error_query: body(json!({})) };
    search_incidents: incident_api::SearchIncidentsParams { incident_search_query: body(json!({})) };
    get_job_error_statistics: job_api::GetJobErrorStatisticsParams { job_error_statistics_query: body(json!({"filter": {"from": SINCE, "to": UNTIL, "jobType": key("processDefinitionId")}})) };
    get_job_time_series_statistics: job_api::GetJobTimeSeriesStatisticsParams { job_time_series_statistics_query: body(json!({"filter": {"from": SINCE, "to": UNTIL, "jobType": key("processDefinitionId")}})) };
    get_job_type_statistics: job_api::GetJobTypeStatisticsParams { job_type_statistics_query: body(json!({"filter": {"from": SINCE, "to": UNTIL}})) };
    get_job_worker_statistics: job_api::GetJobWorkerStatisticsParams { job_worker_statistics_query: body(json!({"filter": {"from": SINCE, "to": UNTIL, "jobType": key("processDefinitionId")}})) };
    search_jobs: job_api::SearchJobsParams { job_search_query: body(json!({})) };
    get_mapping_rule: mapping_rule_api::GetMappingRuleParams { mapping_rule_id: key("mappingRuleId") };
    search_mapping_rule: mapping_rule_api::SearchMappingRuleParams { mapping_rule_search_query_request: body(json!({})) };
    search_correlated_message_subscriptions: message_subscription_api::SearchCorrelatedMessageSubscriptionsParams { correlated_message_subscription_search_query: body(json!({})) };
    search_message_subscriptions: message_subscription_api::SearchMessageSubscriptionsParams { message_subscription_search_query: body(json!({})) };
    get_process_definition: process_definition_api::GetProcessDefinitionParams { process_definition_key: key("processDefinitionKey") };
    get_process_definition_instance_statistics: process_definition_api::GetProcessDefinitionInstanceStatisticsParams { process_definition_instance_statistics_query: body(json!({})) };
    get_process_definition_instance_version_statistics: process_definition_api::GetProcessDefinitionInstanceVersionStatisticsParams { process_definition_instance_version_statistics_query: body(json!({"filter": {"processDefinitionId": key("processDefinitionId")}})) };
    get_process_definition_message_subscription_statistics: process_definition_api::GetProcessDefinitionMessageSubscriptionStatisticsParams { process_definition_message_subscription_statistics_query: body(json!({})) };
    get_process_definition_statistics: process_definition_api::GetProcessDefinitionStatisticsParams { process_definition_key: key("processDefinitionKey"), process_definition_element_statistics_query: body(json!({})) };
    get_start_process_form: process_definition_api::GetStartProcessFormParams { process_definition_key: key("processDefinitionKey") };
    search_process_definition_variable_names: process_definition_api::SearchProcessDefinitionVariableNamesParams { process_definition_key: key("processDefinitionKey"), process_definition_variable_name_search_query: body(json!({})) };
    search_process_definitions: process_definition_api::SearchProcessDefinitionsParams { process_definition_search_query: body(json!({})) };
    get_process_instance_call_hierarchy: process_instance_api::GetProcessInstanceCallHierarchyParams { process_instance_key: key("processInstanceKey") };
    get_process_instance_sequence_flows: process_instance_api::GetProcessInstanceSequenceFlowsParams { process_instance_key: key("processInstanceKey") };
    get_process_instance_statistics: process_instance_api::GetProcessInstanceStatisticsParams { process_instance_key: key("processInstanceKey") };
    get_process_instance_wait_state_statistics: process_instance_api::GetProcessInstanceWaitStateStatisticsParams { process_instance_key: key("processInstanceKey") };
    search_process_instance_incidents: process_instance_api::SearchProcessInstanceIncidentsParams { process_instance_key: key("processInstanceKey"), incident_search_query: body(json!({})) };
    search_process_instances: process_instance_api::SearchProcessInstancesParams { process_instance_search_query: body(json!({})) };
    get_role: role_api::GetRoleParams { role_id: key("roleId") };
    search_clients_for_role: role_api::SearchClientsForRoleParams { role_id: key("roleId"), role_client_search_query_request: body(json!({})) };
    search_groups_for_role: role_api::SearchGroupsForRoleParams { role_id: key("roleId"), role_group_search_query_request: body(json!({})) };
    search_mapping_rules_for_role: role_api::SearchMappingRulesForRoleParams { role_id: key("roleId"), mapping_rule_search_query_request: body(json!({})) };
    search_roles: role_api::SearchRolesParams { role_search_query_request: body(json!({})) };
    search_users_for_role: role_api::SearchUsersForRoleParams { role_id: key("roleId"), role_user_search_query_request: body(json!({})) };
    list_secrets: secret_api::ListSecretsParams { body: body(json!({})) };
    resolve_secrets: secret_api::ResolveSecretsParams { secret_resolve_request: body(json!({"references": []})) };
    get_tenant: tenant_api::GetTenantParams { tenant_id: key("tenantId") };
    search_clients_for_tenant: tenant_api::SearchClientsForTenantParams { tenant_id: key("tenantId"), tenant_client_search_query_request: body(json!({})) };
    search_group_ids_for_tenant: tenant_api::SearchGroupIdsForTenantParams { tenant_id: key("tenantId"), tenant_group_search_query_request: body(json!({})) };
    search_mapping_rules_for_tenant: tenant_api::SearchMappingRulesForTenantParams { tenant_id: key("tenantId"), mapping_rule_search_query_request: body(json!({})) };
    search_roles_for_tenant: tenant_api::SearchRolesForTenantParams { tenant_id: key("tenantId"), role_search_query_request: body(json!({})) };
    search_tenants: tenant_api::SearchTenantsParams { tenant_search_query_request: body(json!({})) };
    search_users_for_tenant: tenant_api::SearchUsersForTenantParams { tenant_id: key("tenantId"), tenant_user_search_query_request: body(json!({})) };
    get_user: user_api::GetUserParams { username: key("username") };
    search_users: user_api::SearchUsersParams { user_search_query_request: body(json!({})) };
    get_user_task: user_task_api::GetUserTaskParams { user_task_key: key("userTaskKey") };
    get_user_task_form: user_task_api::GetUserTaskFormParams { user_task_key: key("userTaskKey") };
    search_user_task_audit_logs: user_task_api::SearchUserTaskAuditLogsParams { user_task_key: key("userTaskKey"), user_task_audit_log_search_query_request: body(json!({})) };
    search_user_task_effective_variables: user_task_api::SearchUserTaskEffectiveVariablesParams { user_task_key: key("userTaskKey"), truncate_values: None, user_task_effective_variable_search_query_request: body(json!({})) };
    search_user_task_variables: user_task_api::SearchUserTaskVariablesParams { user_task_key: key("userTaskKey"), truncate_values: None, user_task_variable_search_query_request: body(json!({})) };
    search_user_tasks: user_task_api::SearchUserTasksParams { user_task_search_query: body(json!({})) };
    get_variable: variable_api::GetVariableParams { variable_key: key("variableKey") };
}

reads! { not_decoded;
    get_decision_definition_xml: decision_definition_api::GetDecisionDefinitionXmlParams { decision_definition_key: key("decisionDefinitionKey") };
    get_decision_requirements_xml: decision_requirements_api::GetDecisionRequirementsXmlParams { decision_requirements_key: key("decisionRequirementsKey") };
    get_process_definition_xml: process_definition_api::GetProcessDefinitionXmlParams { process_definition_key: key("processDefinitionKey") };
    get_resource: resource_api::GetResourceParams { resource_key: key("resourceKey") };
    search_audit_logs: audit_log_api::SearchAuditLogsParams { audit_log_search_query_request: body(json!({})) };
    search_resources: resource_api::SearchResourcesParams { resource_search_query: body(json!({})) };
}

reads! { asked_elsewhere;
    get_cluster_status: ;
    get_cluster_topology: ;
    get_cluster_exporting_status: ;
    get_history_backup_as_cluster_admin: backup_api::GetHistoryBackupAsClusterAdminParams { backup_id: 1, physical_tenant_id: None };
    get_runtime_backup_as_cluster_admin: backup_api::GetRuntimeBackupAsClusterAdminParams { backup_id: 1, physical_tenant_id: None };
    get_runtime_backup_state_as_cluster_admin: backup_api::GetRuntimeBackupStateAsClusterAdminParams { physical_tenant_id: None };
    list_history_backups_as_cluster_admin: backup_api::ListHistoryBackupsAsClusterAdminParams { physical_tenant_id: None, prefix: None, verbose: None };
    list_runtime_backups_as_cluster_admin: backup_api::ListRuntimeBackupsAsClusterAdminParams { physical_tenant_id: None, prefix: None };
}

reads! { asked_wrongly;
    get_global_job_statistics: job_api::GetGlobalJobStatisticsParams { from: moment(SINCE), to: moment(UNTIL), job_type: None };
    get_usage_metrics: system_api::GetUsageMetricsParams { start_time: moment(SINCE), end_time: moment(UNTIL), tenant_id: None, with_tenants: None };
}

#[tokio::test]
async fn get_status() {
    client().get_status().await.unwrap();
}

#[tokio::test]
async fn get_resource_content_binary() {
    let params = resource_api::GetResourceContentBinaryParams { resource_key: key("resourceKey") };
    let answer = client().get_resource_content_binary(params).await.unwrap();
    assert!(!answer.bytes().await.unwrap().is_empty());
}

#[tokio::test]
async fn get_resource_content() {
    let params = resource_api::GetResourceContentParams { resource_key: key("resourceKey") };
    assert!(client().get_resource_content(params).await.unwrap().contains_key("script"));
}

/// No restore was begun, and two operations are not served.
#[tokio::test]
async fn others_are_not_there() {
    assert_eq!(refused(client().get_restore_status().await), 404);
    assert_eq!(refused(client().get_cluster_rebalance().await), 404);
    assert_eq!(refused(client().get_cluster_upgrade_status().await), 404);
}
