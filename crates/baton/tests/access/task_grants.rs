//! User tasks for whom they name: grants by property, at every operation on tasks.

use serde_json::{Value, json};

use crate::seed::deploy;
use crate::server::{Server, basic, eventually, file, with_users};

const USERS: &str = "
users: [{username: root, password: right}, {username: ann, password: right}]
groups: [{id: clerks, users: [ann]}]
roles: [{id: admin, users: [root]}]
";

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="u"/>
    <userTask id="u"><extensionElements><zeebe:userTask/>
      <zeebe:assignmentDefinition assignee="=who" candidateUsers="=users" candidateGroups="=groups"/></extensionElements></userTask>
  </process>
</definitions>"#;

/// The task of a new instance with these variables, and the instance.
async fn task(server: &Server, root: &str, variables: Value) -> (String, String) {
    let create = json!({"processDefinitionId": "p", "variables": variables});
    let made = server.post("/v2/process-instances", &create).by(root).send().await.expect(200).json();
    let instance = made["processInstanceKey"].as_str().unwrap().to_owned();
    let search = json!({"filter": {"processInstanceKey": instance, "state": "CREATED"}});
    let task = eventually("the task", async || {
        let found = server.post("/v2/user-tasks/search", &search).by(root).send().await.expect(200).json();
        found["items"][0]["userTaskKey"].as_str().map(str::to_owned)
    })
    .await;
    (task, instance)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn user_tasks_and_what_was_done_with_them_are_for_whom_they_name() {
    let users = file(USERS);
    let server = Server::start(&with_users(users.path(), &["security.authorizations=true"]));
    let (root, ann) = (basic("root", "right"), basic("ann", "right"));
    deploy(&server, &root, None, &[("p.bpmn", MODEL)]).await;
    let of_others = json!({"who": null, "users": ["bob"], "groups": ["others"]});
    for (property, variables) in [
        ("assignee", json!({"who": "ann", "users": [], "groups": []})),
        ("candidateUsers", json!({"who": null, "users": ["bob", "ann"], "groups": []})),
        ("candidateGroups", json!({"who": null, "users": [], "groups": ["others", "clerks"]})),
    ] {
        let grant = json!({
            "ownerType": "USER", "ownerId": "ann", "resourceType": "USER_TASK", "resourcePropertyName": property,
            "permissionTypes": ["READ", "UPDATE", "CLAIM", "COMPLETE"],
        });
        let grant = server.post("/v2/authorizations", &grant).by(&root).send().await.expect(201).json();
        let (own, _) = task(&server, &root, variables).await;
        let (other, _) = task(&server, &root, of_others.clone()).await;
        let path = |task: &str, rest: &str| format!("/v2/user-tasks/{task}{rest}");
        let update = json!({"changeset": {"priority": 70}});
        let claim = json!({"assignee": "ann", "allowOverride": false});
        for key in [&own, &other] {
            server.ask("PATCH", &path(key, "")).json(&update).by(&root).send().await.expect(204);
        }

        // The other one is neither seen nor changed.
        server.get(&path(&other, "")).by(&ann).send().await.expect(403);
        server.ask("PATCH", &path(&other, "")).json(&update).by(&ann).send().await.expect(403);
        server.post(&path(&other, "/assignment"), &claim).by(&ann).send().await.expect(403);
        server.post(&path(&other, "/completion"), &json!({})).by(&ann).send().await.expect(403);

        server.get(&path(&own, "")).by(&ann).send().await.expect(200);
        let position = server.ask("PATCH", &path(&own, "")).json(&update).by(&ann).send().await.expect(204);
        let position = position.header("baton-position").unwrap().to_owned();
        let found = async |what: &str, column: &str| {
            let ask = server.post(&format!("/v2/{what}/search"), &json!({})).by(&ann);
            let found = ask.header("baton-await-position", &*position).send().await.expect(200).json();
            let items = found["items"].as_array().unwrap().iter();
            items.map(|item| item[column].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("user-tasks", "userTaskKey").await, [&*own], "{property}");
        // Exactly the changes made: updated by both.
        assert_eq!(found("audit-logs", "userTaskKey").await, [&*own, &*own], "{property}");
        let history = async |task: &str| {
            let ask = server.post(&path(task, "/audit-logs/search"), &json!({})).by(&ann);
            ask.send().await.expect(200).json()["items"].as_array().unwrap().len()
        };
        assert_eq!((history(&own).await, history(&other).await), (2, 0), "{property}");

        if property != "assignee" {
            server.post(&path(&own, "/assignment"), &claim).by(&ann).send().await.expect(204);
        }
        server.post(&path(&own, "/completion"), &json!({})).by(&ann).send().await.expect(204);
        let grant = format!("/v2/authorizations/{}", grant["authorizationKey"].as_str().unwrap());
        server.ask("DELETE", &grant).by(&root).send().await.expect(204);
        let left = server.post("/v2/user-tasks/search", &json!({})).by(&ann).send().await.expect(200).json();
        assert_eq!(left["items"], json!([]), "{property}");
    }
}
