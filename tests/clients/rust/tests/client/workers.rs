//! The client's job worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use camunda_orchestration_sdk::{CamundaClient, JobAction, JobWorkerConfig};
use rust_client_suite::{client, create, deployed, instance_is};
use serde_json::json;

fn config(client: &CamundaClient, job_type: &str) -> JobWorkerConfig {
    client.worker_config(job_type).worker_name("rust").job_timeout_ms(60_000).max_jobs_to_activate(5)
}

#[tokio::test]
async fn it_completes_every_job() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    client.spawn_worker(config(&client, &model.id), move |job| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { JobAction::complete_with(json!({"doubled": job.variables()["n"].as_u64().unwrap() * 2})) }
    });
    let mut keys = Vec::new();
    for n in 0..12 {
        keys.push(create(&client, &model.id, json!({"n": n})).await.process_instance_key.to_string());
    }
    for key in keys {
        instance_is(&client, &key, "COMPLETED").await;
    }
    assert_eq!(seen.load(Ordering::Relaxed), 12);
    client.stop_all_workers().await.unwrap();
}

#[tokio::test]
async fn it_works_under_leases_and_tries_again() {
    let client = client();
    let model = deployed(&client, &["task.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    client.spawn_worker(config(&client, &model.id).with_lease(true), |job| async move {
        assert!(job.lease_token().is_some());
        if job.retries() > 1 {
            let (error_message, retries) = ("not yet".to_owned(), Some(1));
            JobAction::Fail { error_message, retries, retry_backoff_ms: None, variables: None }
        } else {
            JobAction::complete()
        }
    });
    instance_is(&client, &key, "COMPLETED").await;
    client.stop_all_workers().await.unwrap();
}

#[tokio::test]
async fn it_throws_errors() {
    let client = client();
    let model = deployed(&client, &["error.bpmn"]).await;
    let key = create(&client, &model.id, json!({})).await.process_instance_key.to_string();
    client.spawn_worker(config(&client, &model.id), |_| async { JobAction::error("REFUSED") });
    instance_is(&client, &key, "COMPLETED").await;
    client.stop_all_workers().await.unwrap();
}
