//! More than jobs and messages: decisions, expressions, changes of running instances, batch operations, documents.

use std::time::Duration;

use camunda_orchestration_sdk::apis::{
    batch_operation_api, cluster_variable_api, conditional_api, document_api, element_instance_api,
    expression_api, job_api, process_instance_api as api,
};
use rust_client_suite::{body, client, create, deployed, instance_is, job, refused, seen, unique};
use serde_json::json;

#[tokio::test]
async fn a_decision_is_evaluated() {
    let client = client();
    let model = deployed(&client, &["rule.bpmn", "rule.dmn"]).await;
    let instruction =
        json!({"decisionDefinitionId": format!("{}-discount", model.id), "variables": {"total": 150}});
    let result = client.evaluate_decision(body(instruction)).await.unwrap();
    assert_eq!(result.output, "10");
    assert_eq!(result.evaluated_decisions[0].matched_rules[0].rule_id, "large");
}

#[tokio::test]
async fn expressions_read_cluster_variables() {
    let client = client();
    let name = unique("limit").replace('-', "_");
    let create = cluster_variable_api::CreateGlobalClusterVariableParams {
        create_cluster_variable_request: body(json!({"name": name, "value": {"max": 5}})),
    };
    client.create_global_cluster_variable(create).await.unwrap();
    let evaluate = expression_api::EvaluateExpressionParams {
        expression_evaluation_request: body(
            json!({"expression": format!("=camunda.vars.env.{name}.max + 1")}),
        ),
    };
    assert_eq!(client.evaluate_expression(evaluate).await.unwrap().result, Some(json!(6)));
    let delete = cluster_variable_api::DeleteGlobalClusterVariableParams { name };
    client.delete_global_cluster_variable(delete).await.unwrap();
}

#[tokio::test]
async fn conditions_are_evaluated() {
    let params = conditional_api::EvaluateConditionalsParams {
        conditional_evaluation_instruction: body(json!({"variables": {"nobody": "waits"}})),
    };
    assert_eq!(client().evaluate_conditionals(params).await.unwrap().process_instances.len(), 0);
}

#[tokio::test]
async fn a_modification_moves_an_instance_on() {
    let client = client();
    let model = deployed(&client, &["two-steps.bpmn"]).await;
    let process_instance_key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    let first = job(&client, &model.id).await;
    let modify = |instruction| api::ModifyProcessInstanceParams {
        process_instance_key: process_instance_key.clone(),
        process_instance_modification_instruction: body(instruction),
    };
    let nowhere = json!({"activateInstructions": [{"elementId": "nowhere"}]});
    assert_eq!(refused(client.modify_process_instance(modify(nowhere)).await), 400);
    let instruction = json!({"activateInstructions": [{"elementId": "second"}],
        "terminateInstructions": [{"elementInstanceKey": first.element_instance_key.to_string()}]});
    client.modify_process_instance(modify(instruction)).await.unwrap();
    assert_eq!(job(&client, &model.id).await.element_id.to_string(), "second");
}

#[tokio::test]
async fn an_instance_is_suspended_has_variables_set_and_is_resumed() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    let suspend = api::SuspendProcessInstanceParams {
        process_instance_key: key.clone(),
        suspend_process_instance_request: body(json!({})),
    };
    client.suspend_process_instance(suspend).await.unwrap();
    instance_is(&client, &key, "SUSPENDED").await;
    let variables = element_instance_api::CreateElementInstanceVariablesParams {
        element_instance_key: key.clone(),
        set_variable_request: body(json!({"variables": {"late": [1]}})),
    };
    client.create_element_instance_variables(variables).await.unwrap();
    let resume = api::ResumeProcessInstanceParams {
        process_instance_key: key.clone(),
        resume_process_instance_request: body(json!({})),
    };
    client.resume_process_instance(resume).await.unwrap();
    let job = job(&client, &model.id).await;
    assert_eq!(job.variables["late"], json!([1]));
    let changeset = body(json!({"changeset": {"timeout": 90_000}}));
    let update = job_api::UpdateJobParams { job_key: job.job_key.to_string(), job_update_request: changeset };
    client.update_job(update).await.unwrap();
}

#[tokio::test]
async fn a_batch_operation_cancels_what_its_filter_matches() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    for _ in 0..3 {
        create(&client, &model.id, json!({})).await;
    }
    let filter = body(json!({"filter": {"processDefinitionId": model.id}}));
    let params = api::CancelProcessInstancesBatchOperationParams {
        process_instance_cancellation_batch_operation_request: filter,
    };
    let begun = client.cancel_process_instances_batch_operation(params).await.unwrap();
    let done = seen(|| async {
        let batch_operation_key = begun.batch_operation_key.to_string();
        let params = batch_operation_api::GetBatchOperationParams { batch_operation_key };
        let read = client.get_batch_operation(params).await.ok()?;
        (serde_json::to_value(read.state).unwrap() == "COMPLETED").then_some(read.operations_completed_count)
    });
    assert_eq!(done.await, 3);
}

#[tokio::test]
async fn a_document_is_kept_and_deleted() {
    let client = client();
    let file = std::env::temp_dir().join(unique("document"));
    std::fs::write(&file, "paper").unwrap();
    let create =
        document_api::CreateDocumentParams { file, store_id: None, document_id: None, metadata: None };
    let kept = client.create_document(create).await.unwrap();
    let get = document_api::GetDocumentParams {
        document_id: kept.document_id.to_string(),
        store_id: None,
        content_hash: kept.content_hash,
    };
    assert_eq!(client.get_document(get.clone()).await.unwrap().text().await.unwrap(), "paper");
    let delete =
        document_api::DeleteDocumentParams { document_id: kept.document_id.to_string(), store_id: None };
    client.delete_document(delete).await.unwrap();
    assert_eq!(refused(client.get_document(get).await), 404);
}

#[tokio::test]
async fn the_server_tells_of_itself() {
    let client = client();
    let topology = client.topology().await.unwrap();
    assert!(topology.brokers[0].partitions[0].partition_id > 0);
    tokio::time::timeout(Duration::from_secs(10), client.get_status()).await.unwrap().unwrap();
}
