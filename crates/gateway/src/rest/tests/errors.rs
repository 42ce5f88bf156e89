//! The errors that the contract has for an operation are there.

use std::sync::Arc;

use broker_api::SubmitError;
use protocol::{Rejection, RejectionType};

use super::contract::{example, path_of, problem, small_body, valid_path};
use super::fake::FakeBroker;
use super::fake_storage::FakeStorage;
use super::{block_on, gateway, request, stored_gateway, text};
use crate::rest::contract::{Format, Kind, Media, Operation, OperationSpec};
use crate::rest::operation::served;

fn declares(spec: &OperationSpec, status: u16) -> bool {
    spec.responses.iter().any(|(declared, _)| *declared == status)
}

/// History to delete must exist in the store before the broker is asked.
const DELETIONS: [Operation; 2] = [Operation::DeleteProcessInstance, Operation::DeleteDecisionInstance];

/// The answer to a valid request when everything is refused like this and nothing is stored, or only what would be
/// deleted.
fn refused(operation: Operation, refusal: fn() -> SubmitError) -> (u16, String) {
    let spec = operation.spec();
    let broker = Arc::new(FakeBroker { refusal: Some(refusal), ..FakeBroker::default() });
    let storage =
        Arc::new(FakeStorage { has_nothing: !DELETIONS.contains(&operation), ..FakeStorage::default() });
    let gateway = stored_gateway(&broker, &storage);
    let body = small_body(operation).map(|body| body.to_string()).unwrap_or_default();
    block_on(async { text(gateway.answer(request(spec.method, &valid_path(spec), body)).await).await })
}

/// Operations of operators, who have another view of the broker; their refusals are in `administration`.
fn is_for_operators(spec: &OperationSpec) -> bool {
    let places = [
        "/cluster/v2/",
        "/v2/exporting",
        "/v2/mode",
        "/v2/secrets",
        "/v2/backups",
        "/v2/restore",
        "/baton/v1/banned-instances",
        "/baton/v1/cluster",
        "/baton/v1/exporters",
        "/baton/v1/job-types",
        "/baton/v1/jobs/trend",
    ];
    places.iter().any(|place| spec.path.starts_with(place))
}

/// Served operations with a JSON body or none that declare a status.
fn declaring(status: u16) -> Vec<Operation> {
    let is_multipart =
        |spec: &OperationSpec| spec.body.as_ref().is_some_and(|body| body.media == Media::Multipart);
    served()
        .into_iter()
        .filter(|operation| declares(operation.spec(), status))
        .filter(|operation| !is_multipart(operation.spec()) && !is_for_operators(operation.spec()))
        .collect()
}

/// Operations of an instance that secondary storage alone tells of.
fn is_of_stored_instance(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::GetProcessInstanceAt
            | Operation::GetProcessInstanceExplanation
            | Operation::GetProcessInstanceTimeline
            | Operation::ListElementInstanceChildren
            | Operation::ListProcessInstanceSteps
    )
}

fn check(operations: &[Operation], status: u16, refusal: fn() -> SubmitError) {
    for operation in operations {
        let (found, answer) = refused(*operation, refusal);
        assert_eq!(found, status, "{}: {answer}", operation.spec().id);
        problem(found, &answer);
    }
}

/// Whether the body of an operation names a tenant that the operation works in.
fn names_tenant(operation: Operation) -> bool {
    let contract: serde_json::Value =
        serde_json::from_str(include_str!("../../../api/contract.json")).unwrap();
    let schemas = &contract["schemas"];
    let Some(found) =
        contract["operations"].as_array().unwrap().iter().find(|one| one["id"] == operation.spec().id)
    else {
        return false;
    };
    let mut shapes = vec![&found["body"]["schema"]];
    while let Some(shape) = shapes.pop() {
        if let Some(name) = shape["$ref"].as_str() {
            shapes.push(&schemas[name]);
        }
        shapes.extend(shape["oneOf"].as_array().into_iter().flatten());
        let properties = &shape["properties"];
        if !properties["tenantId"].is_null() || !properties["tenantIds"].is_null() {
            return true;
        }
    }
    false
}

/// A new operation that names a tenant is refused where there are none, or nothing says so.
#[test]
fn every_operation_that_names_a_tenant_is_refused_without_tenants() {
    let gateway = gateway(&Arc::default());
    let mut count = 0;
    // The tenant is what the one makes; the other has a form.
    let not_in =
        |operation: &Operation| matches!(operation, Operation::CreateTenant | Operation::CreateDeployment);
    for operation in served().into_iter().filter(|operation| !not_in(operation) && names_tenant(*operation)) {
        let mut body = small_body(operation).unwrap();
        let (member, value) = if operation == Operation::ActivateJobs {
            ("tenantIds", serde_json::json!(["t"]))
        } else {
            ("tenantId", "t".into())
        };
        body[member] = value;
        let spec = operation.spec();
        let sent = request(spec.method, &valid_path(spec), body.to_string());
        let (status, answer) = block_on(async { text(gateway.answer(sent).await).await });
        assert!(status == 400 && answer.contains("multi-tenancy is disabled"), "{}: {answer}", spec.id);
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn the_header_of_a_problem_has_its_code() {
    let full: fn() -> SubmitError = || SubmitError::DiskFull("the disk has no room".into());
    let broker = Arc::new(FakeBroker { refusal: Some(full), ..FakeBroker::default() });
    let gateway = gateway(&broker);
    for (method, path, status, code) in [
        ("POST", "/v2/jobs/1/completion", 503, "DISK_FULL"),
        ("POST", "/v2/incidents/search", 403, "NO_SECONDARY_STORAGE"),
        ("GET", "/v2/nothing", 404, "UNKNOWN_PATH"),
        ("DELETE", "/v2/topology", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/v2/user-tasks/x", 400, "INVALID_ARGUMENT"),
        ("POST", "/login", 404, "NOT_FOUND"),
    ] {
        let answer = block_on(gateway.answer(request(method, path, "")));
        let found = answer.headers().get("baton-problem").map(|code| code.to_str().unwrap());
        assert_eq!((answer.status().as_u16(), found), (status, Some(code)), "{method} {path}");
    }
    let answer = block_on(gateway.answer(request("GET", "/v2/license", "")));
    assert!(answer.status().is_success());
    assert!(!answer.headers().contains_key("baton-problem"));
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut operations = declaring(404);
    // A list under something that does not exist is empty.
    operations.retain(|operation| !operation.spec().id.starts_with("search"));
    // Others say of these that they are not there.
    operations.retain(|operation| !is_of_stored_instance(*operation));
    assert!(operations.len() > 85, "only {}", operations.len());
    check(&operations, 404, || Rejection::not_found("there is no such thing").into());
}

#[test]
fn what_does_not_fit_the_state_is_a_conflict() {
    let mut operations = declaring(409);
    // Whether steps are kept is told by secondary storage.
    operations.retain(|operation| !is_of_stored_instance(*operation));
    assert!(operations.len() > 20, "only {}", operations.len());
    check(&operations, 409, || Rejection::invalid_state("not now").into());
    check(&operations, 409, || Rejection::new(RejectionType::AlreadyExists, "it is there").into());
}

#[test]
fn nobody_who_lacks_a_permission_gets_anything() {
    let forbidden = || SubmitError::from(Rejection::new(RejectionType::Forbidden, "you may not"));
    let mut operations = declaring(403);
    // Those that only read from a store ask nobody else.
    operations.retain(|operation| refused(*operation, forbidden).0 != 200);
    assert!(operations.len() > 60, "only {}", operations.len());
    for operation in operations {
        let (status, answer) = refused(operation, forbidden);
        // Unknown entities are not found, for every caller.
        assert!([403, 404].contains(&status), "{}: {status} {answer}", operation.spec().id);
    }
}

#[test]
fn a_partition_that_takes_no_more_says_so() {
    let mut operations = declaring(503);
    // One tells of the server as a whole, the others of what is in secondary storage, or known here, alone.
    let is_else = |operation: &Operation| {
        matches!(
            operation,
            Operation::GetStatus
                | Operation::GetAgentInstance
                | Operation::AwaitChanges
                | Operation::CheckPermissions
                | Operation::CountProcessInstances
                | Operation::GetProcessDefinitionDurations
                | Operation::GetProcessInstanceTrend
                | Operation::SearchAnything
        ) || is_of_stored_instance(*operation)
    };
    operations.retain(|operation| !is_else(operation));
    assert!(operations.len() > 65, "only {}", operations.len());
    check(&operations, 503, || SubmitError::ResourceExhausted("too much at once".into()));
    check(&operations, 503, || SubmitError::Unavailable("no leader".into()));
}

#[test]
fn who_waits_too_long_is_told() {
    let operations = declaring(504);
    assert_eq!(operations.len(), 7);
    check(&operations, 504, || SubmitError::Timeout("no answer in time".into()));
}

#[test]
fn bad_parameters_of_the_query_are_refused_by_name() {
    let gateway = stored_gateway(&Arc::default(), &Arc::default());
    let mut tried = 0;
    for operation in served() {
        let spec = operation.spec();
        for parameter in spec.query_parameters {
            let bad = match &parameter.schema.kind {
                Kind::Boolean => "maybe",
                Kind::Text(text) if text.format == Format::DateTime => "yesterday",
                Kind::Text(text) if text.pattern.is_some() => "%20%C3%A4!",
                _ => continue,
            };
            let mut path = path_of(spec).split('?').next().unwrap().to_owned();
            let others = spec.query_parameters.iter().filter(|other| other.required);
            let others = others
                .filter(|other| other.name != parameter.name)
                .map(|other| format!("&{}={}", other.name, example(other.schema, 0).as_str().unwrap()));
            path += &format!("?{}={bad}{}", parameter.name, others.collect::<String>());
            let body = small_body(operation).map(|body| body.to_string()).unwrap_or_default();
            let (status, answer) =
                block_on(async { text(gateway.answer(request(spec.method, &path, body)).await).await });
            assert_eq!(status, 400, "{} {path}: {answer}", spec.id);
            let detail = problem(status, &answer);
            assert!(detail.starts_with(&format!("{}: ", parameter.name)), "{} {path}: {detail}", spec.id);
            tried += 1;
        }
    }
    assert!(tried >= 9, "only {tried}");
}
