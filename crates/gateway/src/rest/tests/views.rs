//! What the fake broker answers to queries, and what clients get of it.

use std::sync::Arc;

use broker::api::SubmitError;
use protocol::{
    CallHierarchyEntry, ElementInstanceView, IncidentView, Json, Name, ProcessInstanceView, Query,
    QueryReply, Rejection, VariableView,
};

use super::super::contract::Operation;
use super::contract::check_response;
use super::fake::{INSTANCE_KEY, PROCESS_KEY};
use super::{block_on, gateway, request, text};

/// There is everything but what has the key 404.
pub(super) fn answer(query: &Query) -> Result<QueryReply, SubmitError> {
    Ok(match query {
        Query::ProcessInstance { key: 404 } => {
            return Err(Rejection::not_found("Process instance with key '404' not found").into());
        }
        Query::ProcessInstance { key } => QueryReply::ProcessInstance(ProcessInstanceView {
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
        Query::CallHierarchy { process_instance_key } => {
            let entry = |process_instance_key| CallHierarchyEntry {
                process_instance_key,
                process_definition_key: PROCESS_KEY,
                process_name: "order".into(),
            };
            QueryReply::CallHierarchy(vec![entry(INSTANCE_KEY), entry(*process_instance_key)])
        }
    })
}

/// Sends a request that must succeed as the contract has it.
fn succeed(operation: Operation, path: &str, expected: &str) {
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
        r#"{"processDefinitionId":"order","processDefinitionName":"Order \"x\"","processDefinitionVersion":3,"processDefinitionVersionTag":null,"startDate":"2026-01-01T00:00:00.001Z","endDate":null,"state":"ACTIVE","hasIncident":true,"tenantId":"<default>","processInstanceKey":"5","processDefinitionKey":"2251799813685249","parentProcessInstanceKey":"2251799813685250","parentElementInstanceKey":null,"rootProcessInstanceKey":"2251799813685250","tags":["vip"],"businessId":null}"#,
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
fn what_is_not_there_is_not_found() {
    let gateway = gateway(&Arc::default());
    let path = "/v2/process-instances/404";
    let answer = block_on(async { text(gateway.answer(request("GET", path, "")).await).await });
    let expected = r#"{"type":"about:blank","title":"NOT_FOUND","status":404,"detail":"Process instance with key '404' not found","instance":"/v2/process-instances/404"}"#;
    assert_eq!(answer, (404, expected.to_owned()));
}
