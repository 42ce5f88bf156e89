//! `baton cancel`, `baton resolve`, `baton retry`.

use std::process::ExitCode;

use ::client::{RestClient, UpdateJob};
use serde_json::json;

use super::done::Done;
use super::kind::Kind;
use crate::cli::{Cancel, JobKeys, Resolve, Retry};
use crate::failure::Failure;
use crate::output;

/// Incidents that are asked for at a time.
const PAGE: u32 = 1000;

pub(crate) async fn cancel(arguments: &Cancel) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let cancel = async |key| {
        let outcome = client.cancel_instance(key).await;
        outcome.map_err(|error| Failure::request(format!("cancel process instance {key}"), &error))
    };
    Done::new("canceled", arguments.to.json).each(&arguments.keys, cancel).await
}

pub(crate) async fn resolve(arguments: &Resolve) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let keys = match arguments.instance {
        Some(instance) => active_incidents(&client, "processInstanceKey", instance).await?,
        None => arguments.keys.clone(),
    };
    if let (Some(instance), true) = (arguments.instance, keys.is_empty()) {
        output::note(format_args!("process instance {instance} has no active incident"));
    }
    Done::new("resolved", arguments.to.json).each(&keys, async |key| resolve_one(&client, key).await).await
}

pub(crate) async fn retry(arguments: &Retry) -> Result<ExitCode, Failure> {
    let JobKeys { keys, to } = &arguments.jobs;
    let client = to.connect()?;
    let retry = async |key| retry_one(&client, key, arguments.retries).await;
    Done::new("retried", to.json).each(keys, retry).await
}

async fn resolve_one(client: &RestClient, key: i64) -> Result<(), Failure> {
    let outcome = client.resolve_incident(key).await;
    outcome.map_err(|error| Failure::request(format!("resolve incident {key}"), &error))
}

async fn retry_one(client: &RestClient, job_key: i64, retries: i32) -> Result<(), Failure> {
    let update = UpdateJob { job_key, retries: Some(retries), timeout: None };
    let outcome = client.update_job(&update).await;
    outcome.map_err(|error| Failure::request(format!("give job {job_key} retries"), &error))?;
    let resolve = async {
        for incident in active_incidents(client, "jobKey", job_key).await? {
            resolve_one(client, incident).await?;
        }
        Ok(())
    };
    resolve.await.map_err(|failure: Failure| failure.after(format!("job {job_key} has retries again, but")))
}

async fn active_incidents(client: &RestClient, property: &str, key: i64) -> Result<Vec<i64>, Failure> {
    let request = json!({ "filter": { property: key.to_string(), "state": "ACTIVE" } });
    let items = Kind::Incidents.search_all(client, request, PAGE).await?;
    Ok(items.iter().filter_map(|item| item["incidentKey"].as_str()?.parse::<i64>().ok()).collect())
}
