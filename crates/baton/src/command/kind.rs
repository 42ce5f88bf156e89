//! Kinds of entities that can be searched for and shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::client::RestClient;
use serde_json::{Value, json};

use super::kind_names::{ApiNames, NAMES};
use crate::failure::Failure;
use crate::output;

/// A kind of thing in secondary storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Process instances.
    #[value(name = "instances", alias = "instance")]
    Instances,
    /// Element instances.
    #[value(name = "elements", alias = "element")]
    Elements,
    /// Incidents.
    #[value(name = "incidents", alias = "incident")]
    Incidents,
    /// Jobs.
    #[value(name = "jobs", alias = "job")]
    Jobs,
    /// User tasks.
    #[value(name = "tasks", alias = "task")]
    Tasks,
    /// Variables.
    #[value(name = "variables", alias = "variable")]
    Variables,
    /// Process definitions.
    #[value(name = "processes", alias = "process")]
    Processes,
    /// Evaluated decisions.
    #[value(name = "decisions", alias = "decision")]
    Decisions,
    /// Message subscriptions.
    #[value(name = "subscriptions", alias = "subscription")]
    Subscriptions,
    /// Batch operations.
    #[value(name = "batches", alias = "batch")]
    Batches,
}

impl Kind {
    /// Its names in the API.
    pub(crate) const fn names(self) -> &'static ApiNames {
        &NAMES[self as usize]
    }

    /// Those that pass a filter.
    pub(crate) async fn search(self, client: &RestClient, request: &Value) -> Result<Value, Failure> {
        serde_json::from_str(&self.search_for_answer(client, request).await?).map_err(Failure::new)
    }

    /// The unparsed JSON answer of the API to a search.
    pub(crate) async fn search_for_answer(
        self,
        client: &RestClient,
        request: &Value,
    ) -> Result<String, Failure> {
        let names = self.names();
        let answer = client.search(names.collection, &request.to_string()).await;
        let answer =
            answer.map_err(|error| Failure::request(format!("search {}", names.collection), &error))?;
        if let Some(lag) = answer.lag {
            note_lag(lag);
        }
        Ok(answer.json)
    }

    /// All that pass the filter of a request, asked for in pages.
    pub(crate) async fn search_all(
        self,
        client: &RestClient,
        mut request: Value,
        page: u32,
    ) -> Result<Vec<Value>, Failure> {
        request["page"] = json!({ "limit": page });
        let mut all = Vec::new();
        loop {
            let mut answer = self.search(client, &request).await?;
            let Value::Array(items) = answer["items"].take() else { return Ok(all) };
            let is_last = items.len() < page as usize || !answer["page"]["endCursor"].is_string();
            all.extend(items);
            if is_last {
                return Ok(all);
            }
            request["page"]["after"] = answer["page"]["endCursor"].take();
        }
    }

    /// The one with a key.
    pub(crate) async fn find(self, client: &RestClient, key: &str) -> Result<Value, Failure> {
        let names = self.names();
        // The API has no way to ask for these by key.
        if matches!(self, Self::Jobs | Self::Subscriptions) {
            let filter = json!({ "filter": { names.columns[0]: key } });
            let answer = self.search(client, &filter).await?;
            let found = answer["items"].get(0).cloned();
            return found.ok_or_else(|| Failure::new(format!("there is no {} with key {key}", names.one)));
        }
        let answer = client.find(names.collection, key).await;
        let answer = answer.map_err(|error| Failure::request(format!("show {} {key}", names.one), &error))?;
        serde_json::from_str(&answer).map_err(Failure::new)
    }
}

/// Says that an answer lacks what happened last: once, although a command may search several times.
fn note_lag(lag: Duration) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        output::note(format_args!(
            "note: the answer lags by {} ms: secondary storage is behind",
            lag.as_millis()
        ));
    }
}
