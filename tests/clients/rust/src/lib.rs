//! The server under test, named by the environment, and the models that it is given.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use camunda_orchestration_sdk::models::{ActivatedJobResult, CreateProcessInstanceResult};
use camunda_orchestration_sdk::{CamundaClient, CamundaError, CamundaOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const SEEN_WITHIN: Duration = Duration::from_secs(20);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A setting of the runner (run.py).
pub fn told(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; run tests/clients/run.py"))
}

/// A key of what the runner has put into the server.
pub fn key(name: &str) -> String {
    let seeded: Value = serde_json::from_str(&told("BATON_SEEDED")).unwrap();
    seeded[name].as_str().unwrap_or_else(|| panic!("the runner tells no {name}")).to_owned()
}

/// The client of the server for everybody.
pub fn client() -> CamundaClient {
    connected(&[
        ("CAMUNDA_REST_ADDRESS", &told("BATON_REST_ADDRESS")),
        ("CAMUNDA_AUTH_STRATEGY", "NONE"),
        // Workers wait for their last poll when they stop.
        ("CAMUNDA_WORKER_REQUEST_TIMEOUT", "1000"),
    ])
}

/// A client with other settings.
pub fn connected(settings: &[(&str, &str)]) -> CamundaClient {
    static PROVIDER: Once = Once::new();
    // The client is built without a library for TLS of its own.
    PROVIDER.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
    // All is without TLS, and looking for the certificates of the machine would take half of the time.
    let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let options = settings.iter().fold(CamundaOptions::new(), |all, (name, value)| all.with(*name, *value));
    CamundaClient::new(options.with_http_client(http)).unwrap()
}

/// A request in the client's own type, which must have a place for all of it.
pub fn body<T: DeserializeOwned + Serialize>(json: Value) -> T {
    let read: T = serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{json}: {error}"));
    let sent = serde_json::to_value(&read).unwrap();
    assert!(has(&sent, &json), "of {json}, the client sends {sent}");
    read
}

fn has(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|found| has(found, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| has(whole, part))
        }
        _ => whole == part,
    }
}

/// The status of an answer that is no success.
pub fn refused<T>(answer: Result<T, CamundaError>) -> u16 {
    match answer {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error.status().unwrap_or_else(|| panic!("it was not answered: {error}")),
    }
}

/// A model under an ID of its own, so that no test meets another one's jobs or messages.
pub struct Model {
    pub id: String,
    folder: PathBuf,
}

impl Model {
    fn file(&self, name: &str) -> PathBuf {
        let text = std::fs::read_to_string(Path::new(&told("BATON_CLIENT_MODELS")).join(name)).unwrap();
        let file = self.folder.join(name);
        std::fs::write(&file, text.replace("@ID@", &self.id)).unwrap();
        file
    }
}

/// Another ID at each call.
pub fn unique(name: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    format!("rust-{name}-{now}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Deploys models of the folder that all suites share, under one ID.
pub async fn deployed(client: &CamundaClient, files: &[&str]) -> Model {
    let id = unique(files[0].split_once('.').unwrap().0);
    let folder = std::env::temp_dir().join(&id);
    std::fs::create_dir(&folder).unwrap();
    let model = Model { id, folder };
    let files = files.iter().map(|name| model.file(name)).collect();
    assert!(!client.deploy_resources(files, None).await.unwrap().deployments.is_empty());
    model
}

/// Creates an instance of a process.
pub async fn create(
    client: &CamundaClient,
    process_id: &str,
    variables: Value,
) -> CreateProcessInstanceResult {
    let instruction = json!({"processDefinitionId": process_id, "variables": variables});
    client.create_process_instance(body(instruction)).await.unwrap()
}

/// Waits for a job.
pub async fn job(client: &CamundaClient, job_type: &str) -> ActivatedJobResult {
    activated(client, json!({"type": job_type})).await
}

/// Waits for a job, and takes it under a lease.
pub async fn leased(client: &CamundaClient, job_type: &str) -> ActivatedJobResult {
    activated(client, json!({"type": job_type, "withLease": true})).await
}

async fn activated(client: &CamundaClient, mut request: Value) -> ActivatedJobResult {
    for (name, value) in [("timeout", 60_000), ("maxJobsToActivate", 1), ("requestTimeout", 15_000)] {
        request[name] = value.into();
    }
    let mut jobs = client.activate_jobs(body(request)).await.unwrap().jobs;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

/// Repeats a read until it tells something.
pub async fn seen<T, F: Future<Output = Option<T>>>(read: impl Fn() -> F) -> T {
    let repeated = async {
        loop {
            if let Some(found) = read().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SEEN_WITHIN, repeated).await.expect("it is told within the time")
}

/// Waits until an instance is in a state.
pub async fn instance_is(client: &CamundaClient, key: &str, state: &str) {
    let read = || async {
        let found = client.get_process_instance(key).await.ok()?;
        (serde_json::to_value(found.state).unwrap() == state).then_some(())
    };
    seen(read).await;
}
