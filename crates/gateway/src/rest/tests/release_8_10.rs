//! Commands of release 8.10: suspension, business IDs, leases and priorities of jobs.

use std::sync::Arc;

use protocol::{
    BatchAction, BusinessIdClaim, ClusterVariableKind, Command, CompleteJob, CreateBatchOperation, Document,
    JobChangeset, Name, UpdateJob,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::operations::{bad, succeed};
use super::{block_on, request, stored_gateway, tenants_gateway, text};

fn claim(business_id: &str) -> BusinessIdClaim {
    BusinessIdClaim { business_id: Name::from(business_id), is_unique: false }
}

#[test]
fn instances_are_suspended_and_resumed() {
    let (process_instance_key, path) = (5, "/v2/process-instances/5");
    let suspend =
        |operation_reference| Command::SuspendInstance { process_instance_key, operation_reference };
    let resume = |operation_reference| Command::ResumeInstance { process_instance_key, operation_reference };
    let reference = r#"{"operationReference":3}"#;
    for (body, expected) in [("", None), ("null", None), ("{}", None), (reference, Some(3))] {
        let suspended = succeed(Operation::SuspendProcessInstance, &format!("{path}/suspension"), body);
        assert_eq!(suspended, (String::new(), suspend(expected)));
        let resumed = succeed(Operation::ResumeProcessInstance, &format!("{path}/resumption"), body);
        assert_eq!(resumed, (String::new(), resume(expected)));
    }
    bad("POST", &format!("{path}/suspension"), r#"{"x":1}"#, "x: unknown property");
}

#[test]
fn a_business_id_is_assigned() {
    let path = "/v2/process-instances/5/business-id-assignment";
    let (_, command) = succeed(Operation::AssignProcessInstanceBusinessId, path, r#"{"businessId":"o-1"}"#);
    assert_eq!(command, Command::AssignBusinessId { process_instance_key: 5, claim: claim("o-1") });
    bad("POST", path, "{}", "businessId: is required, but missing");
}

#[test]
fn answers_of_workers_name_their_lease() {
    let body = r#"{"jobLeaseToken":"a-1","businessId":"o-1"}"#;
    let (_, command) = succeed(Operation::CompleteJob, "/v2/jobs/21/completion", body);
    let expected = CompleteJob {
        lease: Some(Name::from("a-1")),
        business_id: Some(claim("o-1")),
        ..CompleteJob::of(21, Document::empty())
    };
    assert_eq!(command, Command::CompleteJob(expected));
    let body = r#"{"changeset":{"priority":-7},"leaseToken":"a-1"}"#;
    let (_, command) = succeed(Operation::UpdateJob, "/v2/jobs/21", body);
    let expected = UpdateJob {
        job_key: 21,
        retries: None,
        timeout_ms: None,
        operation_reference: None,
        priority: Some(-7),
        lease: Some(Name::from("a-1")),
    };
    assert_eq!(command, Command::UpdateJob(expected));
}

#[test]
fn many_are_changed_at_once() {
    let instances = r#"{"filter":{"processDefinitionId":"p"}}"#;
    let jobs = r#"{"filter":{"type":"t"},"changeset":{"priority":7,"retries":2}}"#;
    let change = JobChangeset { retries: Some(2), timeout_ms: None, priority: Some(7) };
    for (operation, path, body, filter, action) in [
        (
            Operation::SuspendProcessInstancesBatchOperation,
            "/v2/process-instances/suspension",
            instances,
            r#"{"processDefinitionId":"p"}"#,
            BatchAction::Suspend,
        ),
        (
            Operation::ResumeProcessInstancesBatchOperation,
            "/v2/process-instances/resumption",
            instances,
            r#"{"processDefinitionId":"p"}"#,
            BatchAction::Resume,
        ),
        (
            Operation::UpdateJobsBatchOperation,
            "/v2/jobs/batch-update",
            jobs,
            r#"{"type":"t"}"#,
            BatchAction::UpdateJobs(change),
        ),
    ] {
        let (broker, storage) = (Arc::new(FakeBroker::default()), Arc::new(FakeStorage::default()));
        let gateway = stored_gateway(&broker, &storage);
        let sent = request("POST", path, body);
        let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
        check_response(operation.spec(), status, &answer);
        let expected =
            CreateBatchOperation { action, operation_reference: None, search: Some(Name::from(filter)) };
        assert_eq!(broker.last(), Command::CreateBatchOperation(expected));
    }
    let empty = r#"{"filter":{"type":"t"},"changeset":{}}"#;
    let none = "changeset: at least one of retries, timeout, priority is required";
    bad("POST", "/v2/jobs/batch-update", empty, none);
}

#[test]
fn messages_have_business_ids() {
    let body = r#"{"name":"m","correlationKey":"k","businessId":"o-1"}"#;
    let (_, command) = succeed(Operation::PublishMessage, "/v2/messages/publication", body);
    let Command::PublishMessage(publish) = command else { panic!("another command") };
    assert_eq!(publish.business_id, Some(claim("o-1")));
    let (_, command) = succeed(Operation::CorrelateMessage, "/v2/messages/correlation", body);
    let Command::CorrelateMessage(correlate) = command else { panic!("another command") };
    assert_eq!(correlate.business_id, Some(claim("o-1")));
    for path in ["/v2/messages/publication", "/v2/messages/correlation"] {
        let long = format!(r#"{{"name":"m","businessId":"{}"}}"#, "x".repeat(257));
        bad("POST", path, &long, "businessId: expected at most 256 characters, but found 257");
        bad("POST", path, r#"{"name":"m","businessId":""}"#, "businessId: must not be empty");
    }
}

#[test]
fn cluster_variables_have_metadata_and_a_kind() {
    let metadata = r#"{"kind":"CREDENTIAL","version":2.50}"#;
    let create = format!(r#"{{"name":"n","value":1,"metadata":{metadata},"kind":"secret_reference"}}"#);
    let path = "/v2/cluster-variables/global";
    let (answer, command) = succeed(Operation::CreateGlobalClusterVariable, path, &create);
    let Command::ClusterVariable(change) = command else { panic!("another command") };
    assert_eq!(change.metadata.unwrap().to_json(), metadata);
    assert_eq!(change.kind, Some(ClusterVariableKind::SecretReference));
    let shown = format!(
        r#"{{"name":"n","scope":"GLOBAL","tenantId":null,"kind":"SECRET_REFERENCE","metadata":{metadata},"value":"1"}}"#
    );
    assert_eq!(answer, shown);
    let update = format!(r#"{{"value":1,"metadata":{metadata}}}"#);
    let (_, command) = succeed(Operation::UpdateGlobalClusterVariable, &format!("{path}/n"), &update);
    let Command::ClusterVariable(change) = command else { panic!("another command") };
    assert_eq!((change.metadata.unwrap().to_json().as_str(), change.kind), (metadata, None));
    let wrong = r#"{"name":"n","value":1,"kind":"OTHER"}"#;
    bad("POST", path, wrong, "kind: expected one of JSON, SECRET_REFERENCE, but found \"OTHER\"");
    bad("PUT", &format!("{path}/n"), r#"{"value":1,"kind":"JSON"}"#, "kind: unknown property");
    bad(
        "POST",
        path,
        r#"{"name":"n","value":1,"metadata":[]}"#,
        "metadata: expected an object, but found an array",
    );
    for (wrong, found) in [("true", "a boolean"), ("{}", "an object"), ("[]", "an array")] {
        let body = format!(r#"{{"name":"n","value":1,"metadata":{{"it":{wrong}}}}}"#);
        bad("POST", path, &body, &format!("metadata.it: expected a string or a number, but found {found}"));
    }
    let null = r#"{"name":"n","value":1,"metadata":{"it":null}}"#;
    bad("POST", path, null, "metadata.it: must not be null, expected a string or a number");
}

#[test]
fn expressions_are_evaluated_in_a_scope() {
    let broker = Arc::<FakeBroker>::default();
    let gateway = tenants_gateway(&broker);
    let evaluate = |body: &str| {
        let request = request("POST", "/v2/expression/evaluation", body.to_owned());
        block_on(async { text(gateway.answer(request).await).await })
    };
    for (body, variables, tenant) in [
        (r#"{"expression":"=a","scopeKey":"5"}"#, r#"{"a":1,"b":2}"#, "t"),
        (
            r#"{"expression":"=a","scopeKey":"5","tenantId":"t","variables":{"c":3}}"#,
            r#"{"a":1,"b":2,"c":3}"#,
            "t",
        ),
        (r#"{"expression":"=a","scopeKey":"5","variables":{"a":3}}"#, r#"{"b":2,"a":3}"#, "t"),
        (r#"{"expression":"=a","scopeKey":null,"variables":{"a":3}}"#, r#"{"a":3}"#, "<default>"),
    ] {
        assert_eq!(evaluate(body).0, 200, "{body}");
        let (seen, tenant_id) = broker.evaluated.lock().pop().unwrap();
        assert_eq!((seen.to_json().as_str(), &*tenant_id), (variables, tenant), "{body}");
    }
    for (body, status, detail) in [
        (r#"{"expression":"=a","scopeKey":"404"}"#, 404, "404' not found"),
        (
            r#"{"expression":"=a","scopeKey":"5","tenantId":"u"}"#,
            404,
            "Process or element instance with key '5' not found",
        ),
        (r#"{"expression":"=a","scopeKey":"x"}"#, 400, "scopeKey"),
    ] {
        let (found, answer) = evaluate(body);
        assert_eq!(found, status, "{answer}");
        assert!(answer.contains(detail), "{answer}");
    }
    assert!(broker.evaluated.lock().is_empty());
}
