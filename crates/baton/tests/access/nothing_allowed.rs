//! A user without any permission, at every operation of both protocols, where there is something of everything.

use grpc as pb;
use serde_json::json;
use tonic::Code;

use crate::contract::{Values, operations};
use crate::seed::{Maker, SECRET};
use crate::server::{Server, basic, call, file, with_users};

const USERS: &str = "
users: [{username: root, password: right}, {username: nobody, password: right}]
roles: [{id: admin, users: [root]}]
";

/// Operations that every authenticated principal may call.
const FOR_EVERYBODY: [&str; 8] = [
    "getAuthentication",
    "getClusterStatus",
    "getClusterTopology",
    "getLicense",
    "getStatus",
    "getSystemConfiguration",
    "getTopology",
    "searchOwnAuthorizations",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_do_nothing_sees_and_does_nothing() {
    let users = file(USERS);
    let server =
        Server::start(&with_users(users.path(), &["security.authorizations=true", "clock.controlled=true"]));
    let (root, nobody) = (basic("root", "right"), basic("nobody", "right"));
    let maker = Maker { server: &server, credentials: &root, tenant: None };
    let mut values = maker.run().await;
    values.extend(maker.settle().await);
    let operations = operations();
    let before = maker.picture(&operations, &values).await;
    let unseen: Vec<_> = before.iter().filter(|(_, status, _)| !(200..300).contains(status)).collect();
    assert!(unseen.is_empty(), "{unseen:#?}");

    let mut leaks = vec![];
    for operation in &operations {
        let answer = operation.ask(&server, &values).by(&nobody).send().await;
        let is_right = match answer.status {
            403 => !FOR_EVERYBODY.contains(&&*operation.id),
            200 | 204 if FOR_EVERYBODY.contains(&&*operation.id) => true,
            200 if operation.id == "activateJobs" => answer.json() == json!({"jobs": []}),
            200 if operation.id == "listSecrets" => answer.json() == json!({"references": []}),
            200 if operation.id == "resolveSecrets" => answer.json()["resolved"] == json!([]),
            200 => operation.is_search() && answer.json()["items"] == json!([]),
            _ => false,
        };
        if !is_right || answer.text.contains(SECRET) {
            leaks.push(format!("{}: {} {}", operation.id, answer.status, answer.text));
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    over_grpc(&server, &nobody, &values).await;
    let after = maker.picture(&operations, &values).await;
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}

/// Status of a call whose answer does not matter.
fn code<T>(result: Result<T, tonic::Status>) -> (Code, String) {
    match result {
        Ok(_) => (Code::Ok, String::new()),
        Err(status) => (status.code(), status.message().to_owned()),
    }
}

async fn over_grpc(server: &Server, who: &str, values: &Values) {
    let key = |name: &str| values[name].parse::<i64>().unwrap();
    let mut client = server.grpc().await;
    let mut told = vec![];
    macro_rules! refused {
        ($($method:ident $request:expr;)*) => {$(
            told.push((stringify!($method), code(client.$method(call($request, who)).await)));
        )*};
    }
    let create = || pb::CreateProcessInstanceRequest {
        process_definition_key: key("processDefinitionKey"),
        ..Default::default()
    };
    let variables = || "{\"secret\":\"gone\"}".to_owned();
    refused! {
        cancel_process_instance pb::CancelProcessInstanceRequest {
            process_instance_key: key("processInstanceKey"), ..Default::default()
        };
        complete_job pb::CompleteJobRequest { job_key: key("jobKey"), ..Default::default() };
        create_process_instance create();
        create_process_instance_with_result pb::CreateProcessInstanceWithResultRequest {
            request: Some(create()), request_timeout: 1000, ..Default::default()
        };
        evaluate_decision pb::EvaluateDecisionRequest {
            decision_key: key("decisionDefinitionKey"), ..Default::default()
        };
        deploy_resource pb::DeployResourceRequest {
            resources: vec![pb::Resource {
                name: "a.bpmn".to_owned(), content: crate::seed::MARKER_PROCESS.as_bytes().to_vec()
            }],
            ..Default::default()
        };
        fail_job pb::FailJobRequest { job_key: key("jobKey"), ..Default::default() };
        throw_error pb::ThrowErrorRequest {
            job_key: key("jobKey"), error_code: "e".to_owned(), ..Default::default()
        };
        publish_message pb::PublishMessageRequest {
            name: "paid".to_owned(), correlation_key: "17".to_owned(), ..Default::default()
        };
        resolve_incident pb::ResolveIncidentRequest { incident_key: key("incidentKey"), ..Default::default() };
        set_variables pb::SetVariablesRequest {
            element_instance_key: key("processInstanceKey"), variables: variables(), ..Default::default()
        };
        update_job_retries pb::UpdateJobRetriesRequest { job_key: key("jobKey"), retries: 7, ..Default::default() };
        update_job_timeout pb::UpdateJobTimeoutRequest { job_key: key("jobKey"), timeout: 7, ..Default::default() };
        modify_process_instance pb::ModifyProcessInstanceRequest {
            process_instance_key: key("processInstanceKey"),
            activate_instructions: vec![pb::modify_process_instance_request::ActivateInstruction {
                element_id: "work".to_owned(), ..Default::default()
            }],
            ..Default::default()
        };
        migrate_process_instance pb::MigrateProcessInstanceRequest {
            process_instance_key: key("processInstanceKey"),
            migration_plan: Some(pb::migrate_process_instance_request::MigrationPlan {
                target_process_definition_key: key("processDefinitionKey"),
                mapping_instructions: vec![],
            }),
            ..Default::default()
        };
        delete_resource pb::DeleteResourceRequest { resource_key: key("processDefinitionKey"), ..Default::default() };
        broadcast_signal pb::BroadcastSignalRequest { signal_name: "go".to_owned(), ..Default::default() };
        evaluate_conditional pb::EvaluateConditionalRequest { variables: variables(), ..Default::default() };
    }
    for (method, (code, message)) in told {
        assert_eq!(code, Code::PermissionDenied, "{method}: {message}");
        assert!(!message.contains(SECRET), "{method}: {message}");
    }
    let jobs = pb::ActivateJobsRequest {
        r#type: "work".to_owned(),
        worker: "nobody".to_owned(),
        timeout: 60_000,
        max_jobs_to_activate: 10,
        request_timeout: -1,
        ..Default::default()
    };
    let mut jobs = client.activate_jobs(call(jobs, who)).await.unwrap().into_inner();
    while let Some(batch) = jobs.message().await.unwrap() {
        assert!(batch.jobs.is_empty(), "{batch:?}");
    }
    client.topology(call(pb::TopologyRequest {}, who)).await.unwrap();
}
