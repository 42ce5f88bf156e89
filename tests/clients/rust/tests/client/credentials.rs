//! Servers that ask for credentials: by password, and by a token.

use camunda_orchestration_sdk::CamundaClient;
use rust_client_suite::{connected, create, deployed, job, refused, told};
use serde_json::json;

fn by_password(password: &str) -> CamundaClient {
    connected(&[
        ("CAMUNDA_REST_ADDRESS", &told("BATON_PASSWORD_REST_ADDRESS")),
        ("CAMUNDA_AUTH_STRATEGY", "BASIC"),
        ("CAMUNDA_BASIC_AUTH_USERNAME", &told("BATON_USER")),
        ("CAMUNDA_BASIC_AUTH_PASSWORD", password),
    ])
}

async fn does_what_is_allowed(client: CamundaClient) {
    let model = deployed(&client, &["task.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    let job = job(&client, &model.id).await;
    assert_eq!(refused(client.cancel_process_instance(&key, None).await), 403);
    client.complete_job(&job.job_key.to_string(), None).await.unwrap();
}

#[tokio::test]
async fn a_password_lets_it_do_what_is_allowed() {
    does_what_is_allowed(by_password(&told("BATON_USER_PASSWORD"))).await;
}

#[tokio::test]
async fn a_wrong_password_is_told_as_such() {
    assert_eq!(refused(by_password("guess").topology().await), 401);
}

/// This version of the client fetches a token and does not send it: its operations look for it in another place.
#[tokio::test]
async fn a_token_is_not_sent() {
    let settings = [
        ("CAMUNDA_REST_ADDRESS", told("BATON_TOKEN_REST_ADDRESS")),
        ("CAMUNDA_AUTH_STRATEGY", "OAUTH".to_owned()),
        ("CAMUNDA_OAUTH_URL", told("BATON_TOKEN_URL")),
        ("CAMUNDA_CLIENT_ID", told("BATON_CLIENT_ID")),
        ("CAMUNDA_CLIENT_SECRET", told("BATON_CLIENT_SECRET")),
        ("CAMUNDA_TOKEN_AUDIENCE", told("BATON_AUDIENCE")),
    ];
    let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(refused(connected(&settings).topology().await), 401);
}
