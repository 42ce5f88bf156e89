//! `baton cancel`, `baton resolve`, `baton retry`: the same for each key; one that fails does not stop the others.

use std::process::ExitCode;

use ::client::{RestClient, UpdateJob};
use serde_json::{Value, json};

use super::kind::Kind;
use crate::cli::{Cancel, Resolve, Retry};
use crate::failure::Failure;
use crate::output;

/// Incidents that are asked for at a time.
const PAGE: u32 = 1000;

pub(crate) async fn cancel(arguments: &Cancel) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let mut done = Done::new("canceled", arguments.json);
    for &key in &arguments.keys {
        let outcome = client.cancel_instance(key).await;
        done.add(
            key,
            outcome.map_err(|error| Failure::request(format!("cancel process instance {key}"), &error)),
        );
    }
    done.finish()
}

pub(crate) async fn resolve(arguments: &Resolve) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let keys = match arguments.instance {
        Some(instance) => active_incidents(&client, "processInstanceKey", instance).await?,
        None => arguments.keys.clone(),
    };
    if let (Some(instance), true) = (arguments.instance, keys.is_empty()) {
        output::note(format_args!("process instance {instance} has no active incident"));
    }
    let mut done = Done::new("resolved", arguments.json);
    for key in keys {
        done.add(key, resolve_one(&client, key).await);
    }
    done.finish()
}

pub(crate) async fn retry(arguments: &Retry) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let mut done = Done::new("retried", arguments.json);
    for &key in &arguments.keys {
        done.add(key, retry_one(&client, key, arguments.retries).await);
    }
    done.finish()
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
    let mut request = json!({
        "filter": { property: key.to_string(), "state": "ACTIVE" }, "page": { "limit": PAGE },
    });
    let mut keys = Vec::new();
    loop {
        let answer = Kind::Incidents.search(client, &request).await?;
        let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
        keys.extend(items.iter().filter_map(|item| item["incidentKey"].as_str()?.parse::<i64>().ok()));
        if items.len() < PAGE as usize {
            return Ok(keys);
        }
        request["page"]["after"] = answer["page"]["endCursor"].clone();
    }
}

/// Outcome of each key.
struct Done {
    word: &'static str,
    json: bool,
    items: Vec<Value>,
    failed: Option<ExitCode>,
}

impl Done {
    const fn new(word: &'static str, json: bool) -> Self {
        Self { word, json, items: Vec::new(), failed: None }
    }

    fn add(&mut self, key: i64, outcome: Result<(), Failure>) {
        let item = json!({ "key": key.to_string(), self.word: outcome.is_ok() });
        let told = match outcome {
            Ok(()) if self.json => Ok(()),
            Ok(()) => output::line(format_args!("{} {key}", self.word)),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = told {
            self.failed = Some(output::report(&failure));
        }
        self.items.push(item);
    }

    fn finish(self) -> Result<ExitCode, Failure> {
        if self.json {
            output::line(format_args!("{:#}", Value::from(self.items)))?;
        }
        Ok(self.failed.unwrap_or(ExitCode::SUCCESS))
    }
}
