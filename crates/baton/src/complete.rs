//! Completion of commands in a shell: names and keys of the server that a command would talk to.
//!
//! A shell runs the program with [`VARIABLE`] set, and completes nothing if the server does not answer soon.

use std::time::Duration;

use clap_complete::CompletionCandidate;
use client::RestClient;
use serde_json::{Value, json};

use crate::connect;
use crate::layers::Layers;
use crate::profiles::Profiles;
use crate::server_settings::ServerSettings;

/// The variable by which a shell asks for completions.
pub(crate) const VARIABLE: &str = "BATON_COMPLETE";
/// People do not wait longer for a list.
const PATIENCE: Duration = Duration::from_millis(700);
/// More would not fit on a screen.
const CANDIDATES_MAX: u32 = 100;

/// Names of profiles.
pub(crate) fn profiles() -> Vec<CompletionCandidate> {
    let profiles = Profiles::load().unwrap_or_default();
    let help = |settings: &ServerSettings| settings.rest_address.clone().unwrap_or_default();
    profiles.all.iter().map(|(name, settings)| candidate(name, &help(settings))).collect()
}

/// IDs of processes.
pub(crate) fn processes() -> Vec<CompletionCandidate> {
    found("process-definitions", latest_versions(), "processDefinitionId", &["name"])
}

/// IDs of decisions.
pub(crate) fn decisions() -> Vec<CompletionCandidate> {
    found("decision-definitions", latest_versions(), "decisionDefinitionId", &["name"])
}

/// Keys of process instances that live.
pub(crate) fn instances() -> Vec<CompletionCandidate> {
    let request = latest_first(json!({ "state": "ACTIVE" }), "startDate");
    found("process-instances", request, "processInstanceKey", &["processDefinitionId", "startDate"])
}

/// Keys of active incidents.
pub(crate) fn incidents() -> Vec<CompletionCandidate> {
    let request = latest_first(json!({ "state": "ACTIVE" }), "creationTime");
    found("incidents", request, "incidentKey", &["elementId", "errorType"])
}

/// Jobs that have not ended.
fn open_jobs() -> Value {
    json!({ "filter": { "endTime": { "$exists": false } } })
}

/// Keys of jobs.
pub(crate) fn jobs() -> Vec<CompletionCandidate> {
    found("jobs", open_jobs(), "jobKey", &["type", "state"])
}

/// Types of jobs.
pub(crate) fn job_types() -> Vec<CompletionCandidate> {
    found("jobs", open_jobs(), "type", &[])
}

/// Keys of open user tasks.
pub(crate) fn tasks() -> Vec<CompletionCandidate> {
    let request = latest_first(json!({ "state": "CREATED" }), "creationDate");
    found("user-tasks", request, "userTaskKey", &["name", "elementId"])
}

/// Names of messages that are waited for.
pub(crate) fn messages() -> Vec<CompletionCandidate> {
    found("message-subscriptions", json!({}), "messageName", &[])
}

/// Keys of batch operations.
pub(crate) fn batches() -> Vec<CompletionCandidate> {
    let request = latest_first(json!({}), "startDate");
    found("batch-operations", request, "batchOperationKey", &["batchOperationType", "state"])
}

/// The newest version of each definition.
fn latest_versions() -> Value {
    json!({ "filter": { "isLatestVersion": true } })
}

fn latest_first(filter: Value, moment: &str) -> Value {
    json!({ "filter": filter, "sort": [{ "field": moment, "order": "DESC" }] })
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = (!help.is_empty()).then(|| help.to_owned().into());
    CompletionCandidate::new(value).help(help)
}

/// Values of a property of what a search finds, each once; nothing if that takes too long or fails.
fn found(collection: &str, request: Value, property: &str, help: &[&str]) -> Vec<CompletionCandidate> {
    let items = search(collection, request).unwrap_or_default();
    let mut seen = Vec::new();
    let mut candidates = Vec::new();
    for item in &items {
        let Some(value) = item[property].as_str().filter(|value| !seen.contains(value)) else { continue };
        seen.push(value);
        let help: Vec<_> = help.iter().filter_map(|property| item[*property].as_str()).collect();
        candidates.push(candidate(value, &help.join(", ")).display_order(Some(seen.len())));
    }
    candidates
}

fn search(collection: &str, mut request: Value) -> Option<Vec<Value>> {
    let client = client(std::env::args())?;
    request["page"] = json!({ "limit": CANDIDATES_MAX });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let request = request.to_string();
    let search = async { tokio::time::timeout(PATIENCE, client.search(collection, &request)).await };
    let answer = runtime.block_on(search).ok()?.ok()?;
    // Looking up the name of a host cannot be interrupted.
    runtime.shutdown_background();
    match serde_json::from_str::<Value>(&answer.json).ok()?["items"].take() {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// A client of the server that the words of an unfinished command name.
fn client(words: impl Iterator<Item = String>) -> Option<RestClient> {
    let (options, profile) = options(words);
    connect::rest_client(&Layers::gather(options, profile.as_deref()).ok()?).ok()
}

/// The options about a server among words.
fn options(words: impl Iterator<Item = String>) -> (ServerSettings, Option<String>) {
    let (mut settings, mut profile) = (ServerSettings::default(), None);
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (word, words.peek().cloned()),
        };
        match option.as_str() {
            "--profile" => profile = value,
            "--rest-address" => settings.rest_address = value,
            "--username" => settings.username = value,
            "--token" => settings.token = value,
            "--authorities" => settings.authorities = value.map(Into::into),
            "--certificate-chain" => settings.certificate_chain = value.map(Into::into),
            "--private-key" => settings.private_key = value.map(Into::into),
            _ => {}
        }
    }
    (settings, profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_an_unfinished_command_are_heeded() {
        let line = "baton -- baton run --rest-address http://a:1 --token=t=1 --profile p --version";
        let (settings, profile) = options(line.split(' ').map(str::to_owned));
        assert_eq!(settings.rest_address.as_deref(), Some("http://a:1"));
        assert_eq!(settings.token.as_deref(), Some("t=1"));
        assert_eq!(profile.as_deref(), Some("p"));
    }
}
