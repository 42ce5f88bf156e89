//! Commands over gRPC whose answer depends on what there is: jobs in each of their states, and names of files.

use grpc as pb;
use grpc::gateway_client::GatewayClient;
use serde_json::json;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::server::Server;

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <process id="p" isExecutable="true">
    <startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="=kind"/></extensionElements></serviceTask>
  </process>
</definitions>"#;
/// Longer than a test takes, milliseconds.
const LONG_MS: i64 = 600_000;

type Client = GatewayClient<Channel>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Activated,
    /// Its worker's time is over: it can be activated again.
    TimedOut,
    /// It can be activated again after a failure.
    Failed,
    Backoff,
    WithoutRetries,
    ErrorThrown,
    Completed,
    Canceled,
}

const STATES: [State; 8] = [
    State::Activated,
    State::TimedOut,
    State::Failed,
    State::Backoff,
    State::WithoutRetries,
    State::ErrorThrown,
    State::Completed,
    State::Canceled,
];

const COMMANDS: [&str; 5] = ["complete", "fail", "throw", "retries", "timeout"];

async fn deploy(
    client: &mut Client,
    name: &str,
    content: &str,
) -> Result<pb::DeployResourceResponse, Status> {
    let resources = vec![pb::Resource { name: name.to_owned(), content: content.as_bytes().to_vec() }];
    let request = pb::DeployResourceRequest { resources, ..Default::default() };
    Ok(client.deploy_resource(request).await?.into_inner())
}

async fn create(client: &mut Client, kind: &str) -> i64 {
    let request = pb::CreateProcessInstanceRequest {
        bpmn_process_id: "p".to_owned(),
        version: -1,
        variables: json!({ "kind": kind }).to_string(),
        ..Default::default()
    };
    client.create_process_instance(request).await.unwrap().into_inner().process_instance_key
}

async fn activate(client: &mut Client, kind: &str, timeout: i64) -> Option<pb::ActivatedJob> {
    let request = pb::ActivateJobsRequest {
        r#type: kind.to_owned(),
        worker: "w".to_owned(),
        timeout,
        max_jobs_to_activate: 1,
        request_timeout: -1,
        ..Default::default()
    };
    let batch = client.activate_jobs(request).await.unwrap().into_inner().message().await.unwrap();
    batch.and_then(|mut batch| batch.jobs.pop())
}

fn failure(job_key: i64, retries: i32, retry_back_off: i64) -> pb::FailJobRequest {
    let error_message = "no".to_owned();
    pb::FailJobRequest { job_key, retries, retry_back_off, error_message, ..Default::default() }
}

fn error(job_key: i64) -> pb::ThrowErrorRequest {
    pb::ThrowErrorRequest { job_key, error_code: "unknown".to_owned(), ..Default::default() }
}

/// A job in a state.
async fn job(server: &Server, client: &mut Client, kind: &str, state: State) -> i64 {
    let instance = create(client, kind).await;
    let timeout = if state == State::TimedOut { 1 } else { LONG_MS };
    let key = activate(client, kind, timeout).await.expect("the job of the instance").key;
    match state {
        State::Activated => {}
        State::TimedOut => {
            let filter = json!({ "filter": { "jobKey": key.to_string(), "state": "TIMED_OUT" } });
            while server.post("/v2/jobs/search", &filter).send().await.expect(200).json()["items"]
                == json!([])
            {}
        }
        State::Failed => drop(client.fail_job(failure(key, 2, 0)).await.unwrap()),
        State::Backoff => drop(client.fail_job(failure(key, 2, LONG_MS)).await.unwrap()),
        State::WithoutRetries => drop(client.fail_job(failure(key, 0, 0)).await.unwrap()),
        State::ErrorThrown => drop(client.throw_error(error(key)).await.unwrap()),
        State::Completed => {
            let request = pb::CompleteJobRequest { job_key: key, ..Default::default() };
            client.complete_job(request).await.unwrap();
        }
        State::Canceled => {
            let request =
                pb::CancelProcessInstanceRequest { process_instance_key: instance, ..Default::default() };
            client.cancel_process_instance(request).await.unwrap();
        }
    }
    key
}

async fn apply(client: &mut Client, command: &str, job_key: i64) -> Result<(), Status> {
    match command {
        "complete" => {
            let request = pb::CompleteJobRequest { job_key, ..Default::default() };
            client.complete_job(request).await.map(drop)
        }
        "fail" => client.fail_job(failure(job_key, 1, 0)).await.map(drop),
        "throw" => client.throw_error(error(job_key)).await.map(drop),
        "retries" => {
            let request = pb::UpdateJobRetriesRequest { job_key, retries: 5, ..Default::default() };
            client.update_job_retries(request).await.map(drop)
        }
        "timeout" => {
            let request = pb::UpdateJobTimeoutRequest { job_key, timeout: LONG_MS, ..Default::default() };
            client.update_job_timeout(request).await.map(drop)
        }
        _ => unreachable!("a command of the list"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_commands_are_taken_in_the_states_that_can_have_them() {
    let server = Server::start(&[]);
    let mut client = server.grpc().await;
    deploy(&mut client, "p.bpmn", MODEL).await.unwrap();
    for command in COMMANDS {
        for state in STATES {
            let kind = format!("{command}-{state:?}");
            let key = job(&server, &mut client, &kind, state).await;
            let answer = apply(&mut client, command, key).await.map_err(|status| status.code());
            let expected = match (state, command) {
                (State::Completed | State::Canceled, _) => Err(Code::NotFound),
                (State::Activated, _) | (_, "retries") => Ok(()),
                (_, "timeout") => Err(Code::FailedPrecondition),
                // As a worker does that is late: others may have the job by now, or nobody.
                (State::TimedOut | State::Failed, _) => Ok(()),
                (State::Backoff | State::WithoutRetries | State::ErrorThrown, _) => {
                    Err(Code::FailedPrecondition)
                }
            };
            assert_eq!(answer, expected, "{kind}");
            if (command, state) == ("fail", State::TimedOut) {
                let again = activate(&mut client, &kind, LONG_MS).await.expect("it can be tried again");
                assert_eq!((again.key, again.retries), (key, 1), "the retries that are left were told");
            }
        }
    }
    server.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_known_by_endings_in_any_case_and_refused_under_others() {
    let server = Server::start(&[]);
    let mut client = server.grpc().await;
    let deployed = deploy(&mut client, "ORDER.BPMN", MODEL).await.unwrap();
    match deployed.deployments[0].metadata.as_ref().expect("of a resource") {
        pb::deployment::Metadata::Process(process) => {
            assert_eq!((&*process.bpmn_process_id, &*process.resource_name), ("p", "ORDER.BPMN"));
        }
        other => panic!("{other:?}"),
    }
    create(&mut client, "any").await;
    for name in ["order.bpm", "order.old", "order"] {
        let refused = deploy(&mut client, name, MODEL).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{name}: {refused}");
        for told in [name, "the content is a BPMN model", ".bpmn"] {
            assert!(refused.message().contains(told), "{refused}");
        }
    }
    server.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_id_that_is_no_name_of_xml_is_refused_with_its_element_and_the_reason() {
    let server = Server::start(&[]);
    let mut client = server.grpc().await;
    for id in ["@ID@", "1p", "a b", "a:b", "${id}"] {
        let model = MODEL.replace(r#"<process id="p""#, &format!(r#"<process id="{id}""#));
        let refused = deploy(&mut client, "p.bpmn", &model).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{id}: {refused}");
        let rest = server.ask("POST", "/v2/deployments").file("resources", "p.bpmn", &model);
        let over_rest = rest.send().await.expect(400).json()["detail"].as_str().unwrap().to_owned();
        for message in [refused.message(), &over_rest] {
            for told in ["p.bpmn", &format!("process '{id}'"), "must be a letter"] {
                assert!(message.contains(told), "{id}: {message}");
            }
        }
    }
    let inside = MODEL.replace(r#"id="work""#, r#"id="1work""#).replace(r#""work""#, r#""1work""#);
    let refused = deploy(&mut client, "p.bpmn", &inside).await.unwrap_err();
    assert!(
        refused.message().contains("1work") && refused.message().contains("must be a letter"),
        "{refused}"
    );
    server.stop();
}
