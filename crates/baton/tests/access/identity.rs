//! Entities of the start: by the configuration, or by the set-up of the first administrator.

use serde_json::{Value, json};

use crate::issuer::Issuer;
use crate::seed::deploy;
use crate::server::{Server, basic, file, with_users};

const FILE: &str = "
users:
  - { username: root, password: root }
  - { username: ann, password: first, name: Ann, email: ann@example.com }
mapping_rules:
  - { id: developers, claim_name: groups, claim_value: dev }
groups:
  - { id: clerks, name: Clerks, users: [ann], mapping_rules: [developers] }
roles:
  - { id: admin, users: [root] }
  - { id: orders, name: Orders, groups: [clerks] }
tenants:
  - { id: north, name: North, users: [ann], roles: [orders] }
authorizations:
  - { owner_type: ROLE, owner_id: orders, resource_type: PROCESS_DEFINITION, resource_id: order, permissions: [CREATE_PROCESS_INSTANCE] }
";

fn process(id: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
        <process id="{id}" isExecutable="true"><startEvent id="s"/></process></definitions>"#
    )
}

async fn start_of(server: &Server, id: &str, who: &str) -> u16 {
    let body = json!({ "processDefinitionId": id });
    server.post("/v2/process-instances", &body).by(who).send().await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_the_configuration_names_is_there_after_every_start() {
    let identities = file(FILE);
    let server = Server::start(&with_users(identities.path(), &["security.authorizations=true"]));
    let (root, ann) = (basic("root", "root"), basic("ann", "first"));
    for (path, expected) in [
        ("/users/ann", json!({"username": "ann", "name": "Ann", "email": "ann@example.com"})),
        ("/groups/clerks", json!({"groupId": "clerks", "name": "Clerks"})),
        ("/roles/orders", json!({"roleId": "orders", "name": "Orders"})),
        ("/tenants/north", json!({"tenantId": "north", "name": "North"})),
        ("/mapping-rules/developers", json!({"mappingRuleId": "developers", "claimValue": "dev"})),
    ] {
        let found = server.get(&format!("/v2{path}")).by(&root).send().await.expect(200).json();
        let is_so = |(name, value): (&String, &Value)| found[name] == *value;
        assert!(expected.as_object().unwrap().iter().all(is_so), "{path}: {found}");
    }
    let me = server.get("/v2/authentication/me").by(&ann).send().await.expect(200).json();
    assert_eq!((&me["groups"], &me["roles"]), (&json!(["clerks"]), &json!(["orders"])), "{me}");
    deploy(&server, &root, None, &[("order.bpmn", &process("order")), ("other.bpmn", &process("other"))])
        .await;
    assert_eq!(start_of(&server, "order", &ann).await, 200);
    assert_eq!(start_of(&server, "other", &ann).await, 403);

    // Changed entities stay, added ones are created, removed ones stay.
    server.ask("DELETE", "/v2/groups/clerks/users/ann").by(&root).send().await.expect(204);
    let changed = FILE
        .replace("password: first, name: Ann", "password: second, name: Anna")
        .replace("name: Clerks, users: [ann]", "name: Scribes, users: [bob]")
        .replace("users:\n", "users:\n  - { username: bob, password: bob }\n")
        .replace("tenants:\n  - { id: north, name: North, users: [ann], roles: [orders] }\n", "")
        .replace("resource_id: order,", "resource_id: other,");
    std::fs::write(identities.path(), changed).unwrap();
    let server = server.restart();
    let me = server.get("/v2/authentication/me").by(&ann).send().await.expect(200).json();
    assert_eq!(me["displayName"], "Ann", "{me}");
    server.get("/v2/authentication/me").by(&basic("ann", "second")).send().await.expect(401);
    let clerks = server.get("/v2/groups/clerks").by(&root).send().await.expect(200).json();
    assert_eq!(clerks["name"], "Clerks");
    server.get("/v2/tenants/north").by(&root).send().await.expect(200);
    let bob = basic("bob", "bob");
    for id in ["order", "other"] {
        assert_eq!(start_of(&server, id, &bob).await, 200, "{id}");
        assert_eq!(start_of(&server, id, &ann).await, 403, "{id}");
    }
    // A third start with the same file changes nothing.
    let count = async |server: &Server| {
        let search = server.post("/v2/authorizations/search", &json!({"page": {"limit": 1000}}));
        search.by(&root).send().await.expect(200).json()["items"].as_array().unwrap().len()
    };
    let before = count(&server).await;
    let server = server.restart();
    assert_eq!(count(&server).await, before);
    assert!(!server.log().contains("WARN") && !server.log().contains("ERROR"), "{}", server.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_administrator_is_set_up_once() {
    let settings = ["security.authentication.method=basic", "security.authorizations=true"];
    let server = Server::start(&settings.map(str::to_owned));
    assert_eq!(server.log().matches(SET_UP_IS_OPEN).count(), 1, "{}", server.log());
    let set_up = |name: &str| {
        let body = json!({"username": name, "password": "right", "name": name, "email": "a@example.com"});
        server.post("/v2/setup/user", &body)
    };
    server.post("/v2/setup/user", &json!({"username": "a", "password": ""})).send().await.expect(400);
    // Concurrent set-ups are refused.
    let names: Vec<_> = (0..6).map(|number| format!("root{number}")).collect();
    let answers = futures::future::join_all(names.iter().map(|name| set_up(name).send())).await;
    let winners: Vec<_> =
        names.iter().zip(&answers).filter(|(_, answer)| answer.status == 201).map(|(name, _)| name).collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|answer| [201, 403].contains(&answer.status)), "{answers:?}");
    let root = basic(winners[0], "right");
    let found = server.post("/v2/users/search", &json!({})).by(&root).send().await.expect(200).json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    set_up("late").send().await.expect(403);
    server.get("/v2/topology").by(&basic("late", "right")).send().await.expect(401);
    let server = server.restart();
    let body = json!({"username": "late", "password": "right", "name": "", "email": ""});
    server.post("/v2/setup/user", &body).send().await.expect(403);
    assert!(!server.log().contains(SET_UP_IS_OPEN), "{}", server.log());
    // With the last administrator gone, the cluster is nobody's, and not of whoever asks first.
    server.ask("DELETE", &format!("/v2/users/{}", winners[0])).by(&root).send().await.expect(204);
    let server = server.restart();
    assert!(!server.log().contains(SET_UP_IS_OPEN), "{}", server.log());
    let refused = server.post("/v2/setup/user", &body).send().await.expect(403);
    assert!(refused.text.contains("there is or was one already"), "{refused:?}");
    // The file of security.initialization is the way back in.
    let way_back = file("users: [{username: ann, password: new}]\nroles: [{id: admin, users: [ann]}]");
    let server = server.restart_with(&[format!("security.initialization={}", way_back.path().display())]);
    server.get("/v2/users/ann").by(&basic("ann", "new")).send().await.expect(200);
}

/// Warning at start while the set-up is open.
const SET_UP_IS_OPEN: &str = "the first client of POST /v2/setup/user becomes administrator";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_set_up_is_for_users_that_are_kept_here_and_nobody_else_named() {
    let issuer = Issuer::start().await;
    let body = json!({"username": "eve", "password": "p", "name": "", "email": ""});
    let (names_users, names_admins) =
        (file("users: [{username: ann, password: right}]"), file("roles: [{id: admin, clients: [robot]}]"));
    let of_file = |file: &tempfile::NamedTempFile| with_users(file.path(), &["security.authorizations=true"]);
    let oidc = [
        "security.authentication.method=oidc".to_owned(),
        format!("security.authentication.oidc.issuer={}", issuer.url()),
        "security.authorizations=true".to_owned(),
    ];
    let by_setting =
        ["security.authentication.method=basic", "security.setup=false"].map(str::to_owned).to_vec();
    for (settings, reason) in [
        (oidc.to_vec(), "that is for the method 'basic'"),
        (vec![], "that is for the method 'basic'"),
        (by_setting, "security.setup is false"),
        (of_file(&names_users), "the file of security.initialization defines the users and their access"),
        (of_file(&names_admins), "the file of security.initialization defines the users and their access"),
    ] {
        let server = Server::start(&settings);
        let answer = server.post("/v2/setup/user", &body).send().await.expect(403);
        assert!(answer.text.contains(reason), "{settings:?}: {answer:?}");
        assert!(!server.log().contains(SET_UP_IS_OPEN), "{}", server.log());
    }
    let names_nobody = file("tenants: [{id: north}]");
    let server = Server::start(&of_file(&names_nobody));
    assert!(server.log().contains(SET_UP_IS_OPEN), "{}", server.log());
    server.post("/v2/setup/user", &body).send().await.expect(201);
}
