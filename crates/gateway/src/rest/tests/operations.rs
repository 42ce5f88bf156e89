//! Each served operation: what the broker is asked, what the client gets, and literal problems.

use std::sync::Arc;
use std::time::Duration;

use broker_api::SubmitError;
use bytes::Bytes;
use http_body_util::Full;
use protocol::{
    ActivateAdHoc, ActivateElement, BroadcastSignal, Clock, Command, CompleteJob, CreateInstance,
    DecisionRef, DefinitionRef, Document, EvaluateConditionals, EvaluateDecision, FailJob, JobResult, Name,
    PublishMessage, Rejection, RejectionType, SetVariables, ThrowError, UpdateJob, UserTaskChanges,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake::FakeBroker;
use super::{block_on, gateway, request, tenants_gateway, text};

/// Sends a request that must succeed as the contract has it; the answer's body and the command.
pub(super) fn succeed(operation: Operation, path: &str, body: &str) -> (String, Command) {
    let broker = Arc::new(FakeBroker::default());
    let gateway = if body.contains("\"tenantId\"") { tenants_gateway(&broker) } else { gateway(&broker) };
    let spec = operation.spec();
    let (status, answer) =
        block_on(async { text(gateway.answer(request(spec.method, path, body.to_owned())).await).await });
    check_response(spec, status, &answer);
    (answer, broker.last())
}

/// Sends a request that must fail with this status, title and detail.
pub(super) fn fail(method: &str, path: &str, body: &str, status: u16, title: &str, detail: &str) {
    fail_with(&Arc::default(), method, path, body, status, title, detail);
}

pub(super) fn fail_with(
    broker: &Arc<FakeBroker>,
    method: &str,
    path: &str,
    body: &str,
    status: u16,
    title: &str,
    detail: &str,
) {
    let gateway = if body.contains("\"tenantId\"") { tenants_gateway(broker) } else { gateway(broker) };
    let answer = block_on(async { text(gateway.answer(request(method, path, body.to_owned())).await).await });
    let instance = path.split('?').next().unwrap();
    let detail = serde_json::to_string(detail).unwrap();
    let expected = format!(
        r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":{detail},"instance":"{instance}"}}"#
    );
    assert_eq!(answer, (status, expected), "{method} {path} {body}");
}

pub(super) fn bad(method: &str, path: &str, body: &str, detail: &str) {
    fail(method, path, body, 400, "INVALID_ARGUMENT", detail);
}

pub(super) fn document(json: &'static str) -> Document {
    Document::parse(Bytes::from_static(json.as_bytes())).unwrap()
}

fn create(definition: DefinitionRef) -> CreateInstance {
    CreateInstance::of(definition)
}

const INSTANCES: &str = "/v2/process-instances";

#[test]
fn create_by_id() {
    let body = r#"{"processDefinitionId":"order","processDefinitionVersion":2,"variables":{"a":1.50,"b":"\u00e4"},
        "tenantId":"t1","tags":["vip","x:1"],"businessId":"b\"1","operationReference":7}"#;
    let (answer, command) = succeed(Operation::CreateProcessInstance, INSTANCES, body);
    assert_eq!(
        answer,
        r#"{"processDefinitionId":"order","processDefinitionVersion":3,"tenantId":"t1","variables":{},"processDefinitionKey":"2251799813685249","processInstanceKey":"2251799813685250","tags":["vip","x:1"],"businessId":"b\"1"}"#
    );
    let expected = CreateInstance {
        tenant_id: "t1".into(),
        variables: document(r#"{"a":1.50,"b":"\u00e4"}"#),
        tags: vec!["vip".into(), "x:1".into()],
        business_id: Some("b\"1".into()),
        operation_reference: Some(7),
        ..create(DefinitionRef::Id { id: "order".into(), version: Some(2) })
    };
    assert_eq!(command, Command::CreateInstance(expected));
}

#[test]
fn create_as_java_sends_it() {
    let rest = r#""processDefinitionVersion":-1,"variables":{},"tenantId":"<default>","tags":[],"startInstructions":[],"runtimeInstructions":[ ],"awaitCompletion":false,"fetchVariables":[]}"#;
    let by_id = format!(r#"{{"processDefinitionId":"p",{rest}"#);
    let (_, command) = succeed(Operation::CreateProcessInstance, INSTANCES, &by_id);
    assert_eq!(command, Command::CreateInstance(create(DefinitionRef::Id { id: "p".into(), version: None })));
    let by_key = format!(r#"{{"processDefinitionKey":"2251799813685249",{rest}"#);
    let (_, command) = succeed(Operation::CreateProcessInstance, INSTANCES, &by_key);
    assert_eq!(command, Command::CreateInstance(create(DefinitionRef::Key(2_251_799_813_685_249))));
}

#[test]
fn create_and_await() {
    let broker = Arc::new(FakeBroker::default());
    let gateway = gateway(&broker);
    let body = r#"{"processDefinitionId":"p","awaitCompletion":true,"requestTimeout":2500,"fetchVariables":["a"],"variables":{"a":{"b":[1,2]}}}"#;
    let answer = block_on(async { text(gateway.answer(request("POST", INSTANCES, body)).await).await });
    check_response(Operation::CreateProcessInstance.spec(), answer.0, &answer.1);
    assert!(answer.1.contains(r#""variables":{"a":{"b":[1,2]}}"#), "{}", answer.1);
    assert_eq!(*broker.awaited.lock(), [(vec!["a".into()], Duration::from_millis(2500))]);
}

#[test]
fn create_with_instructions() {
    let body = r#"{"processDefinitionId":"p","startInstructions":[{"elementId":"a\u0062"},{"elementId":"c"}],
        "runtimeInstructions":[{"type":"TERMINATE_PROCESS_INSTANCE","afterElementId":"d"},{"afterElementId":"e"}]}"#;
    let (_, command) = succeed(Operation::CreateProcessInstance, INSTANCES, body);
    let expected = CreateInstance {
        start_before: vec!["ab".into(), "c".into()],
        terminate_after: vec!["d".into(), "e".into()],
        ..create(DefinitionRef::Id { id: "p".into(), version: None })
    };
    assert_eq!(command, Command::CreateInstance(expected));
}

#[test]
fn create_refusals() {
    for (body, detail) in [
        ("", "request body: is required, but missing"),
        (
            "{}",
            "request body: expected exactly one of processDefinitionKey, processDefinitionId, but found none",
        ),
        (
            r#"{"processDefinitionId":"p","processDefinitionKey":"1"}"#,
            "request body: expected exactly one of processDefinitionKey, processDefinitionId, but found processDefinitionId, processDefinitionKey together",
        ),
        ("[]", "request body: expected an object, but found an array"),
        ("null", "request body: must not be null, expected an object"),
        (
            r#"{"processDefinitionId":"p","foo":1,"tags":["a","1b"],"requestTimeout":1.5}"#,
            r#"foo: unknown property; tags[1]: "1b" does not match ^[A-Za-z][A-Za-z0-9_\-:.]{0,99}$; requestTimeout: expected an integer, but found 1.5"#,
        ),
        (
            r#"{"processDefinitionId":"p","variables":[1]}"#,
            "variables: expected an object, but found an array",
        ),
        (r#"{"processDefinitionId":"p","variables":7}"#, "variables: expected an object, but found a number"),
        (r#"{"processDefinitionId":"p","processDefinitionId":"q"}"#, "processDefinitionId: occurs twice"),
        (
            r#"{"processDefinitionKey":"9223372036854775808"}"#,
            "processDefinitionKey: a key has at most 64 bits",
        ),
        (r#"{"processDefinitionKey":1}"#, "processDefinitionKey: expected a string, but found a number"),
        (
            r#"{"processDefinitionId":"p","operationReference":99999999999999999999}"#,
            "operationReference: 99999999999999999999 is beyond 64 bits",
        ),
        (
            r#"{"processDefinitionId":"p","processDefinitionVersion":2147483648}"#,
            "processDefinitionVersion: expected at most 2147483647, but found 2147483648",
        ),
        (r#"{"processDefinitionId":"p","tags":["a","a"]}"#, "tags[1]: occurs twice"),
        (
            r#"{"processDefinitionId":"p""#,
            "request body is not valid JSON: expected ',' or '}' at line 1 column 27",
        ),
        (
            "{\n \"tags\": [1,}",
            "request body is not valid JSON: expected a value at line 2 column 13 in tags",
        ),
        (
            r#"{"processDefinitionId":"p"} x"#,
            "request body is not valid JSON: unexpected text after the value at line 1 column 29",
        ),
    ] {
        bad("POST", INSTANCES, body, detail);
    }
    let nested = format!(r#"{{"processDefinitionId":"p","variables":{{"a":{}"#, "[".repeat(1200));
    bad(
        "POST",
        INSTANCES,
        &nested,
        "request body is not valid JSON: nested deeper than 500 levels at line 1 column 544 in variables",
    );
    fail(
        "POST",
        INSTANCES,
        r#"{"processDefinitionKey":"-5"}"#,
        404,
        "NOT_FOUND",
        "no resource has the processDefinitionKey -5",
    );
    bad(
        "POST",
        INSTANCES,
        r#"{"processDefinitionId":"p","startInstructions":[{}],"runtimeInstructions":[{"type":"OTHER","afterElementId":"a"}]}"#,
        "startInstructions[0].elementId: is required, but missing; runtimeInstructions[0].type: expected one of TERMINATE_PROCESS_INSTANCE, but found \"OTHER\"",
    );
}

#[test]
fn refusals_of_the_broker() {
    let job = "/v2/jobs/5/completion";
    let reject = |kind| SubmitError::Rejected(Rejection::new(kind, "why"));
    let rejected = |kind: &str| format!("Command 'COMPLETE' rejected with code '{kind}': why");
    for (error, status, title, detail) in [
        (reject(RejectionType::NotFound), 404, "NOT_FOUND", rejected("NOT_FOUND")),
        (reject(RejectionType::InvalidState), 409, "INVALID_STATE", rejected("INVALID_STATE")),
        (reject(RejectionType::InvalidArgument), 400, "INVALID_ARGUMENT", rejected("INVALID_ARGUMENT")),
        (SubmitError::ResourceExhausted("full".into()), 503, "RESOURCE_EXHAUSTED", "full".into()),
        (SubmitError::TooLarge("large".into()), 413, "CONTENT_TOO_LARGE", "large".into()),
        (SubmitError::Unavailable("no leader".into()), 503, "UNAVAILABLE", "no leader".into()),
        (SubmitError::Timeout("late".into()), 504, "DEADLINE_EXCEEDED", "late".into()),
        (SubmitError::Internal("bug".into()), 500, "INTERNAL", "bug".into()),
    ] {
        let broker = Arc::new(FakeBroker::default());
        broker.scripted.lock().push_back(Err(error));
        fail_with(&broker, "POST", job, "{}", status, title, &detail);
    }
}

#[test]
fn activate() {
    let broker = Arc::new(FakeBroker::default());
    let gateway = tenants_gateway(&broker);
    let ask = |body: &'static str| {
        block_on(async { text(gateway.answer(request("POST", "/v2/jobs/activation", body)).await).await })
    };
    let (status, answer) =
        ask(r#"{"type":"pay","timeout":60000,"maxJobsToActivate":32,"tenantFilter":"ASSIGNED"}"#);
    check_response(Operation::ActivateJobs.spec(), status, &answer);
    assert_eq!(
        answer,
        r#"{"jobs":[{"type":"pay","processDefinitionId":"order","processDefinitionVersion":3,"elementId":"pay-task","customHeaders":{"h":"1"},"worker":"w","retries":3,"deadline":1900000000000,"variables":{"a":{"b":[1.50]}},"tenantId":"<default>","jobKey":"21","processInstanceKey":"2251799813685250","processDefinitionKey":"2251799813685249","elementInstanceKey":"22","kind":"BPMN_ELEMENT","listenerEventType":"UNSPECIFIED","userTask":null,"tags":["vip"],"rootProcessInstanceKey":"2251799813685250","businessId":null,"priority":0,"jobLeaseToken":null,"physicalTenantId":"default"}]}"#
    );
    ask(
        r#"{"type":"pay","worker":"w","timeout":1,"maxJobsToActivate":1,"requestTimeout":-1,"fetchVariable":["a","\u0062"],"tenantIds":["t1","t2"]}"#,
    );
    let activations = broker.activations.lock();
    let [(first, first_wait), (second, second_wait)] = &activations[..] else { panic!("two activations") };
    assert_eq!((first.max_jobs, first.timeout_ms, &*first.worker), (32, 60_000, ""));
    assert_eq!(first.tenant_ids, ["<default>".into()]);
    assert_eq!(*first_wait, Some(Duration::from_secs(10)));
    assert_eq!(second.fetch_variables, ["a".into(), "b".into()]);
    assert_eq!(second.tenant_ids, ["t1".into(), "t2".into()]);
    assert_eq!(*second_wait, None);
}

#[test]
fn activate_refusals() {
    let path = "/v2/jobs/activation";
    bad(
        "POST",
        path,
        r#"{"type":"","timeout":0,"maxJobsToActivate":0}"#,
        "type: must not be empty; timeout: expected at least 1, but found 0; maxJobsToActivate: expected at least 1, but found 0",
    );
    bad(
        "POST",
        path,
        "{}",
        "maxJobsToActivate: is required, but missing; timeout: is required, but missing; type: is required, but missing",
    );
    bad(
        "POST",
        path,
        r#"{"type":"a","timeout":1,"maxJobsToActivate":1,"tenantFilter":"ALL"}"#,
        r#"tenantFilter: expected one of PROVIDED, ASSIGNED, but found "ALL""#,
    );
}

#[test]
fn complete() {
    let path = "/v2/jobs/21/completion";
    let expected = |variables| Command::CompleteJob(CompleteJob::of(21, variables));
    assert_eq!(succeed(Operation::CompleteJob, path, "").1, expected(Document::empty()));
    assert_eq!(succeed(Operation::CompleteJob, path, r#"{"variables":null}"#).1, expected(Document::empty()));
    assert_eq!(
        succeed(Operation::CompleteJob, path, r#"{"variables":{"a":[]}}"#).1,
        expected(document(r#"{"a":[]}"#))
    );
    bad("POST", "/v2/jobs/x/completion", "", r#"jobKey: "x" does not match ^-?[0-9]+$"#);
    bad(
        "POST",
        path,
        r#"{"result":{"type":"other"}}"#,
        r#"result.type: expected one of adHocSubProcess, userTask, but found "other""#,
    );
}

#[test]
fn complete_with_a_result() {
    let result = |json: &str| {
        let body = format!(r#"{{"result":{json}}}"#);
        match succeed(Operation::CompleteJob, "/v2/jobs/21/completion", &body).1 {
            Command::CompleteJob(complete) => *complete.result.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        result(
            r#"{"type":"userTask","denied":true,"deniedReason":"no","corrections":{"assignee":"","priority":7,
                "candidateUsers":["a","b"],"candidateGroups":[],"dueDate":"2030-01-01T00:00:00Z"}}"#
        ),
        JobResult::UserTask {
            denied: true,
            denied_reason: "no".into(),
            corrections: UserTaskChanges {
                candidate_users: Some(vec!["a".into(), "b".into()]),
                candidate_groups: Some(Vec::new()),
                due_date: Some("2030-01-01T00:00:00Z".into()),
                follow_up_date: None,
                priority: Some(7),
                assignee: Some(Name::default()),
            },
        }
    );
    assert_eq!(
        result(
            r#"{"type":"adHocSubProcess","isCompletionConditionFulfilled":true,
                "activateElements":[{"elementId":"a","variables":{"x":1}},{"elementId":"b"}]}"#
        ),
        JobResult::AdHocSubProcess {
            activate_elements: vec![
                ActivateElement { element_id: "a".into(), variables: document(r#"{"x":1}"#) },
                ActivateElement { element_id: "b".into(), variables: Document::empty() },
            ],
            is_completion_condition_fulfilled: true,
            is_cancel_remaining_instances: false,
        }
    );
    bad(
        "POST",
        "/v2/jobs/21/completion",
        r#"{"result":{"type":"adHocSubProcess","activateElements":[{}]}}"#,
        "result.activateElements[0].elementId: is required",
    );
}

#[test]
fn fail_a_job() {
    let body = r#"{"retries":2,"errorMessage":"no\nway","retryBackOff":500,"variables":{"a":1}}"#;
    let (_, command) = succeed(Operation::FailJob, "/v2/jobs/21/failure", body);
    let expected = FailJob {
        job_key: 21,
        retries: 2,
        retry_backoff_ms: 500,
        error_message: "no\nway".into(),
        variables: document(r#"{"a":1}"#),
        lease: None,
    };
    assert_eq!(command, Command::FailJob(expected));
    let (_, command) = succeed(Operation::FailJob, "/v2/jobs/21/failure", "");
    let expected = FailJob {
        job_key: 21,
        retries: 0,
        retry_backoff_ms: 0,
        error_message: "".into(),
        variables: Document::empty(),
        lease: None,
    };
    assert_eq!(command, Command::FailJob(expected));
    bad(
        "POST",
        "/v2/jobs/21/failure",
        r#"{"retryBackOff":-1}"#,
        "retryBackOff: expected at least 0, but found -1",
    );
}

#[test]
fn throw_an_error() {
    let (_, command) = succeed(
        Operation::ThrowJobError,
        "/v2/jobs/21/error",
        r#"{"errorCode":"E1","errorMessage":null,"variables":null}"#,
    );
    let expected = ThrowError {
        job_key: 21,
        error_code: "E1".into(),
        error_message: "".into(),
        variables: Document::empty(),
        lease: None,
    };
    assert_eq!(command, Command::ThrowError(expected));
    bad("POST", "/v2/jobs/21/error", "{}", "errorCode: is required, but missing");
}

#[test]
fn activate_in_an_ad_hoc_sub_process() {
    let path = "/v2/element-instances/ad-hoc-activities/21/activation";
    let (_, command) = succeed(
        Operation::ActivateAdHocSubProcessActivities,
        path,
        r#"{"elements":[{"elementId":"a"},{"elementId":"b","variables":{"x":1}}],"cancelRemainingInstances":true}"#,
    );
    let element = |id: &str, variables: &'static str| ActivateElement {
        element_id: id.into(),
        variables: Document::parse(variables.into()).unwrap(),
    };
    let expected = ActivateAdHoc {
        element_instance_key: 21,
        elements: vec![element("a", "{}"), element("b", r#"{"x":1}"#)],
        cancel_remaining_instances: true,
    };
    assert_eq!(command, Command::ActivateAdHoc(expected));
    bad("POST", path, r#"{"elements":[]}"#, "elements: at least one element is required");
    bad("POST", path, r#"{"elements":[{}]}"#, "elements[0].elementId: is required, but missing");
    bad("POST", path, "{}", "elements: is required, but missing");
}

#[test]
fn update_a_job() {
    let path = "/v2/jobs/21";
    let (_, command) = succeed(Operation::UpdateJob, path, r#"{"changeset":{"retries":5,"timeout":null}}"#);
    let update = UpdateJob {
        job_key: 21,
        retries: Some(5),
        timeout_ms: None,
        operation_reference: None,
        priority: None,
        lease: None,
    };
    assert_eq!(command, Command::UpdateJob(update));
    let (_, command) =
        succeed(Operation::UpdateJob, path, r#"{"changeset":{"timeout":9000},"operationReference":1}"#);
    let update = UpdateJob {
        job_key: 21,
        retries: None,
        timeout_ms: Some(9000),
        operation_reference: Some(1),
        priority: None,
        lease: None,
    };
    assert_eq!(command, Command::UpdateJob(update));
    bad(
        "PATCH",
        path,
        r#"{"changeset":{}}"#,
        "changeset: at least one of retries, timeout, priority is required",
    );
    bad(
        "PATCH",
        path,
        r#"{"changeset":{"retries":0}}"#,
        "changeset.retries: expected at least 1, but found 0",
    );
    bad("PATCH", path, r#"{"changeset":{"retires":1}}"#, "changeset.retires: unknown property");
}

#[test]
fn signals_and_conditions() {
    let body = r#"{"signalName":"alarm","variables":{"a":1},"tenantId":"t1"}"#;
    let (answer, command) = succeed(Operation::BroadcastSignal, "/v2/signals/broadcast", body);
    assert_eq!(answer, r#"{"tenantId":"t1","signalKey":"12"}"#);
    let expected =
        BroadcastSignal { name: "alarm".into(), variables: document(r#"{"a":1}"#), tenant_id: "t1".into() };
    assert_eq!(command, Command::BroadcastSignal(expected));
    bad("POST", "/v2/signals/broadcast", "{}", "signalName: is required, but missing");

    let path = "/v2/conditionals/evaluation";
    let body = r#"{"variables":{"x":2},"processDefinitionKey":"77"}"#;
    let (answer, command) = succeed(Operation::EvaluateConditionals, path, body);
    assert_eq!(
        answer,
        r#"{"conditionalEvaluationKey":"13","tenantId":"<default>","processInstances":[{"processDefinitionKey":"2251799813685249","processInstanceKey":"2251799813685250"}]}"#
    );
    let expected = EvaluateConditionals {
        variables: document(r#"{"x":2}"#),
        tenant_id: Name::default_tenant(),
        definition_key: Some(77),
    };
    assert_eq!(command, Command::EvaluateConditionals(expected));
    bad("POST", path, "{}", "variables: is required, but missing");
}

#[test]
fn messages() {
    let body = r#"{"name":"paid","correlationKey":"k","timeToLive":1000,"messageId":"m1","variables":{"a":1},"tenantId":"t1"}"#;
    let (answer, command) = succeed(Operation::PublishMessage, "/v2/messages/publication", body);
    assert_eq!(answer, r#"{"tenantId":"t1","messageKey":"9"}"#);
    let expected = PublishMessage {
        name: "paid".into(),
        correlation_key: "k".into(),
        time_to_live_ms: 1000,
        message_id: "m1".into(),
        variables: document(r#"{"a":1}"#),
        tenant_id: "t1".into(),
        business_id: None,
    };
    assert_eq!(command, Command::PublishMessage(expected));
    let (answer, _) = succeed(Operation::CorrelateMessage, "/v2/messages/correlation", r#"{"name":"paid"}"#);
    assert_eq!(
        answer,
        r#"{"tenantId":"<default>","messageKey":"9","processInstanceKey":"2251799813685250"}"#
    );
    bad(
        "POST",
        "/v2/messages/publication",
        r#"{"name":"","timeToLive":-1}"#,
        "name: must not be empty; timeToLive: expected at least 0, but found -1",
    );
    bad("POST", "/v2/messages/correlation", r#"{"name":"n","timeToLive":1}"#, "timeToLive: unknown property");
    let tenant = "x".repeat(257);
    bad(
        "POST",
        "/v2/messages/correlation",
        &format!(r#"{{"name":"n","tenantId":"{tenant}"}}"#),
        "tenantId: expected at most 256 characters, but found 257",
    );
}

#[test]
fn small_commands() {
    let path = "/v2/process-instances/5/cancellation";
    let cancel =
        |operation_reference| Command::CancelInstance { process_instance_key: 5, operation_reference };
    assert_eq!(succeed(Operation::CancelProcessInstance, path, "").1, cancel(None));
    assert_eq!(succeed(Operation::CancelProcessInstance, path, "null").1, cancel(None));
    assert_eq!(
        succeed(Operation::CancelProcessInstance, path, r#"{"operationReference":3}"#).1,
        cancel(Some(3))
    );
    let resolve = Command::ResolveIncident { incident_key: 6, operation_reference: None };
    assert_eq!(succeed(Operation::ResolveIncident, "/v2/incidents/6/resolution", "{}").1, resolve);
    let set = SetVariables {
        element_instance_key: 8,
        variables: document(r#"{"a":null}"#),
        local: true,
        operation_reference: None,
        request_id: None,
    };
    let body = r#"{"variables":{"a":null},"local":true}"#;
    let (_, command) =
        succeed(Operation::CreateElementInstanceVariables, "/v2/element-instances/8/variables", body);
    assert_eq!(command, Command::SetVariables(set));
    let (_, command) = succeed(Operation::PinClock, "/v2/clock", r#"{"timestamp":1700000000000}"#);
    assert_eq!(command, Command::Clock(Clock::Pin { timestamp_ms: 1_700_000_000_000 }));
    assert_eq!(succeed(Operation::ResetClock, "/v2/clock/reset", "").1, Command::Clock(Clock::Reset));
    let (answer, _) =
        succeed(Operation::DeleteResource, "/v2/resources/12/deletion", r#"{"deleteHistory":false}"#);
    assert_eq!(answer, r#"{"resourceKey":"12","batchOperation":null}"#);
    bad("PUT", "/v2/clock", r#"{"timestamp":-1}"#, "timestamp: expected at least 0, but found -1");
    bad("PUT", "/v2/element-instances/8/variables", "{}", "variables: is required, but missing");
}

#[test]
fn expressions() {
    let gateway = gateway(&Arc::default());
    let body = r#"{"expression":"=x + \"a\"","variables":{"y":1}}"#;
    let (status, answer) = block_on(async {
        text(gateway.answer(request("POST", "/v2/expression/evaluation", body)).await).await
    });
    check_response(Operation::EvaluateExpression.spec(), status, &answer);
    assert_eq!(
        answer,
        r#"{"expression":"=x + \"a\"","result":{"v":[1,null]},"warnings":[{"message":"no variable 'x'"}],"referencedSecrets":[]}"#
    );
    bad("POST", "/v2/expression/evaluation", r#"{"expression":"x"}"#, "expression: must start with '='");
    bad(
        "POST",
        "/v2/expression/evaluation",
        r#"{"expression":"=1 +"}"#,
        "Command 'EVALUATE' rejected with code 'INVALID_ARGUMENT': cannot read '=1 +'",
    );
}

#[test]
fn reports() {
    let get = |broker: FakeBroker, path: &str| {
        let gateway = gateway(&Arc::new(broker));
        block_on(async { text(gateway.answer(request("GET", path, "")).await).await })
    };
    let (status, answer) = get(FakeBroker::default(), "/v2/topology");
    check_response(Operation::GetTopology.spec(), status, &answer);
    assert_eq!(
        answer,
        r#"{"brokers":[{"nodeId":0,"brokerId":"0","host":"localhost","port":26500,"partitions":[{"partitionId":1,"role":"leader","state":"active","health":"healthy"},{"partitionId":2,"role":"follower","state":"active","health":"healthy"}],"version":"8.9.0"}],"clusterId":"c-1","clusterSize":1,"partitionsCount":2,"replicationFactor":1,"gatewayVersion":"8.9.0","lastCompletedChangeId":"-1"}"#
    );
    let (status, answer) = get(FakeBroker::default(), "/v2/license");
    check_response(Operation::GetLicense.spec(), status, &answer);
    assert_eq!(get(FakeBroker::default(), "/v2/status"), (204, String::new()));
    assert_eq!(
        get(FakeBroker { is_down: true, ..FakeBroker::default() }, "/v2/status"),
        (503, String::new())
    );
}

fn form(parts: &str) -> http::Request<Full<Bytes>> {
    let body = parts.replace('\n', "\r\n");
    http::Request::post("/v2/deployments")
        .header("content-type", "multipart/form-data; charset=ISO-8859-1; boundary=B")
        .body(Full::new(Bytes::from(body)))
        .unwrap()
}

const RESOURCE: &str = "--B\nContent-Disposition: form-data; name=\"resources\"; filename=\"a.bpmn\"\nContent-Type: application/octet-stream\n\n<xml/>\n";

#[test]
fn deploy() {
    let broker = Arc::new(FakeBroker::default());
    let gateway = tenants_gateway(&broker);
    let second = "--B\nContent-Disposition: form-data; name=\"resources\"; filename=\"b.bpmn\"\n\nB\n";
    let tenant = "--B\nContent-Disposition: form-data; name=\"tenantId\"\n\nt1\n";
    let (status, answer) = block_on(async {
        text(gateway.answer(form(&format!("{RESOURCE}{second}{tenant}--B--\n"))).await).await
    });
    check_response(Operation::CreateDeployment.spec(), status, &answer);
    assert_eq!(
        answer,
        concat!(
            r#"{"deploymentKey":"7","tenantId":"t1","deployments":["#,
            r#"{"processDefinition":{"processDefinitionId":"order","processDefinitionVersion":1,"resourceName":"a.bpmn","tenantId":"t1","processDefinitionKey":"2251799813685249"},"decisionDefinition":null,"decisionRequirements":null,"form":null,"resource":null},"#,
            r#"{"processDefinition":null,"decisionDefinition":{"decisionDefinitionId":"dish","version":2,"name":"Dish","tenantId":"t1","decisionRequirementsId":"dinner","decisionDefinitionKey":"31","decisionRequirementsKey":"32"},"decisionRequirements":null,"form":null,"resource":null},"#,
            r#"{"processDefinition":null,"decisionDefinition":null,"decisionRequirements":{"decisionRequirementsId":"dinner","decisionRequirementsName":"Dinner","version":2,"resourceName":"dinner.dmn","tenantId":"t1","decisionRequirementsKey":"32"},"form":null,"resource":null},"#,
            r#"{"processDefinition":null,"decisionDefinition":null,"decisionRequirements":null,"form":{"formId":"ask","version":1,"resourceName":"ask.form","tenantId":"t1","formKey":"33"},"resource":null},"#,
            r#"{"processDefinition":null,"decisionDefinition":null,"decisionRequirements":null,"form":null,"resource":{"resourceId":"notes.txt","version":1,"resourceName":"notes.txt","tenantId":"t1","resourceKey":"34"}}]}"#,
        )
    );
    let Command::Deploy(deploy) = broker.last() else { panic!("a deployment") };
    let resources: Vec<_> =
        deploy.resources.iter().map(|r| (r.name.as_str(), r.content.as_slice())).collect();
    assert_eq!(resources, [("a.bpmn", &b"<xml/>"[..]), ("b.bpmn", b"B")]);
}

#[test]
fn evaluate_a_decision() {
    const PATH: &str = "/v2/decision-definitions/evaluation";
    let body = r#"{"decisionDefinitionId":"dish","variables":{"guests":20},"tenantId":"t1"}"#;
    let (answer, command) = succeed(Operation::EvaluateDecision, PATH, body);
    let told: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(told["output"], "null");
    assert_eq!(
        (&told["failedDecisionDefinitionId"], &told["failureMessage"]),
        (&"dish".into(), &"it failed".into())
    );
    assert_eq!((&told["decisionEvaluationKey"], &told["decisionInstanceKey"]), (&"41".into(), &"41".into()));
    assert_eq!(
        (&told["decisionDefinitionKey"], &told["decisionRequirementsKey"]),
        (&"31".into(), &"32".into())
    );
    let first = &told["evaluatedDecisions"][0];
    assert_eq!(
        first.to_string(),
        serde_json::json!({
            "decisionDefinitionId": "season", "decisionDefinitionKey": "31", "decisionDefinitionName": "season",
            "decisionDefinitionVersion": 2, "decisionDefinitionType": "DECISION_TABLE", "tenantId": "t1",
            "decisionEvaluationInstanceKey": "41-1", "output": "\"winter\"",
            "evaluatedInputs": [{"inputId": "i", "inputName": "Guests", "inputValue": "20"}],
            "matchedRules": [{"ruleId": "r", "ruleIndex": 1, "evaluatedOutputs": [
                {"outputId": "o", "outputName": "Dish", "outputValue": "\"winter\"", "ruleId": "r", "ruleIndex": 1},
            ]}],
        })
        .to_string()
    );
    assert_eq!(
        command,
        Command::EvaluateDecision(EvaluateDecision {
            decision: DecisionRef::Id("dish".into()),
            variables: document(r#"{"guests":20}"#),
            tenant_id: "t1".into(),
        })
    );
    let (_, command) = succeed(Operation::EvaluateDecision, PATH, r#"{"decisionDefinitionKey":"31"}"#);
    let Command::EvaluateDecision(by_key) = command else { panic!("an evaluation") };
    assert_eq!((by_key.decision, by_key.tenant_id), (DecisionRef::Key(31), Name::default_tenant()));
    bad(
        "POST",
        PATH,
        r#"{"decisionDefinitionKey":"31","decisionDefinitionId":"dish"}"#,
        "request body: expected exactly one of decisionDefinitionId, decisionDefinitionKey, but found decisionDefinitionId, decisionDefinitionKey together",
    );
    let broker = Arc::new(FakeBroker::default());
    let rejection = Rejection::not_found("no such decision");
    broker.scripted.lock().push_back(Err(SubmitError::Rejected(rejection)));
    fail_with(
        &broker,
        "POST",
        PATH,
        body,
        404,
        "NOT_FOUND",
        "Command 'EVALUATE' rejected with code 'NOT_FOUND': no such decision",
    );
}

#[test]
fn deploy_refusals() {
    let gateway = gateway(&Arc::default());
    let part = |head: &str| format!("{RESOURCE}--B\nContent-Disposition: form-data{head}\n\nx\n--B--\n");
    let many = "--B\nContent-Disposition: form-data; name=\"resources\"; filename=\"a\"\n\n\n".repeat(1001)
        + "--B--\n";
    for (body, detail) in [
        ("--B--\n".to_owned(), "resources: is required, but missing"),
        (part("; name=\"resources\""), "resources[1]: needs a file name"),
        (part("; name=\"other\""), "other: unknown part of the form"),
        (part(""), "the form has a part without a name"),
        (
            part("; name=\"tenantId\"").replace("\nx\n", "\na b\n"),
            r#"tenantId: "a b" does not match ^(<default>|[A-Za-z0-9_@.+-]+)$"#,
        ),
        (
            part("; name=\"tenantId\"")
                .replace("--B--", "--B\nContent-Disposition: form-data; name=\"tenantId\"\n\ny\n--B--"),
            "tenantId: occurs twice",
        ),
        (
            part(&format!("; name=\"resources\"; filename=\"{}\"", "n".repeat(1025))),
            "resources[1]: the file name nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn… has more than 1024 bytes",
        ),
        (many, "the form has more than 1000 parts"),
    ] {
        let (status, answer) = block_on(async { text(gateway.answer(form(&body)).await).await });
        assert_eq!(status, 400, "{answer}");
        let problem: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(problem["detail"], detail);
    }
    let (status, answer) = block_on(async { text(gateway.answer(form(RESOURCE)).await).await });
    assert_eq!(status, 400);
    assert!(answer.contains("malformed form: "), "{answer}");
}

#[test]
fn tenants_are_as_the_switch_has_it() {
    let off = gateway(&Arc::default());
    let on = tenants_gateway(&Arc::default());
    let ask = |gateway: &crate::rest::Gateway, path: &str, body: &'static str| {
        block_on(async { text(gateway.answer(request("POST", path, body)).await).await })
    };
    for (path, id, named, unnamed) in [
        (
            INSTANCES,
            "createProcessInstance",
            r#"{"processDefinitionId":"p","tenantId":"t"}"#,
            r#"{"processDefinitionId":"p"}"#,
        ),
        ("/v2/messages/publication", "publishMessage", r#"{"name":"m","tenantId":"t"}"#, r#"{"name":"m"}"#),
        ("/v2/messages/correlation", "correlateMessage", r#"{"name":"m","tenantId":"t"}"#, r#"{"name":"m"}"#),
        (
            "/v2/jobs/activation",
            "activateJobs",
            r#"{"type":"t","timeout":1,"maxJobsToActivate":1,"tenantIds":["t"]}"#,
            r#"{"type":"t","timeout":1,"maxJobsToActivate":1}"#,
        ),
    ] {
        let (status, answer) = ask(&off, path, named);
        let expected = format!(
            "Expected to handle request {id} with tenant identifier 't', but multi-tenancy is disabled"
        );
        assert!(status == 400 && answer.contains(&expected), "{answer}");
        assert_eq!(ask(&off, path, unnamed).0, 200, "{path}");
        assert_eq!(ask(&on, path, named).0, 200, "{path}");
        let (status, answer) = ask(&on, path, unnamed);
        assert!(status == 400 && answer.contains("provided"), "{answer}");
    }
    let (status, answer) = ask(&on, INSTANCES, r#"{"processDefinitionId":"p","tenantId":"t t"}"#);
    assert!(status == 400 && answer.contains("tenantId: "), "{answer}");
}
