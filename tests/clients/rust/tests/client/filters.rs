//! Filters with alternatives, which the client of 8.10 has for users, groups, roles, mapping rules and user tasks.

use camunda_orchestration_sdk::apis::{
    group_api, mapping_rule_api, message_subscription_api, role_api, user_api, user_task_api,
};
use rust_client_suite::{body, client, key, unique};
use serde::Serialize;
use serde_json::{Value, json};

/// A property of all items, in the order of its texts.
fn all_of<T: Serialize>(items: &[T], property: &str) -> Vec<String> {
    let items = items.iter().map(|item| serde_json::to_value(item).unwrap());
    let mut all: Vec<_> = items.map(|item| item[property].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

/// A filter by one of two IDs, or by a name that only the second has.
fn either(property: &str, ids: &[String; 2], name: &str) -> Value {
    json!({"filter": {"$or": [{property: ids[0]}, {property: {"$like": format!("{}*", ids[1])}, "name": name}]}})
}

#[tokio::test]
async fn users_groups_and_roles_are_found_by_alternatives() {
    let client = client();
    let ids = ["a", "b"].map(unique);
    for id in &ids {
        let user = body(json!({"username": id, "password": "secret", "name": id}));
        client.create_user(user_api::CreateUserParams { user_request: user }).await.unwrap();
        let group = body(json!({"groupId": id, "name": id}));
        client.create_group(group_api::CreateGroupParams { group_create_request: group }).await.unwrap();
        let role = body(json!({"roleId": id, "name": id}));
        client.create_role(role_api::CreateRoleParams { role_create_request: role }).await.unwrap();
        let rule = body(json!({"mappingRuleId": id, "name": id, "claimName": "team", "claimValue": id}));
        let params = mapping_rule_api::CreateMappingRuleParams { mapping_rule_create_request: rule };
        client.create_mapping_rule(params).await.unwrap();
    }
    for (name, wanted) in [(ids[1].as_str(), &ids[..]), ("nobody", &ids[..1])] {
        let query = body(either("username", &ids, name));
        let params = user_api::SearchUsersParams { user_search_query_request: query };
        assert_eq!(all_of(&client.search_users(params).await.unwrap().items, "username"), wanted);
        let query = body(either("groupId", &ids, name));
        let params = group_api::SearchGroupsParams { group_search_query_request: query };
        assert_eq!(all_of(&client.search_groups(params).await.unwrap().items, "groupId"), wanted);
        let query = body(either("roleId", &ids, name));
        let params = role_api::SearchRolesParams { role_search_query_request: query };
        assert_eq!(all_of(&client.search_roles(params).await.unwrap().items, "roleId"), wanted);
        let query = body(either("mappingRuleId", &ids, name));
        let params = mapping_rule_api::SearchMappingRuleParams { mapping_rule_search_query_request: query };
        assert_eq!(all_of(&client.search_mapping_rule(params).await.unwrap().items, "mappingRuleId"), wanted);
    }
}

#[tokio::test]
async fn user_tasks_are_found_by_alternatives() {
    let filter =
        |other: &str| json!({"filter": {"$or": [{"userTaskKey": key("userTaskKey")}, {"assignee": other}]}});
    let params = user_task_api::SearchUserTasksParams { user_task_search_query: body(filter("nobody")) };
    let found = client().search_user_tasks(params).await.unwrap().items;
    assert_eq!(all_of(&found, "userTaskKey"), [key("userTaskKey")]);
}

#[tokio::test]
async fn subscriptions_are_found_by_their_tool_and_connector() {
    let search = async |filter: Value| {
        let query = body(
            json!({"filter": filter, "sort": [{"field": "toolName"}, {"field": "inboundConnectorType"}]}),
        );
        let params = message_subscription_api::SearchMessageSubscriptionsParams {
            message_subscription_search_query: query,
        };
        serde_json::to_value(client().search_message_subscriptions(params).await.unwrap().items).unwrap()
    };
    let of_process = key("processDefinitionId");
    let tool = search(json!({"processDefinitionId": of_process, "toolName": "take_payment"})).await;
    assert_eq!(tool[0]["inboundConnectorType"], "house:payments");
    assert_eq!(tool[0]["toolProperties"]["io.camunda.tool:purpose"], "tells that money came");
    let connector =
        search(json!({"processDefinitionId": of_process, "inboundConnectorType": "house:payments"})).await;
    assert_eq!(connector, tool);
    assert_eq!(search(json!({"toolName": "other"})).await, json!([]));
}
