//! Instances and their jobs: completed, failed, thrown, and under leases.

use camunda_orchestration_sdk::apis::{incident_api, job_api};
use rust_client_suite::{body, client, create, deployed, instance_is, job, leased, refused, seen};
use serde_json::json;

#[tokio::test]
async fn a_job_is_completed() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let created = create(&client, &model.id, json!({"text": "ä", "list": [1, {"deep": null}]})).await;
    let job = job(&client, &model.id).await;
    assert_eq!(job.process_instance_key, created.process_instance_key);
    assert_eq!((&job.variables["text"], &job.variables["list"]), (&json!("ä"), &json!([1, {"deep": null}])));
    client.complete_job(&job.job_key.to_string(), body(json!({"variables": {"done": true}}))).await.unwrap();
    instance_is(&client, &created.process_instance_key.to_string(), "COMPLETED").await;
    assert_eq!(refused(client.complete_job(&job.job_key.to_string(), None).await), 404);
}

#[tokio::test]
async fn an_instance_is_awaited() {
    let client = client();
    let model = deployed(&client, &["multi.bpmn"]).await;
    let instruction =
        json!({"processDefinitionId": model.id, "variables": {"items": [5, 6, 7]}, "awaitCompletion": true});
    let done = client.create_process_instance(body(instruction)).await.unwrap();
    assert_eq!(done.variables["products"], json!([5, 12, 21]));
}

#[tokio::test]
async fn what_is_wrong_is_told() {
    let client = client();
    let unknown = json!({"processDefinitionId": "nowhere", "variables": {}});
    assert_eq!(refused(client.create_process_instance(body(unknown)).await), 404);
    assert_eq!(refused(client.cancel_process_instance("3377699720527872", None).await), 404);
}

#[tokio::test]
async fn an_instance_is_cancelled() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    client.cancel_process_instance(&key, None).await.unwrap();
    instance_is(&client, &key, "TERMINATED").await;
}

#[tokio::test]
async fn a_job_that_fails_for_good_has_an_incident_until_it_gets_retries() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    let failed = job(&client, &model.id).await;
    let job_key = failed.job_key.to_string();
    client.fail_job(&job_key, body(json!({"retries": 0, "errorMessage": "no paper"}))).await.unwrap();
    let incident = seen(|| async {
        let query = body(json!({"filter": {"processInstanceKey": key}}));
        let params = incident_api::SearchIncidentsParams { incident_search_query: query };
        client.search_incidents(params).await.unwrap().items.into_iter().next()
    });
    let incident = incident.await;
    assert_eq!(incident.error_message, "no paper");
    let changeset = body(json!({"changeset": {"retries": 2}}));
    let update = job_api::UpdateJobParams { job_key, job_update_request: changeset };
    client.update_job(update).await.unwrap();
    let resolve = incident_api::ResolveIncidentParams {
        incident_key: incident.incident_key.to_string(),
        incident_resolution_request: None,
    };
    client.resolve_incident(resolve).await.unwrap();
    let again = job(&client, &model.id).await;
    assert_eq!((&again.job_key, again.retries), (&failed.job_key, 2));
    client.complete_job(&again.job_key.to_string(), None).await.unwrap();
    instance_is(&client, &key, "COMPLETED").await;
}

#[tokio::test]
async fn an_error_that_a_job_throws_is_caught() {
    let client = client();
    let model = deployed(&client, &["error.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    let job = job(&client, &model.id).await;
    assert_eq!(job.custom_headers["queue"], json!("parcels"));
    client.throw_job_error(&job.job_key.to_string(), body(json!({"errorCode": "REFUSED"}))).await.unwrap();
    instance_is(&client, &key, "COMPLETED").await;
    let found = seen(|| async {
        let query = body(json!({"filter": {"processInstanceKey": key, "name": "path"}}));
        client.search_variables_as::<String>(query).await.unwrap().pop()
    });
    assert_eq!(found.await, "refused");
}

#[tokio::test]
async fn each_command_asks_for_the_lease() {
    let client = client();
    let model = deployed(&client, &["error.bpmn"]).await;
    create(&client, &model.id, json!({})).await;
    let job = leased(&client, &model.id).await;
    let (key, token) = (job.job_key.to_string(), job.job_lease_token.unwrap().to_string());
    let wrong = json!({"jobLeaseToken": format!("{token}0")});
    assert_eq!(refused(client.fail_job(&key, body(wrong.clone())).await), 409);
    assert_eq!(refused(client.complete_job(&key, body(wrong)).await), 409);
    client.fail_job(&key, body(json!({"retries": 1, "jobLeaseToken": token}))).await.unwrap();
    let again = leased(&client, &model.id).await;
    let next = again.job_lease_token.unwrap().to_string();
    assert_ne!(next, token);
    let thrown = |token: &str| body(json!({"errorCode": "REFUSED", "jobLeaseToken": token}));
    assert_eq!(refused(client.throw_job_error(&key, thrown(&token)).await), 409);
    client.throw_job_error(&key, thrown(&next)).await.unwrap();
}
