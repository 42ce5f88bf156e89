//! Workers, documents and shared views stand in no row of a tenant, and are by tenant all the same, whatever role
//! somebody has.

use grpc as pb;
use serde_json::{Value, json};

use crate::seed::{MARKER_PROCESS, deploy};
use crate::server::{Server, basic, call, eventually, file, with_users};

/// Administrators of one tenant each, one of both, and somebody with permissions alone, and without any.
const USERS: &str = "
users:
  - { username: ann, password: right }
  - { username: bob, password: right }
  - { username: sam, password: right }
  - { username: kim, password: right }
  - { username: eve, password: right }
roles: [{ id: keepers, name: keepers, users: [ann, bob, sam] }]
tenants: [{ id: north, users: [bob, sam, eve] }, { id: south, users: [ann, sam, kim] }]
authorizations:
  - { owner_type: ROLE, owner_id: keepers, resource_type: SYSTEM, resource_id: '*', permissions: [READ, UPDATE, READ_JOB_METRIC] }
  - { owner_type: ROLE, owner_id: keepers, resource_type: DOCUMENT, resource_id: '*', permissions: [CREATE, READ, DELETE] }
  - { owner_type: ROLE, owner_id: keepers, resource_type: RESOURCE, resource_id: '*', permissions: [CREATE] }
  - { owner_type: ROLE, owner_id: keepers, resource_type: PROCESS_DEFINITION, resource_id: '*', permissions: [CREATE_PROCESS_INSTANCE, READ_PROCESS_INSTANCE, UPDATE_PROCESS_INSTANCE] }
  - { owner_type: USER, owner_id: kim, resource_type: DOCUMENT, resource_id: '*', permissions: [READ] }
  - { owner_type: USER, owner_id: kim, resource_type: SYSTEM, resource_id: '*', permissions: [READ_JOB_METRIC] }
";

fn by(user: &str) -> String {
    basic(user, "right")
}

fn started() -> (tempfile::NamedTempFile, Server) {
    let users = file(USERS);
    let more = ["security.authorizations=true", "multi_tenancy.enabled=true"];
    let server = Server::start(&with_users(users.path(), &more));
    (users, server)
}

async fn get(server: &Server, user: &str, path: &str) -> (u16, Value) {
    let answer = server.get(path).by(&by(user)).send().await;
    let body = serde_json::from_str(&answer.text).unwrap_or(Value::Null);
    (answer.status, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_are_known_within_their_tenants() {
    let (_users, server) = started();
    let request = |tenants: &[&str]| pb::StreamActivatedJobsRequest {
        r#type: "secret-type".to_owned(),
        worker: "secret-worker".to_owned(),
        timeout: 60_000,
        tenant_ids: tenants.iter().map(ToString::to_string).collect(),
        ..Default::default()
    };
    let mut client = server.grpc().await;
    let north = client.stream_activated_jobs(call(request(&["north"]), &by("bob"))).await.unwrap();
    let path = "/baton/v1/job-types/secret-type/workers";
    eventually("the worker", async || get(&server, "bob", path).await.1["items"].get(0).cloned()).await;
    for user in ["ann", "kim"] {
        for path in ["/baton/v1/job-types", path] {
            let (status, answer) = get(&server, user, path).await;
            assert_eq!((status, &answer["items"]), (200, &json!([])), "{user}: {path}");
        }
    }
    assert_eq!(get(&server, "sam", path).await.1["items"][0]["tenantIds"], json!(["north"]));
    assert_eq!(get(&server, "eve", path).await.0, 403);
    // Of one that works for both, each sees its own part.
    let both = client.stream_activated_jobs(call(request(&["north", "south"]), &by("sam"))).await.unwrap();
    let seen =
        eventually("the other worker", async || get(&server, "ann", path).await.1["items"].get(0).cloned())
            .await;
    assert_eq!((&seen["tenantIds"], &seen["count"]), (&json!(["south"]), &json!(1)));
    let types = get(&server, "ann", "/baton/v1/job-types").await.1;
    let [only] = &types["items"].as_array().unwrap()[..] else { panic!("{types}") };
    assert_eq!((&only["tenantId"], &only["streams"]), (&json!("south"), &json!(1)));
    drop((north, both));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_of_the_tenants_of_whoever_stored_them() {
    let (_users, server) = started();
    let store = async |user: &str, query: &str| {
        let ask = server.ask("POST", &format!("/v2/documents{query}")).file("file", "a.txt", "hush-hush");
        ask.by(&by(user)).send().await
    };
    let stored = store("bob", "").await.expect(201).json();
    let path = format!("/v2/documents/{}", stored["documentId"].as_str().unwrap());
    let hashed = format!("{path}?contentHash=00");
    for (user, status) in [("ann", 404), ("kim", 404), ("eve", 403)] {
        for (method, path) in [
            ("GET", path.clone()),
            ("GET", hashed.clone()),
            ("POST", format!("{path}/links")),
            ("DELETE", path.clone()),
        ] {
            let ask = server.ask(method, &path);
            let ask = if method == "POST" { ask.json(&json!({})) } else { ask };
            let answer = ask.by(&by(user)).send().await;
            // A permission comes before a document: kim may only read.
            let is_right = answer.status == status || answer.status == 403 && user == "kim";
            assert!(is_right && !answer.text.contains("hush"), "{user}: {method} {path}: {answer:?}");
        }
    }
    for user in ["bob", "sam"] {
        assert_eq!(server.get(&path).by(&by(user)).send().await.expect(200).text, "hush-hush");
    }
    assert_eq!(store("ann", "?documentId=mine").await.status, 201);
    assert_eq!(server.get("/v2/documents/mine").by(&by("kim")).send().await.status, 200);
    assert_eq!(server.get("/v2/documents/mine").by(&by("bob")).send().await.status, 404);
    server.ask("DELETE", &path).by(&by("sam")).send().await.expect(204);
    server.get(&path).by(&by("bob")).send().await.expect(404);
}

/// A document of an instance is for those of its tenant alone, also if somebody of several stores it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_an_instance_is_of_its_tenant() {
    let (_users, server) = started();
    let wait = MARKER_PROCESS.replace(
        r#"<startEvent id="s"/>"#,
        r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/><receiveTask id="t" messageRef="m"/>"#,
    );
    let message = r#"<message id="m" name="m"><extensionElements><zeebe:subscription xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" correlationKey="=1"/></extensionElements></message><process"#;
    deploy(&server, &by("sam"), Some("north"), &[("a.bpmn", &wait.replacen("<process", message, 1))]).await;
    let body = json!({ "processDefinitionId": "marker", "tenantId": "north" });
    let created = server.post("/v2/process-instances", &body).by(&by("sam")).send().await.expect(200).json();
    let metadata = json!({ "processInstanceKey": created["processInstanceKey"] });
    let form = format!(
        "--x\r\ncontent-disposition: form-data; name=\"metadata\"\r\ncontent-type: application/json\r\n\r\n{metadata}\r\n\
         --x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhush-hush\r\n--x--\r\n"
    );
    let ask = server.ask("POST", "/v2/documents").body("multipart/form-data; boundary=x", form);
    let stored = ask.by(&by("sam")).send().await.expect(201).json();
    let path = format!("/v2/documents/{}", stored["documentId"].as_str().unwrap());
    for (user, status) in [("bob", 200), ("sam", 200), ("ann", 404), ("kim", 404)] {
        assert_eq!(server.get(&path).by(&by(user)).send().await.status, status, "{user}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_views_are_shared_within_tenants() {
    let (_users, server) = started();
    let view = json!({ "name": "hush", "page": "/operate/processes", "query": "a=1", "isShared": true });
    server.post("/baton/v1/views", &view).by(&by("bob")).send().await.expect(201);
    let names = async |user: &str| get(&server, user, "/baton/v1/views").await.1["items"].clone();
    for user in ["bob", "sam", "eve"] {
        assert_eq!(names(user).await[0]["name"], "hush", "{user}");
    }
    for user in ["ann", "kim"] {
        assert_eq!(names(user).await, json!([]), "{user}");
    }
}
