//! Lists of requests that are longer than any may be: each is refused with its field and the limit, over both
//! protocols, and nothing of it is in the log.

use grpc as pb;
use serde_json::{Value, json};
use tonic::Code;

use crate::seed::{MARKER_PROCESS, deploy};
use crate::server::{Server, call};

const SETTING: &str = "limits.max_entries_per_command";
const LIMIT: usize = 100;

fn variables(count: usize) -> Value {
    (0..count).map(|at| (format!("v{at}"), json!(0))).collect::<serde_json::Map<_, _>>().into()
}

fn names(count: usize) -> Value {
    (0..count).map(|at| json!(format!("n{at}"))).collect::<Vec<_>>().into()
}

fn each(count: usize, one: &Value) -> Value {
    vec![one.clone(); count].into()
}

/// Method, path and body of a request, and the field with its list.
type Request = (&'static str, &'static str, Value, &'static str);

/// Requests with a list each.
fn requests(count: usize) -> Vec<Request> {
    [of_instances(count), of_work(count)].concat()
}

fn of_instances(count: usize) -> Vec<Request> {
    let id = json!("marker");
    let mapping = json!({ "sourceElementId": "a", "targetElementId": "b" });
    let plan = json!({ "targetProcessDefinitionKey": "1", "mappingInstructions": each(count, &mapping) });
    let activate = json!({ "elementId": "a" });
    let with_variables =
        json!([{ "elementId": "a", "variableInstructions": [{ "variables": variables(count) }] }]);
    let moves = json!({ "sourceElementId": "a", "targetElementId": "b" });
    vec![
        (
            "POST",
            "/process-instances",
            json!({ "processDefinitionId": id, "variables": variables(count) }),
            "variables",
        ),
        (
            "POST",
            "/process-instances",
            json!({ "processDefinitionId": id, "startInstructions": each(count, &json!({ "elementId": "s" })) }),
            "startInstructions",
        ),
        (
            "POST",
            "/process-instances",
            json!({ "processDefinitionId": id, "awaitCompletion": true, "fetchVariables": names(count) }),
            "fetchVariables",
        ),
        ("POST", "/process-instances/1/migration", plan.clone(), "mappingInstructions"),
        (
            "POST",
            "/process-instances/migration",
            json!({ "filter": { "state": "ACTIVE" }, "migrationPlan": plan }),
            "mappingInstructions",
        ),
        (
            "POST",
            "/process-instances/1/modification",
            json!({ "activateInstructions": each(count, &activate) }),
            "activateInstructions",
        ),
        (
            "POST",
            "/process-instances/1/modification",
            json!({ "activateInstructions": with_variables }),
            "activateInstructions",
        ),
        (
            "POST",
            "/process-instances/1/modification",
            json!({ "terminateInstructions": each(count, &json!({ "elementInstanceKey": "1" })) }),
            "terminateInstructions",
        ),
        (
            "POST",
            "/process-instances/modification",
            json!({ "filter": { "state": "ACTIVE" }, "moveInstructions": each(count, &moves) }),
            "moveInstructions",
        ),
    ]
}

fn of_work(count: usize) -> Vec<Request> {
    let activate = json!({ "elementId": "a" });
    let result = |elements: Value| json!({ "type": "adHocSubProcess", "activateElements": elements });
    let corrections =
        |list: &str| json!({ "result": { "type": "userTask", "corrections": { list: names(count) } } });
    vec![
        ("POST", "/jobs/1/completion", json!({ "variables": variables(count) }), "variables"),
        (
            "POST",
            "/jobs/1/completion",
            json!({ "result": result(each(count, &activate)) }),
            "result.activateElements",
        ),
        ("POST", "/jobs/1/completion", corrections("candidateUsers"), "candidateUsers"),
        ("POST", "/jobs/1/completion", corrections("candidateGroups"), "candidateGroups"),
        ("POST", "/jobs/1/failure", json!({ "variables": variables(count) }), "variables"),
        ("POST", "/jobs/1/error", json!({ "errorCode": "e", "variables": variables(count) }), "variables"),
        ("POST", "/jobs/activation", jobs("fetchVariable", count), "fetchVariable"),
        (
            "POST",
            "/messages/publication",
            json!({ "name": "m", "correlationKey": "k", "variables": variables(count) }),
            "variables",
        ),
        ("POST", "/messages/correlation", json!({ "name": "m", "variables": variables(count) }), "variables"),
        (
            "POST",
            "/signals/broadcast",
            json!({ "signalName": "s", "variables": variables(count) }),
            "variables",
        ),
        ("POST", "/conditionals/evaluation", json!({ "variables": variables(count) }), "variables"),
        (
            "POST",
            "/decision-definitions/evaluation",
            json!({ "decisionDefinitionId": "d", "variables": variables(count) }),
            "variables",
        ),
        ("PUT", "/element-instances/1/variables", json!({ "variables": variables(count) }), "variables"),
        ("POST", "/user-tasks/1/completion", json!({ "variables": variables(count) }), "variables"),
        (
            "PATCH",
            "/user-tasks/1",
            json!({ "changeset": { "candidateUsers": names(count) } }),
            "candidateUsers",
        ),
        (
            "POST",
            "/element-instances/ad-hoc-activities/1/activation",
            json!({ "elements": each(count, &activate) }),
            "elements",
        ),
    ]
}

fn jobs(list: &str, count: usize) -> Value {
    json!({ "type": "t", "timeout": 1000, "maxJobsToActivate": 1, "requestTimeout": -1, list: names(count) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_commands_are_bounded_over_both_protocols() {
    let server = Server::start(&[format!("{SETTING}={LIMIT}")]);
    deploy(&server, "", None, &[("marker.bpmn", MARKER_PROCESS)]).await;
    for count in [LIMIT + 1, 10_000, 50_000] {
        for (method, path, body, field) in requests(count) {
            let answer = server.ask(method, &format!("/v2{path}")).json(&body).send().await;
            let names_field = answer.text.contains(field) || answer.text.contains("variableInstructions");
            let is_told = names_field && (answer.text.contains("limits.max") || count > 20_000);
            assert!(answer.status == 400 && is_told, "{method} {path} with {count} {field}: {answer:?}");
        }
    }
    // Lists within the limit are answered by the engine.
    for (method, path, body, field) in requests(LIMIT - 10) {
        let answer = server.ask(method, &format!("/v2{path}")).json(&body).send().await;
        assert!(!answer.text.contains(SETTING), "{method} {path} {field}: {answer:?}");
    }
    over_grpc(&server).await;
    assert!(!server.log().contains("ERROR"), "{}", server.log());
}

async fn over_grpc(server: &Server) {
    let mut client = server.grpc().await;
    let variables = || variables(LIMIT + 1).to_string();
    let names = |count: usize| (0..count).map(|at| format!("n{at}")).collect::<Vec<_>>();
    let mut refused = vec![];
    macro_rules! ask {
        ($($field:literal $method:ident $request:expr;)*) => {$(
            let result = client.$method(call($request, "")).await;
            refused.push(($field, result.map(drop).unwrap_err()));
        )*};
    }
    let create = |variables: String| pb::CreateProcessInstanceRequest {
        bpmn_process_id: "marker".to_owned(),
        version: -1,
        variables,
        ..Default::default()
    };
    ask! {
        "variables" create_process_instance create(variables());
        "fetchVariables" create_process_instance_with_result pb::CreateProcessInstanceWithResultRequest {
            request: Some(create(String::new())), fetch_variables: names(LIMIT + 1), ..Default::default()
        };
        "startInstructions" create_process_instance pb::CreateProcessInstanceRequest {
            start_instructions: names(LIMIT + 1).into_iter().map(|element_id| {
                pb::ProcessInstanceCreationStartInstruction { element_id }
            }).collect(),
            ..create(String::new())
        };
        "variables" complete_job pb::CompleteJobRequest { job_key: 1, variables: variables(), ..Default::default() };
        "variables" fail_job pb::FailJobRequest { job_key: 1, variables: variables(), ..Default::default() };
        "variables" throw_error pb::ThrowErrorRequest {
            job_key: 1, error_code: "e".to_owned(), variables: variables(), ..Default::default()
        };
        "variables" set_variables pb::SetVariablesRequest {
            element_instance_key: 1, variables: variables(), ..Default::default()
        };
        "variables" publish_message pb::PublishMessageRequest {
            name: "m".to_owned(), variables: variables(), ..Default::default()
        };
        "variables" broadcast_signal pb::BroadcastSignalRequest {
            signal_name: "s".to_owned(), variables: variables(), ..Default::default()
        };
        "variables" evaluate_decision pb::EvaluateDecisionRequest {
            decision_id: "d".to_owned(), variables: variables(), ..Default::default()
        };
        "fetchVariable" activate_jobs pb::ActivateJobsRequest {
            r#type: "t".to_owned(), timeout: 1000, max_jobs_to_activate: 1, fetch_variable: names(LIMIT + 1),
            request_timeout: -1, ..Default::default()
        };
        "fetchVariable" stream_activated_jobs pb::StreamActivatedJobsRequest {
            r#type: "t".to_owned(), timeout: 1000, fetch_variable: names(LIMIT + 1), ..Default::default()
        };
        "resources" deploy_resource pb::DeployResourceRequest {
            resources: names(LIMIT + 1).into_iter().map(|name| pb::Resource { name, content: vec![] }).collect(),
            ..Default::default()
        };
    }
    for (field, status) in refused {
        let is_told = status.message().contains(field) && status.message().contains(SETTING);
        assert!(status.code() == Code::InvalidArgument && is_told, "{field}: {status}");
    }
    // More than are decoded.
    let request = pb::CreateProcessInstanceRequest {
        start_instructions: vec![pb::ProcessInstanceCreationStartInstruction::default(); 1_500_000],
        ..create(String::new())
    };
    let status = client.create_process_instance(call(request, "")).await.unwrap_err();
    assert!(status.code() == Code::InvalidArgument && status.message().contains("fields"), "{status}");
    client.create_process_instance(call(create(String::new()), "")).await.unwrap();
}

/// Lists of requests that are no commands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_searches_are_bounded() {
    let server = Server::start(&[]);
    for what in ["process-instances", "users", "variables", "groups"] {
        let field = if what == "process-instances" { "processDefinitionId" } else { "name" };
        for (body, told) in [
            (json!({ "sort": each(101, &json!({ "field": field })) }), "at most 100"),
            (json!({ "sort": each(50_000, &json!({ "field": field })) }), "at most 20000"),
            (json!({ "filter": { "$or": each(30_000, &json!({})) } }), "20000"),
            (json!({ "filter": { field: { "$in": names(30_000) } } }), "20000"),
        ] {
            let path = format!("/v2/{what}/search");
            let answer = server.post(&path, &body).send().await;
            let beginning: String = body.to_string().chars().take(100).collect();
            // Not every search has alternatives.
            let is_unknown = answer.text.contains("unknown property");
            assert!(
                answer.status == 400 && (is_unknown || answer.text.contains(told)),
                "{path} {beginning}: {answer:?}"
            );
        }
    }
    let tenants = server.post("/v2/jobs/activation", &jobs("tenantIds", 30_000)).send().await;
    assert!(tenants.status == 400 && tenants.text.contains("20000"), "{tenants:?}");
}
