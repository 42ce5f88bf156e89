//! Commands of release 8.10: suspension, business IDs, leases and priorities of jobs.

use std::sync::Arc;

use protocol::{
    BatchAction, BusinessIdClaim, Command, CompleteJob, CreateBatchOperation, Document, JobChangeset, Name,
    UpdateJob,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::operations::{bad, succeed};
use super::{block_on, request, stored_gateway, text};

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
