//! User tasks, whose listeners are jobs of the test.

use camunda_orchestration_sdk::CamundaClient;
use camunda_orchestration_sdk::apis::user_task_api as api;
use rust_client_suite::{body, client, create, deployed, instance_is, job, refused};
use serde_json::json;

async fn assign(client: &CamundaClient, key: &str, who: &str) -> camunda_orchestration_sdk::Result<()> {
    let params = api::AssignUserTaskParams {
        user_task_key: key.to_owned(),
        user_task_assignment_request: body(json!({"assignee": who, "allowOverride": false})),
    };
    client.assign_user_task(params).await
}

/// Has a listener agree.
async fn answer(client: &CamundaClient, job_type: String) {
    let job = job(client, &job_type).await;
    client.complete_job(&job.job_key.to_string(), None).await.unwrap();
}

#[tokio::test]
async fn a_task_is_claimed_changed_and_completed() {
    let client = client();
    let model = deployed(&client, &["user-task.bpmn"]).await;
    let instance = create(&client, &model.id, json!({"who": "ann"})).await.process_instance_key.to_string();
    let creating = job(&client, &format!("{}-creating", model.id)).await;
    let key = creating.user_task.unwrap().user_task_key.unwrap().to_string();
    client.complete_job(&creating.job_key.to_string(), None).await.unwrap();
    client.unassign_user_task(api::UnassignUserTaskParams { user_task_key: key.clone() }).await.unwrap();
    assign(&client, &key, "bob").await.unwrap();
    assert_eq!(refused(assign(&client, &key, "eve").await), 409);
    // The runner has listeners for updates, which nobody else works for.
    let update = api::UpdateUserTaskParams {
        user_task_key: key.clone(),
        user_task_update_request: body(json!({"changeset": {"priority": 80}})),
    };
    let listeners = (answer(&client, "listen-1".to_owned()), answer(&client, "listen-2".to_owned()));
    let (updated, ..) = tokio::join!(client.update_user_task(update), listeners.0, listeners.1);
    updated.unwrap();
    let task = client.get_user_task(api::GetUserTaskParams { user_task_key: key.clone() }).await.unwrap();
    assert_eq!((task.assignee.as_deref(), task.priority), (Some("bob"), 80));
    let complete = api::CompleteUserTaskParams {
        user_task_key: key,
        user_task_completion_request: body(json!({"variables": {"approved": true}})),
    };
    // It is answered once the listener has agreed.
    let listener = answer(&client, format!("{}-completing", model.id));
    let (completed, ()) = tokio::join!(client.complete_user_task(complete), listener);
    completed.unwrap();
    instance_is(&client, &instance, "COMPLETED").await;
}
