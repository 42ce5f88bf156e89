//! The REST client against a server that writes down what it was sent.
#![allow(clippy::unwrap_used)]

mod fakes;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use client::{
    ActivateJobs, ApiCall, CompleteJob, ConnectFault, CorrelateMessage, CreateInstance, Definition, Error,
    EvaluateExpression, FailJob, PublishMessage, Resource, RestClient, RestOptions, SetVariables, ThrowError,
    UpdateJob,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::Notify,
};

/// A server that answers everything with `status` and `body`, and a list of what came.
async fn recorder(status: u16, body: Value) -> (RestClient, Arc<Mutex<Vec<(Method, String, Value)>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_there = Arc::clone(&seen);
    let answer = move |request: Request| async move {
        let (parts, content) = request.into_parts();
        let content = axum::body::to_bytes(content, usize::MAX).await.unwrap();
        let content = serde_json::from_slice(&content).unwrap_or(Value::Null);
        seen_there.lock().push((parts.method, parts.uri.path().to_owned(), content));
        let status = StatusCode::from_u16(status).unwrap();
        if body.is_null() { status.into_response() } else { (status, body.to_string()).into_response() }
    };
    let address = fakes::rest_server(Router::new().fallback(answer)).await;
    (fakes::rest_client(address, 4), seen)
}

fn instance() -> Value {
    json!({
        "processInstanceKey": "2251799813685251", "processDefinitionKey": "2251799813685249",
        "processDefinitionId": "ord\"er", "processDefinitionVersion": 3, "tenantId": "<default>",
        "variables": {"total": 1.10}, "tags": [], "businessId": null
    })
}

#[tokio::test]
async fn creates_an_instance() {
    let (client, seen) = recorder(200, instance()).await;
    let command = CreateInstance {
        definition: Definition::Id { id: "order", version: Some(3) },
        variables: Some(r#"{"total": 1.10}"#),
        start_before: &["pay"],
        tags: &["vip"],
        tenant_id: Some("<default>"),
    };
    let created = client.create_instance(&command).await.unwrap();
    assert_eq!((created.key, created.process_definition_key), (2_251_799_813_685_251, 2_251_799_813_685_249));
    assert_eq!((created.process_definition_id.as_str(), created.version), ("ord\"er", 3));
    assert_eq!(client.create_instance_key(&command).await.unwrap(), created.key);

    let result =
        client.create_instance_with_result(&command, &["total"], Duration::from_secs(3)).await.unwrap();
    assert_eq!(result.variables, r#"{"total":1.1}"#);

    let seen = seen.lock();
    let body = json!({
        "processDefinitionId": "order", "processDefinitionVersion": 3, "variables": {"total": 1.10},
        "startInstructions": [{"elementId": "pay"}], "tags": ["vip"], "tenantId": "<default>"
    });
    assert_eq!(seen[0], (Method::POST, "/v2/process-instances".to_owned(), body));
    assert_eq!(seen[2].2["awaitCompletion"], json!(true));
    assert_eq!(seen[2].2["requestTimeout"], json!(3000));
    assert_eq!(seen[2].2["fetchVariables"], json!(["total"]));
}

#[tokio::test]
async fn commands_that_answer_nothing() {
    let (client, seen) = recorder(204, Value::Null).await;
    client.status().await.unwrap();
    client.cancel_instance(1).await.unwrap();
    client.complete_job(&CompleteJob { job_key: 2, variables: Some(r#"{"x":1}"#) }).await.unwrap();
    client.complete_job(&CompleteJob { job_key: 2, variables: None }).await.unwrap();
    let fail = FailJob {
        job_key: 3,
        retries: 1,
        error_message: "tab\t",
        retry_backoff: Duration::from_secs(1),
        variables: None,
    };
    client.fail_job(&fail).await.unwrap();
    let error = ThrowError { job_key: 4, error_code: "E", error_message: "m", variables: Some("{}") };
    client.throw_error(&error).await.unwrap();
    let update = UpdateJob { job_key: 5, retries: Some(9), timeout: Some(Duration::from_secs(2)) };
    client.update_job(&update).await.unwrap();
    let set = SetVariables { element_instance_key: 6, variables: r#"{"v":null}"#, local: true };
    client.set_variables(&set).await.unwrap();
    client.resolve_incident(7).await.unwrap();
    client.delete_resource(8).await.unwrap();

    let expected = [
        (Method::GET, "/v2/status", Value::Null),
        (Method::POST, "/v2/process-instances/1/cancellation", json!({})),
        (Method::POST, "/v2/jobs/2/completion", json!({"variables": {"x": 1}})),
        (Method::POST, "/v2/jobs/2/completion", json!({})),
        (
            Method::POST,
            "/v2/jobs/3/failure",
            json!({"retries": 1, "errorMessage": "tab\t", "retryBackOff": 1000}),
        ),
        (Method::POST, "/v2/jobs/4/error", json!({"errorCode": "E", "errorMessage": "m", "variables": {}})),
        (Method::PATCH, "/v2/jobs/5", json!({"changeset": {"retries": 9, "timeout": 2000}})),
        (Method::PUT, "/v2/element-instances/6/variables", json!({"variables": {"v": null}, "local": true})),
        (Method::POST, "/v2/incidents/7/resolution", json!({})),
        (Method::POST, "/v2/resources/8/deletion", json!({})),
    ];
    let expected: Vec<_> =
        expected.into_iter().map(|(method, path, body)| (method, path.to_owned(), body)).collect();
    assert_eq!(*seen.lock(), expected);
}

#[tokio::test]
async fn activates_jobs_and_keeps_documents_as_they_are() {
    let job = r#"{"jobs":[{"jobKey":"11","type":"w","processInstanceKey":"12","processDefinitionId":"p",
        "processDefinitionVersion":1,"processDefinitionKey":"13","elementId":"e","elementInstanceKey":"14",
        "customHeaders":{"h":"1"},"worker":"me","retries":3,"deadline":99,"variables":{"n": 1.10e2},"tenantId":"t",
        "kind":"BPMN_ELEMENT","listenerEventType":"UNSPECIFIED","userTask":null,"tags":[],"newField":1}]}"#;
    let seen = Arc::new(Mutex::new(Value::Null));
    let seen_there = Arc::clone(&seen);
    let activate = move |body: Bytes| async move {
        *seen_there.lock() = serde_json::from_slice(&body).unwrap();
        job
    };
    let address = fakes::rest_server(Router::new().route("/v2/jobs/activation", post(activate))).await;
    let client = fakes::rest_client(address, 1);
    let mut command = ActivateJobs {
        job_type: "w",
        worker: "me",
        timeout: Duration::from_secs(5),
        jobs_max: 7,
        fetch_variables: &["n"],
        wait: Some(Duration::from_secs(1)),
        tenant_ids: &[],
    };
    let jobs = client.activate_jobs(&command).await.unwrap();
    assert_eq!((jobs[0].key, jobs[0].process_instance_key, jobs[0].deadline_ms), (11, 12, 99));
    assert_eq!(jobs[0].variables, r#"{"n": 1.10e2}"#);
    assert_eq!(jobs[0].custom_headers, r#"{"h":"1"}"#);
    let expected = json!({"type": "w", "worker": "me", "timeout": 5000, "maxJobsToActivate": 7, "fetchVariable": ["n"],
        "requestTimeout": 1000});
    assert_eq!(*seen.lock(), expected);

    command.wait = Some(Duration::ZERO);
    client.activate_jobs(&command).await.unwrap();
    assert_eq!(seen.lock()["requestTimeout"], json!(-1));
}

#[tokio::test]
async fn reads_the_other_answers() {
    let topology = json!({"brokers": [{"nodeId": 0, "host": "h", "port": 1, "version": "8.9.0",
        "partitions": [{"partitionId": 1, "role": "leader", "health": "healthy"}]}], "clusterId": null, "clusterSize": 1,
        "partitionsCount": 1, "replicationFactor": 1, "gatewayVersion": "8.9.0", "lastCompletedChangeId": "-1"});
    let (client, _) = recorder(200, topology).await;
    let topology = client.topology().await.unwrap();
    assert_eq!(topology.brokers[0].partitions[0].role, "leader");

    let deployment = json!({"deploymentKey": "1", "tenantId": "<default>", "deployments": [
        {"processDefinition": {"processDefinitionId": "p", "processDefinitionVersion": 2, "resourceName": "p.bpmn",
            "tenantId": "<default>", "processDefinitionKey": "3"},
         "decisionDefinition": null, "decisionRequirements": null, "form": null, "resource": null}]});
    let (client, _) = recorder(200, deployment).await;
    let deployment = client.deploy(&[Resource { name: "p.bpmn", content: b"<x/>" }], None).await.unwrap();
    let deployed = &deployment.deployed[0];
    assert_eq!((deployed.kind, deployed.id.as_str(), deployed.version, deployed.key), ("process", "p", 2, 3));

    let (client, _) =
        recorder(200, json!({"messageKey": "5", "processInstanceKey": "6", "tenantId": "t"})).await;
    let publish = PublishMessage {
        name: "m",
        correlation_key: "c",
        time_to_live: Duration::from_secs(1),
        message_id: None,
        variables: None,
        tenant_id: None,
    };
    assert_eq!(client.publish_message(&publish).await.unwrap().key, 5);
    let correlate = CorrelateMessage { name: "m", correlation_key: "c", variables: None, tenant_id: None };
    assert_eq!(client.correlate_message(&correlate).await.unwrap().process_instance_key, 6);

    let (client, _) =
        recorder(200, json!({"expression": "=1", "result": [1], "warnings": [{"message": "w"}]})).await;
    let command = EvaluateExpression { expression: "=[1]", variables: None, tenant_id: None };
    let value = client.evaluate_expression(&command).await.unwrap();
    assert_eq!((value.result.as_str(), value.warnings), ("[1]", vec!["w".to_owned()]));
}

#[tokio::test]
async fn deploys_as_multipart() {
    let seen = Arc::new(Mutex::new(None));
    let seen_there = Arc::clone(&seen);
    let deploy = move |request: Request| async move {
        let kind = request.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
        *seen_there.lock() = Some(kind);
        StatusCode::BAD_REQUEST
    };
    let address = fakes::rest_server(Router::new().route("/v2/deployments", post(deploy))).await;
    let result =
        fakes::rest_client(address, 1).deploy(&[Resource { name: "p.bpmn", content: b"" }], None).await;
    assert!(matches!(result, Err(Error::Problem { status: 400, .. })), "{result:?}");
    assert_eq!(seen.lock().as_deref(), Some("multipart/form-data; boundary=baton-part-0"));
}

#[tokio::test]
async fn refusals_are_typed() {
    let problem = json!({"type": "about:blank", "title": "RESOURCE_EXHAUSTED", "status": 503, "detail": "busy",
        "instance": "/v2/process-instances"});
    let (client, _) = recorder(503, problem).await;
    let error = client.create_instance(&CreateInstance::latest("p")).await.unwrap_err();
    assert!(error.is_resource_exhausted(), "{error}");
    assert_eq!(error.to_string(), "RESOURCE_EXHAUSTED (503): busy");

    let (client, _) = recorder(200, json!({"processInstanceKey": 1})).await;
    let error = client.create_instance_key(&CreateInstance::latest("p")).await.unwrap_err();
    assert!(matches!(error, Error::Decode { .. }), "{error}");
}

#[tokio::test]
async fn requests_beyond_the_connections_wait() {
    #[derive(Clone, Default)]
    struct Gauge {
        now: Arc<AtomicUsize>,
        peak: Arc<AtomicUsize>,
    }
    async fn status(State(gauge): State<Gauge>) -> Response {
        let now = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
        gauge.peak.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        gauge.now.fetch_sub(1, Ordering::SeqCst);
        StatusCode::NO_CONTENT.into_response()
    }
    let gauge = Gauge::default();
    let router = Router::new().route("/v2/status", get(status)).with_state(gauge.clone());
    let client = fakes::rest_client(fakes::rest_server(router).await, 2);
    let requests = (0..200).map(|_| client.status());
    let results = futures::future::join_all(requests).await;
    assert!(results.iter().all(Result::is_ok));
    assert!((1..=2).contains(&gauge.peak.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn a_long_poll_does_not_hold_up_short_requests() {
    let release = Arc::new(Notify::new());
    let released = Arc::clone(&release);
    let activate = move || async move {
        released.notified().await;
        r#"{"jobs":[]}"#
    };
    let router = Router::new()
        .route("/v2/jobs/activation", post(activate))
        .route("/v2/status", get(|| async { StatusCode::NO_CONTENT }));
    let client = fakes::rest_client(fakes::rest_server(router).await, 1);
    let command = ActivateJobs {
        job_type: "w",
        worker: "",
        timeout: Duration::from_secs(5),
        jobs_max: 1,
        fetch_variables: &[],
        wait: Some(Duration::from_secs(30)),
        tenant_ids: &[],
    };
    let (jobs, ()) = tokio::join!(client.activate_jobs(&command), async {
        client.status().await.unwrap();
        release.notify_one();
    });
    assert!(jobs.unwrap().is_empty());
}

#[tokio::test]
async fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = fakes::rest_client(address, 1).status().await.unwrap_err();
    assert!(matches!(error, Error::Connect { fault: ConnectFault::NothingAnswers, .. }), "{error}");
}

#[tokio::test]
async fn any_operation_can_be_called() {
    let (client, seen) = recorder(200, json!({"a": 1})).await;
    let calls = [
        ApiCall::get("/roles/x"),
        ApiCall::post("/roles", "{\"name\":\"x\"}"),
        ApiCall::put("/roles/x", "{}"),
        ApiCall::patch("/jobs/1", "{}"),
        ApiCall::delete("/roles/x"),
    ];
    for call in &calls {
        assert_eq!(client.call(call).await.unwrap(), "{\"a\":1}");
    }
    let seen = seen.lock();
    let methods: Vec<_> = seen.iter().map(|(method, ..)| method.as_str()).collect();
    assert_eq!(methods, ["GET", "POST", "PUT", "PATCH", "DELETE"]);
    assert_eq!((seen[1].1.as_str(), &seen[1].2), ("/v2/roles", &json!({"name": "x"})));
}

#[tokio::test]
async fn silence_ends_with_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = RestOptions {
        address: listener.local_addr().unwrap().to_string(),
        request_timeout: Duration::from_millis(20),
        ..RestOptions::default()
    };
    let error = RestClient::new(options).unwrap().status().await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

/// A server that closes each connection after one answer, without having said so.
#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let closed = Arc::new(Notify::new());
    let closed_there = Arc::clone(&closed);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 1024];
            assert!(stream.read(&mut buffer).await.unwrap() > 0);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            stream.shutdown().await.unwrap();
            drop(stream);
            closed_there.notify_one();
        }
    });
    let client = fakes::rest_client(address, 1);
    for _ in 0..5 {
        client.status().await.unwrap();
        closed.notified().await;
    }
}

/// A server that hangs up in the middle of an answer.
#[tokio::test]
async fn a_broken_answer_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 1024];
        assert!(stream.read(&mut buffer).await.unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{").await.unwrap();
    });
    let error = fakes::rest_client(address, 1).topology().await.unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
}
