//! Reading what one wrote, whichever way it was written: an answer over REST or gRPC tells a position, and a search
//! that names it finds what was done.

use grpc as pb;
use serde_json::{Value, json};
use tonic::metadata::MetadataMap;

use crate::server::Server;

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  </process>
  <process id="short" isExecutable="true"><startEvent id="t"/></process>
</definitions>"#;

fn told(metadata: &MetadataMap) -> String {
    metadata.get("baton-position").expect("a position").to_str().unwrap().to_owned()
}

/// Results once a position is visible.
async fn found(server: &Server, what: &str, filter: Value, position: &str) -> Vec<Value> {
    let search = server.post(&format!("/v2/{what}/search"), &json!({ "filter": filter }));
    let mut found = search.header("baton-await-position", position).send().await.expect(200).json();
    serde_json::from_value(found["items"].take()).unwrap()
}

/// Results of something that was done while exporting paused: not there, until the position is waited for.
async fn found_late(server: &Server, what: &str, filter: Value, position: &str) -> Vec<Value> {
    let search = server.post(&format!("/v2/{what}/search"), &json!({ "filter": filter }));
    assert_eq!(search.send().await.expect(200).json()["items"], json!([]), "{what}: nothing is exported");
    let resume = async { server.manage("POST", "/actuator/exporting/resume").await.expect(200) };
    tokio::join!(found(server, what, filter, position), resume).0
}

async fn pause(server: &Server) {
    server.manage("POST", "/actuator/exporting/pause").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_finds_what_was_done_over_either_protocol() {
    let server = Server::start(&[]);
    let mut client = server.grpc().await;
    let resources = vec![pb::Resource { name: "p.bpmn".to_owned(), content: MODEL.as_bytes().to_vec() }];
    let deploy = pb::DeployResourceRequest { resources, ..Default::default() };
    let deployed = client.deploy_resource(deploy).await.unwrap();
    let definitions = found(&server, "process-definitions", json!({}), &told(deployed.metadata())).await;
    assert_eq!(definitions.len(), 2);

    let create = |id: &str| pb::CreateProcessInstanceRequest {
        bpmn_process_id: id.to_owned(),
        version: -1,
        ..Default::default()
    };
    pause(&server).await;
    let created = client.create_process_instance(create("p")).await.unwrap();
    let position = told(created.metadata());
    let instance = json!({ "processInstanceKey": created.get_ref().process_instance_key.to_string() });
    assert_eq!(found_late(&server, "process-instances", instance, &position).await.len(), 1);

    pause(&server).await;
    let request = Some(create("short"));
    let with_result = pb::CreateProcessInstanceWithResultRequest { request, ..Default::default() };
    let ended = client.create_process_instance_with_result(with_result).await.unwrap();
    let completed = json!({ "processDefinitionId": "short", "state": "COMPLETED" });
    let position = told(ended.metadata());
    assert_eq!(found_late(&server, "process-instances", completed, &position).await.len(), 1);

    pause(&server).await;
    let jobs = pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        worker: "caller".to_owned(),
        timeout: 60_000,
        max_jobs_to_activate: 1,
        ..Default::default()
    };
    let activated = client.activate_jobs(jobs).await.unwrap();
    let position = told(activated.metadata());
    let job_key = activated.into_inner().message().await.unwrap().unwrap().jobs[0].key;
    let of_worker = found_late(&server, "jobs", json!({ "worker": "caller" }), &position).await;
    assert_eq!(of_worker[0]["jobKey"], job_key.to_string());

    pause(&server).await;
    let complete = pb::CompleteJobRequest { job_key, ..Default::default() };
    let position = told(client.complete_job(complete).await.unwrap().metadata());
    let completed = json!({ "processDefinitionId": "p", "state": "COMPLETED" });
    assert_eq!(found_late(&server, "process-instances", completed, &position).await.len(), 1);

    let instance = json!({ "processDefinitionId": "p" });
    server.post("/v2/process-instances", &instance).send().await.expect(200);
    pause(&server).await;
    let jobs = json!({ "type": "work", "worker": "asker", "timeout": 60_000, "maxJobsToActivate": 1 });
    let activated = server.post("/v2/jobs/activation", &jobs).send().await.expect(200);
    let position = activated.header("baton-position").expect("a position").to_owned();
    let of_worker = found_late(&server, "jobs", json!({ "worker": "asker" }), &position).await;
    assert_eq!(of_worker[0]["jobKey"], activated.json()["jobs"][0]["jobKey"]);
    // An activation without jobs has no position.
    let none = json!({ "type": "other", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": -1 });
    let none = server.post("/v2/jobs/activation", &none).send().await.expect(200);
    assert_eq!(none.header("baton-position"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_secondary_storage_no_protocol_tells_positions() {
    let server =
        Server::start(&["secondary_storage.kind=none".to_owned(), "export.ndjson.enabled=true".to_owned()]);
    let mut client = server.grpc().await;
    let message = pb::PublishMessageRequest { name: "m".to_owned(), ..Default::default() };
    let published = client.publish_message(message).await.unwrap();
    assert!(!published.metadata().contains_key("baton-position"));
    let message = server.post("/v2/messages/publication", &json!({ "name": "m" })).send().await.expect(200);
    assert_eq!(message.header("baton-position"), None);
}
