//! The fake broker's answers to queries, and their form for clients.

use std::sync::Arc;

use broker_api::SubmitError;
use protocol::{
    Actor, ActorType, BatchItemState, BatchItemView, BatchOperationState, BatchOperationType,
    BatchOperationView, CallHierarchyEntry, ClusterVariableKind, ClusterVariableView, Command,
    DecisionRequirementsView, DecisionView, Document, ElementInstanceView, FileView, IncidentView, Json,
    Name, ProcessDefinitionView, ProcessInstanceView, Query, QueryReply, Rejection, ScopeView, VariableView,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake::{INSTANCE_KEY, PROCESS_KEY};
use super::operations::bad;
use super::{block_on, gateway, request, text};

fn batch_operation(key: u64) -> BatchOperationView {
    BatchOperationView {
        key,
        kind: BatchOperationType::CancelProcessInstance,
        state: if key == 1 { BatchOperationState::Failed } else { BatchOperationState::Active },
        started_ms: Some(0),
        ended_ms: None,
        total: 3,
        completed: 1,
        failed: 1,
        actor: Some(Actor { actor_type: ActorType::User, id: Some("ann".into()) }),
        error: (key == 1).then(|| (1, "no".into())),
    }
}

fn batch_item(batch_operation_key: u64, item_key: u64) -> BatchItemView {
    BatchItemView {
        batch_operation_key,
        kind: BatchOperationType::CancelProcessInstance,
        item_key,
        process_instance_key: item_key,
        root_process_instance_key: INSTANCE_KEY,
        state: if item_key == 2 { BatchItemState::Failed } else { BatchItemState::Active },
        processed_ms: (item_key == 2).then_some(0),
        error_message: (item_key == 2).then(|| "no".into()),
    }
}

fn cluster_variables() -> QueryReply {
    let metadata = |value: &str| match value {
        "1" => Some(Document::parse(r#"{"kind":"CREDENTIAL","version":2}"#.into()).unwrap()),
        "2" => Some(Document::parse(r#"{"kind":"OTHER","version":2.5}"#.into()).unwrap()),
        _ => None,
    };
    let variable = |tenant_id: Option<&str>, name: &str, value: &'static str| ClusterVariableView {
        tenant_id: tenant_id.map(Name::from),
        name: name.into(),
        value: Json::from_valid(value),
        metadata: metadata(value),
        kind: (value == "2").then_some(ClusterVariableKind::SecretReference),
    };
    let variables = vec![variable(None, "a", "1"), variable(None, "b", "[]"), variable(Some("t"), "a", "2")];
    QueryReply::ClusterVariables { variables, has_more: false }
}

fn scope(key: u64) -> Result<QueryReply, SubmitError> {
    if key == 404 {
        return Err(Rejection::not_found("Process or element instance with key '404' not found").into());
    }
    Ok(QueryReply::Scope(ScopeView {
        process_id: "p".into(),
        tenant_id: "t".into(),
        variables: Document::parse(r#"{"a":1,"b":2}"#.into()).unwrap(),
    }))
}

/// There is everything but what has the key 404.
pub(super) fn answer(query: &Query) -> Result<QueryReply, SubmitError> {
    Ok(match query {
        Query::BatchOperation { .. } => QueryReply::BatchOperation(batch_operation(1)),
        Query::BatchOperations => QueryReply::BatchOperations(vec![batch_operation(1), batch_operation(12)]),
        Query::BatchSearches => QueryReply::BatchSearches(Vec::new()),
        Query::BatchItems { batch_operation_key, .. } => {
            let items = (1..=3).map(|item| batch_item(batch_operation_key.unwrap_or(12), item)).collect();
            QueryReply::BatchItems { items, has_more: true }
        }
        Query::Scope { key } => scope(*key)?,
        Query::UserTask { key } => QueryReply::UserTask(Box::new(super::user_tasks::view(*key))),
        Query::UserTaskForm { key: 6 } => QueryReply::UserTaskForm(None),
        Query::UserTaskForm { .. } => QueryReply::UserTaskForm(Some(file(9, "ask", br#"{"id": "ask"}"#))),
        Query::GlobalListener { id } => QueryReply::GlobalListener(super::user_tasks::listener(id)),
        Query::GlobalListeners { .. } => {
            QueryReply::GlobalListeners { listeners: super::user_tasks::listeners(), has_more: false }
        }
        Query::Identity(query) => QueryReply::Identity(super::identity::answer(query)?),
        // Asked over the management port only.
        Query::BannedInstances { .. } => QueryReply::BannedInstances(Vec::new()),
        Query::ProcessInstance { key: 404 } => {
            return Err(Rejection::not_found("Process instance with key '404' not found").into());
        }
        Query::ProcessInstance { key } => QueryReply::ProcessInstance(ProcessInstanceView {
            suspended_ms: None,
            key: *key,
            process_definition_key: PROCESS_KEY,
            process_id: "order".into(),
            process_name: Some("Order \"x\"".into()),
            version: 3,
            version_tag: None,
            start_ms: 1_767_225_600_001,
            has_incident: true,
            tenant_id: Name::default_tenant(),
            parent_process_instance_key: Some(INSTANCE_KEY),
            parent_element_instance_key: None,
            root_process_instance_key: INSTANCE_KEY,
            tags: vec!["vip".into()],
            business_id: None,
        }),
        Query::ElementInstance { key } => QueryReply::ElementInstance(ElementInstanceView {
            key: *key,
            element_id: "pay".into(),
            element_name: "Pay".into(),
            element_type: "SERVICE_TASK",
            start_ms: 0,
            incident_key: None,
            has_incident: false,
            process_instance_key: INSTANCE_KEY,
            root_process_instance_key: INSTANCE_KEY,
            process_definition_key: PROCESS_KEY,
            process_id: "order".into(),
            tenant_id: Name::default_tenant(),
        }),
        Query::Variable { key } => QueryReply::Variable(VariableView {
            key: *key,
            name: "a".into(),
            value: Json::from_valid(r#"{"b":"c"}"#),
            scope_key: 6,
            process_instance_key: INSTANCE_KEY,
            root_process_instance_key: INSTANCE_KEY,
            tenant_id: Name::default_tenant(),
        }),
        Query::Incident { key } => QueryReply::Incident(IncidentView {
            key: *key,
            error_type: "JOB_NO_RETRIES",
            error_message: "why".into(),
            created_ms: i64::MAX,
            element_id: "pay".into(),
            element_instance_key: 6,
            job_key: Some(21),
            process_instance_key: INSTANCE_KEY,
            root_process_instance_key: INSTANCE_KEY,
            process_definition_key: PROCESS_KEY,
            process_id: "order".into(),
            tenant_id: Name::default_tenant(),
        }),
        Query::ClusterVariable { tenant_id, name } => QueryReply::ClusterVariable(ClusterVariableView {
            tenant_id: tenant_id.clone(),
            name: name.clone(),
            value: Json::from_valid(r#"{"url":"u"}"#),
            metadata: None,
            kind: None,
        }),
        Query::ClusterVariables { .. } => cluster_variables(),
        Query::RunningDefinitions { .. }
        | Query::Errors { .. }
        | Query::FailingDefinitions { .. }
        | Query::Subscriptions { .. } => super::statistics::answer(query),
        Query::ClusterContext { .. } => QueryReply::ClusterContext(Json::from_valid("{}")),
        Query::CallHierarchy { process_instance_key } => {
            let entry = |process_instance_key| CallHierarchyEntry {
                process_instance_key,
                process_definition_key: PROCESS_KEY,
                process_name: "order".into(),
            };
            QueryReply::CallHierarchy(vec![entry(INSTANCE_KEY), entry(*process_instance_key)])
        }
        Query::ProcessDefinition { key } => QueryReply::ProcessDefinition(ProcessDefinitionView {
            key: *key,
            process_id: "order".into(),
            name: None,
            version: 3,
            version_tag: Some("stable".into()),
            resource_name: "order.bpmn".into(),
            tenant_id: Name::default_tenant(),
            has_start_form: true,
            is_draining: *key == 6,
        }),
        Query::Decision { key } => QueryReply::Decision(DecisionView {
            key: *key,
            id: "dish".into(),
            name: "Dish".into(),
            version: 2,
            requirements: graph(7),
        }),
        Query::DecisionRequirements { key } => QueryReply::DecisionRequirements(graph(*key)),
        Query::Source { of, key } => QueryReply::Source(format!("<{of:?} key=\"{key}\"/>").into_bytes()),
        Query::Form { key } => QueryReply::Form(file(*key, "ask", b"{}")),
        Query::StartForm { process_definition_key: 6 } => QueryReply::StartForm(None),
        Query::StartForm { .. } => QueryReply::StartForm(Some(file(9, "ask", br#"{"id": "ask"}"#))),
        Query::Resource { key, with_content } => QueryReply::Resource(resource(*key, *with_content)),
        Query::Resources { .. } => resources(),
    })
}

fn resource(key: u64, with_content: bool) -> FileView {
    let content: &[u8] = match (with_content, key) {
        (false, _) => b"",
        (true, 5) => br#"{"id": "robot"}"#,
        (true, 7) => b"\xff\x00",
        (true, _) => b"plain",
    };
    file(key, "robot", content)
}

fn resources() -> QueryReply {
    let tagged = FileView { version_tag: Some("stable".into()), version: 2, ..file(6, "notes", b"") };
    let resources = vec![file(5, "robot", b""), tagged, file(10, "arm", b"")];
    QueryReply::Resources { resources, has_more: false }
}

fn graph(key: u64) -> DecisionRequirementsView {
    DecisionRequirementsView {
        key,
        id: "dinner".into(),
        name: "Dinner".into(),
        version: 4,
        resource_name: "dinner.dmn".into(),
        tenant_id: Name::default_tenant(),
    }
}

fn file(key: u64, id: &str, content: &[u8]) -> FileView {
    FileView {
        key,
        id: id.into(),
        version: 1,
        version_tag: None,
        resource_name: format!("{id}.file").into(),
        tenant_id: Name::default_tenant(),
        deployment_key: 3,
        content: content.to_vec(),
    }
}

/// Sends a request that must succeed as the contract has it.
pub(super) fn succeed(operation: Operation, path: &str, expected: &str) {
    let gateway = gateway(&Arc::default());
    let spec = operation.spec();
    let (status, answer) =
        block_on(async { text(gateway.answer(request(spec.method, path, "")).await).await });
    check_response(spec, status, &answer);
    assert_eq!(answer, expected);
}

#[test]
fn what_lives_is_found_by_its_key() {
    succeed(
        Operation::GetProcessInstance,
        "/v2/process-instances/5",
        r#"{"processDefinitionId":"order","processDefinitionName":"Order \"x\"","processDefinitionVersion":3,"processDefinitionVersionTag":null,"startDate":"2026-01-01T00:00:00.001Z","endDate":null,"state":"ACTIVE","suspendedDate":null,"hasIncident":true,"tenantId":"<default>","processInstanceKey":"5","processDefinitionKey":"2251799813685249","parentProcessInstanceKey":"2251799813685250","parentElementInstanceKey":null,"rootProcessInstanceKey":"2251799813685250","tags":["vip"],"businessId":null}"#,
    );
    succeed(
        Operation::GetElementInstance,
        "/v2/element-instances/5",
        r#"{"processDefinitionId":"order","startDate":"1970-01-01T00:00:00.000Z","endDate":null,"elementId":"pay","elementName":"Pay","type":"SERVICE_TASK","state":"ACTIVE","hasIncident":false,"tenantId":"<default>","elementInstanceKey":"5","processInstanceKey":"2251799813685250","rootProcessInstanceKey":"2251799813685250","processDefinitionKey":"2251799813685249","incidentKey":null}"#,
    );
    succeed(
        Operation::GetVariable,
        "/v2/variables/5",
        r#"{"name":"a","tenantId":"<default>","variableKey":"5","scopeKey":"6","processInstanceKey":"2251799813685250","rootProcessInstanceKey":"2251799813685250","value":"{\"b\":\"c\"}"}"#,
    );
    succeed(
        Operation::GetIncident,
        "/v2/incidents/5",
        r#"{"processDefinitionId":"order","errorType":"JOB_NO_RETRIES","errorMessage":"why","elementId":"pay","creationTime":"9999-12-30T22:00:00.999Z","state":"ACTIVE","tenantId":"<default>","incidentKey":"5","processDefinitionKey":"2251799813685249","processInstanceKey":"2251799813685250","rootProcessInstanceKey":"2251799813685250","elementInstanceKey":"6","jobKey":"21"}"#,
    );
    succeed(
        Operation::GetProcessInstanceCallHierarchy,
        "/v2/process-instances/5/call-hierarchy",
        r#"[{"processInstanceKey":"2251799813685250","processDefinitionKey":"2251799813685249","processDefinitionName":"order"},{"processInstanceKey":"5","processDefinitionKey":"2251799813685249","processDefinitionName":"order"}]"#,
    );
}

#[test]
fn definitions_are_found_by_their_keys() {
    succeed(
        Operation::GetProcessDefinition,
        "/v2/process-definitions/5",
        r#"{"name":null,"resourceName":"order.bpmn","version":3,"versionTag":"stable","processDefinitionId":"order","tenantId":"<default>","processDefinitionKey":"5","hasStartForm":true,"state":"ACTIVE"}"#,
    );
    succeed(
        Operation::GetDecisionDefinition,
        "/v2/decision-definitions/5",
        r#"{"decisionDefinitionId":"dish","decisionDefinitionKey":"5","decisionRequirementsId":"dinner","decisionRequirementsKey":"7","decisionRequirementsName":"Dinner","decisionRequirementsVersion":4,"name":"Dish","tenantId":"<default>","version":2}"#,
    );
    succeed(
        Operation::GetDecisionRequirements,
        "/v2/decision-requirements/5",
        r#"{"decisionRequirementsId":"dinner","decisionRequirementsKey":"5","decisionRequirementsName":"Dinner","resourceName":"dinner.dmn","tenantId":"<default>","version":4}"#,
    );
    succeed(
        Operation::GetStartProcessForm,
        "/v2/process-definitions/5/form",
        r#"{"tenantId":"<default>","formId":"ask","schema":"{\"id\": \"ask\"}","version":1,"formKey":"9"}"#,
    );
    succeed(Operation::GetStartProcessForm, "/v2/process-definitions/6/form", "");
    succeed(
        Operation::GetResource,
        "/v2/resources/5",
        r#"{"resourceName":"robot.file","version":1,"versionTag":null,"resourceId":"robot","tenantId":"<default>","resourceKey":"5"}"#,
    );
}

#[test]
fn a_form_is_found_by_its_key() {
    succeed(
        Operation::GetFormByKey,
        "/v2/forms/5",
        r#"{"tenantId":"<default>","formId":"ask","schema":"{}","version":1,"formKey":"5"}"#,
    );
}

#[test]
fn resources_are_searched() {
    let gateway = gateway(&Arc::default());
    let found = |body: &'static str| {
        let spec = Operation::SearchResources.spec();
        let (status, answer) = block_on(async {
            text(gateway.answer(request("POST", "/v2/resources/search", body)).await).await
        });
        check_response(spec, status, &answer);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let items = answer["items"].as_array().unwrap().iter();
        let ids: Vec<_> = items.map(|item| item["resourceId"].as_str().unwrap().to_owned()).collect();
        (ids.join(" "), answer["page"]["totalItems"].as_u64().unwrap())
    };
    for (body, ids, total) in [
        ("", "robot notes arm", 3),
        (r#"{"filter":{"resourceKey":"6"}}"#, "notes", 1),
        (r#"{"filter":{"resourceKey":{"$in":["5","10"]}}}"#, "robot arm", 2),
        (r#"{"filter":{"resourceName":{"$like":"*o*.file"}}}"#, "robot notes", 2),
        (r#"{"filter":{"resourceId":"arm"}}"#, "arm", 1),
        (r#"{"filter":{"version":{"$gt":1}}}"#, "notes", 1),
        (r#"{"filter":{"versionTag":{"$exists":false}}}"#, "robot arm", 2),
        (r#"{"filter":{"deploymentKey":"3"}}"#, "robot notes arm", 3),
        (r#"{"filter":{"deploymentKey":"4"}}"#, "", 0),
        (r#"{"filter":{"tenantId":"<default>"},"page":{"limit":1,"from":1}}"#, "notes", 3),
        (r#"{"sort":[{"field":"resourceKey","order":"DESC"}]}"#, "arm notes robot", 3),
        (r#"{"sort":[{"field":"versionTag"},{"field":"resourceName"}]}"#, "notes arm robot", 3),
    ] {
        assert_eq!(found(body), (ids.to_owned(), total), "{body}");
    }
}

#[test]
fn files_leave_as_they_were_deployed() {
    use http_body_util::BodyExt as _;
    for (path, accept, content_type, name, content) in [
        ("/v2/process-definitions/5/xml", "text/xml", "text/xml", "5.bpmn", &b"<Process key=\"5\"/>"[..]),
        ("/v2/decision-definitions/5/xml", "*/*", "text/xml", "5.dmn", b"<Decision key=\"5\"/>"),
        (
            "/v2/decision-requirements/5/xml",
            "text/xml, application/problem+json",
            "text/xml",
            "5.dmn",
            b"<DecisionRequirements key=\"5\"/>",
        ),
        (
            "/v2/resources/5/content",
            "application/json",
            "application/json",
            "robot.file",
            br#"{"id": "robot"}"#,
        ),
        ("/v2/resources/6/content", "text/plain", "text/plain; charset=utf-8", "robot.file", b"plain"),
        ("/v2/resources/7/content", "*/*", "application/octet-stream", "robot.file", b"\xff\x00"),
        (
            "/v2/resources/6/content/binary",
            "application/octet-stream",
            "application/octet-stream",
            "robot.file",
            b"plain",
        ),
        ("/v2/resources/7/content/binary", "*/*", "application/octet-stream", "robot.file", b"\xff\x00"),
    ] {
        let gateway = gateway(&Arc::default());
        let mut request = request("GET", path, "");
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let (status, found, body) = block_on(async {
            let response = gateway.answer(request).await;
            let headers = response.headers();
            let found = headers["content-type"].clone();
            assert_eq!(headers["content-disposition"], format!("attachment; filename=\"{name}\""));
            assert_eq!(headers["content-security-policy"], "default-src 'none'; sandbox");
            assert_eq!(headers["x-content-type-options"], "nosniff");
            (response.status(), found, response.into_body().collect().await.unwrap().to_bytes())
        });
        assert_eq!(
            (status.as_u16(), found.to_str().unwrap(), &*body),
            (200, content_type, content),
            "{path}"
        );
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let gateway = gateway(&Arc::default());
    let path = "/v2/process-instances/404";
    let answer = block_on(async { text(gateway.answer(request("GET", path, "")).await).await });
    let expected = r#"{"type":"about:blank","title":"NOT_FOUND","status":404,"detail":"Process instance with key '404' not found","instance":"/v2/process-instances/404"}"#;
    assert_eq!(answer, (404, expected.to_owned()));
}

#[test]
fn cluster_variables_are_created_read_changed_and_deleted() {
    let broker = Arc::new(super::fake::FakeBroker::default());
    let gateway = super::tenants_gateway(&broker);
    let value = r#"{"value":{"url":"u"}}"#;
    let named = r#"{"name":"n","value":{"url":"u"}}"#;
    for (operation, path, body, expected) in [
        (Operation::CreateGlobalClusterVariable, "/v2/cluster-variables/global", named, "GLOBAL"),
        (Operation::GetGlobalClusterVariable, "/v2/cluster-variables/global/n", "", "GLOBAL"),
        (Operation::UpdateGlobalClusterVariable, "/v2/cluster-variables/global/n", value, "GLOBAL"),
        (Operation::DeleteGlobalClusterVariable, "/v2/cluster-variables/global/n", "", ""),
        (Operation::CreateTenantClusterVariable, "/v2/cluster-variables/tenants/t", named, "TENANT"),
        (Operation::GetTenantClusterVariable, "/v2/cluster-variables/tenants/t/n", "", "TENANT"),
        (Operation::UpdateTenantClusterVariable, "/v2/cluster-variables/tenants/t/n", value, "TENANT"),
        (Operation::DeleteTenantClusterVariable, "/v2/cluster-variables/tenants/t/n", "", ""),
    ] {
        let spec = operation.spec();
        let (status, answer) =
            block_on(async { text(gateway.answer(request(spec.method, path, body)).await).await });
        check_response(spec, status, &answer);
        let tenant = if expected == "TENANT" { r#""t""# } else { "null" };
        let wanted = match expected {
            "" => String::new(),
            scope => {
                format!(
                    r#"{{"name":"n","scope":"{scope}","tenantId":{tenant},"kind":"JSON","metadata":{{}},"value":"{{\"url\":\"u\"}}"}}"#
                )
            }
        };
        assert_eq!(answer, wanted, "{path}");
        if spec.method != "GET" {
            let Command::ClusterVariable(change) = broker.last() else { panic!("another command") };
            assert_eq!(&*change.name, "n");
            assert_eq!(change.tenant_id.as_deref(), path.contains("tenants").then_some("t"));
        }
    }
}

#[test]
fn a_cluster_variable_is_any_json() {
    let broker = Arc::new(super::fake::FakeBroker::default());
    let gateway = super::tenants_gateway(&broker);
    for operation in [
        (Operation::CreateGlobalClusterVariable, "/v2/cluster-variables/global"),
        (Operation::UpdateGlobalClusterVariable, "/v2/cluster-variables/global/n"),
        (Operation::CreateTenantClusterVariable, "/v2/cluster-variables/tenants/t"),
        (Operation::UpdateTenantClusterVariable, "/v2/cluster-variables/tenants/t/n"),
    ] {
        let (spec, path) = (operation.0.spec(), operation.1);
        let name = if spec.method == "POST" { r#""name":"n","# } else { "" };
        for value in ["7", "1.50", r#""text""#, "true", "[1,{}]", r#"{"a":[]}"#] {
            let body = format!(r#"{{{name}"value":{value}}}"#);
            let (status, answer) =
                block_on(async { text(gateway.answer(request(spec.method, path, body)).await).await });
            check_response(spec, status, &answer);
            assert_eq!(status, 200, "{answer}");
            let Command::ClusterVariable(change) = broker.last() else { panic!("another command") };
            assert_eq!(change.value.as_str(), value);
        }
        for missing in [format!("{{{}}}", name.trim_end_matches(',')), format!(r#"{{{name}"value":null}}"#)] {
            let (status, answer) =
                block_on(async { text(gateway.answer(request(spec.method, path, missing)).await).await });
            assert_eq!(status, 400);
            assert!(answer.contains("value"), "{answer}");
        }
    }
}

#[test]
fn values_of_metadata_are_texts_and_numbers() {
    let path = "/v2/cluster-variables/search";
    for (metadata, wrong) in [
        (
            r#"{"it":{"$eq":true}}"#,
            "filter.metadata.it.$eq: expected a string or a number, but found a boolean",
        ),
        (
            r#"{"it":{"$in":[[]]}}"#,
            "filter.metadata.it.$in[0]: expected a string or a number, but found an array",
        ),
        (r#"{"it":{"$none":1}}"#, "filter.metadata.it.$none: unknown property"),
    ] {
        bad("POST", path, &format!(r#"{{"filter":{{"metadata":{metadata}}}}}"#), wrong);
    }
}

#[test]
fn cluster_variables_are_searched() {
    let broker = Arc::new(super::fake::FakeBroker::default());
    let gateway = super::tenants_gateway(&broker);
    let found_by = |body: &str| {
        let spec = Operation::SearchClusterVariables.spec();
        let (status, answer) = block_on(async {
            text(gateway.answer(request("POST", "/v2/cluster-variables/search", body.to_owned())).await).await
        });
        check_response(spec, status, &answer);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let items = answer["items"].as_array().unwrap().iter();
        let texts = items.map(|item| {
            assert_eq!(item["isTruncated"], false);
            let tenant = item["tenantId"].as_str().unwrap_or("-");
            format!(
                "{} {} {tenant} {}",
                item["name"].as_str().unwrap(),
                item["scope"].as_str().unwrap(),
                item["value"].as_str().unwrap()
            )
        });
        texts.collect::<Vec<_>>()
    };
    let found = |body: &'static str| found_by(body);
    let (a, b, of_tenant) = ("a GLOBAL - 1", "b GLOBAL - []", "a TENANT t 2");
    assert_eq!(found(""), [a, b, of_tenant]);
    assert_eq!(found(r#"{"filter":{"name":"a"}}"#), [a, of_tenant]);
    assert_eq!(found(r#"{"filter":{"scope":"GLOBAL"}}"#), [a, b]);
    assert_eq!(found(r#"{"filter":{"tenantId":{"$exists":true}}}"#), [of_tenant]);
    assert_eq!(found(r#"{"filter":{"value":"[]"}}"#), [b]);
    assert_eq!(found(r#"{"filter":{"kind":"SECRET_REFERENCE"}}"#), [of_tenant]);
    assert_eq!(found(r#"{"filter":{"kind":{"$neq":"SECRET_REFERENCE"}}}"#), [a, b]);
    let by = |metadata: &str| found_by(&format!(r#"{{"filter":{{"metadata":{metadata}}}}}"#));
    for (metadata, expected) in [
        (r#"{"kind":"CREDENTIAL"}"#, vec![a]),
        (r#"{"kind":{"$eq":"CREDENTIAL"},"version":{"$gte":2}}"#, vec![a]),
        (r#"{"version":2}"#, vec![a]),
        (r#"{"version":{"$eq":2.0}}"#, vec![a]),
        (r#"{"version":{"$gt":2}}"#, vec![of_tenant]),
        (r#"{"version":{"$gte":2,"$lte":2.5}}"#, vec![a, of_tenant]),
        (r#"{"version":{"$lt":2.5}}"#, vec![a]),
        (r#"{"version":{"$neq":2}}"#, vec![b, of_tenant]),
        (r#"{"version":{"$in":[2.5,"x"]}}"#, vec![of_tenant]),
        (r#"{"version":{"$like":"*"}}"#, vec![]),
        (r#"{"kind":{"$like":"*E*"}}"#, vec![a, of_tenant]),
        (r#"{"kind":{"$gt":1}}"#, vec![]),
        (r#"{"kind":{"$exists":false}}"#, vec![b]),
        (r#"{"kind":{"$exists":true}}"#, vec![a, of_tenant]),
        (r#"{"kind":{"$in":[]}}"#, vec![a, b, of_tenant]),
        ("{}", vec![a, b, of_tenant]),
    ] {
        assert_eq!(by(metadata), expected, "{metadata}");
    }
    assert_eq!(found(r#"{"filter":{"isTruncated":true}}"#), [""; 0]);
    assert_eq!(
        found(
            r#"{"filter":{"isTruncated":false},"sort":[{"field":"name","order":"DESC"}],"page":{"limit":1}}"#
        ),
        [b]
    );
}
