//! Kinds of entities that can be searched for and shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::client::RestClient;
use serde_json::{Value, json};

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

/// How the API names a kind and its properties.
pub(crate) struct Names {
    /// Its name in messages.
    pub(crate) one: &'static str,
    /// The same of several.
    pub(crate) plural: &'static str,
    /// The property with its time, if lists can be ordered by it.
    pub(crate) moment: Option<&'static str>,
    /// Its path in the API.
    pub(crate) collection: &'static str,
    /// Its identity, and what a list shows; the identity comes first.
    pub(crate) columns: &'static [&'static str],
    /// The property that `--process` filters by.
    pub(crate) process: Option<&'static str>,
    /// The property that `--instance` filters by.
    pub(crate) instance: Option<&'static str>,
    /// The property that `--state` filters by.
    pub(crate) state: Option<&'static str>,
    /// The property that `--type` filters by.
    pub(crate) of_type: Option<&'static str>,
}

/// Defaults of most kinds.
const OF_INSTANCES: Names = Names {
    one: "",
    plural: "",
    moment: None,
    collection: "",
    columns: &[],
    process: Some("processDefinitionId"),
    instance: Some("processInstanceKey"),
    state: Some("state"),
    of_type: None,
};

impl Kind {
    /// How the API names it.
    pub(crate) const fn names(self) -> Names {
        match self {
            Self::Instances => Names {
                one: "process instance",
                plural: "process instances",
                moment: Some("startDate"),
                collection: "process-instances",
                columns: &[
                    "processInstanceKey",
                    "processDefinitionId",
                    "processDefinitionVersion",
                    "state",
                    "hasIncident",
                    "startDate",
                    "endDate",
                ],
                ..OF_INSTANCES
            },
            Self::Elements => Names {
                one: "element instance",
                plural: "element instances",
                collection: "element-instances",
                columns: &[
                    "elementInstanceKey",
                    "processInstanceKey",
                    "elementId",
                    "type",
                    "state",
                    "startDate",
                    "endDate",
                ],
                of_type: Some("type"),
                ..OF_INSTANCES
            },
            Self::Incidents => Names {
                one: "incident",
                plural: "incidents",
                moment: Some("creationTime"),
                collection: "incidents",
                columns: &[
                    "incidentKey",
                    "processInstanceKey",
                    "elementId",
                    "errorType",
                    "state",
                    "creationTime",
                    "errorMessage",
                ],
                of_type: Some("errorType"),
                ..OF_INSTANCES
            },
            Self::Jobs => Names {
                one: "job",
                plural: "jobs",
                collection: "jobs",
                columns: &[
                    "jobKey",
                    "processInstanceKey",
                    "elementId",
                    "type",
                    "state",
                    "retries",
                    "worker",
                    "errorMessage",
                ],
                of_type: Some("type"),
                ..OF_INSTANCES
            },
            Self::Tasks => Names {
                one: "user task",
                plural: "user tasks",
                moment: Some("creationDate"),
                collection: "user-tasks",
                columns: &[
                    "userTaskKey",
                    "processInstanceKey",
                    "elementId",
                    "name",
                    "state",
                    "assignee",
                    "creationDate",
                ],
                ..OF_INSTANCES
            },
            Self::Variables => Names {
                one: "variable",
                plural: "variables",
                collection: "variables",
                columns: &["variableKey", "processInstanceKey", "scopeKey", "name", "value"],
                process: None,
                state: None,
                ..OF_INSTANCES
            },
            Self::Processes => Names {
                one: "process definition",
                plural: "process definitions",
                collection: "process-definitions",
                columns: &[
                    "processDefinitionKey",
                    "processDefinitionId",
                    "version",
                    "versionTag",
                    "name",
                    "resourceName",
                ],
                instance: None,
                ..OF_INSTANCES
            },
            Self::Decisions => Names {
                one: "decision instance",
                plural: "decision instances",
                moment: Some("evaluationDate"),
                collection: "decision-instances",
                columns: &[
                    "decisionEvaluationInstanceKey",
                    "processInstanceKey",
                    "decisionDefinitionId",
                    "state",
                    "evaluationDate",
                    "evaluationFailure",
                ],
                process: None,
                of_type: Some("decisionDefinitionType"),
                ..OF_INSTANCES
            },
            Self::Subscriptions => Names {
                one: "message subscription",
                plural: "message subscriptions",
                collection: "message-subscriptions",
                columns: &[
                    "messageSubscriptionKey",
                    "processInstanceKey",
                    "elementId",
                    "messageName",
                    "correlationKey",
                    "messageSubscriptionState",
                ],
                state: Some("messageSubscriptionState"),
                ..OF_INSTANCES
            },
            Self::Batches => Names {
                one: "batch operation",
                plural: "batch operations",
                moment: Some("startDate"),
                collection: "batch-operations",
                columns: &[
                    "batchOperationKey",
                    "batchOperationType",
                    "state",
                    "startDate",
                    "operationsTotalCount",
                    "operationsCompletedCount",
                    "operationsFailedCount",
                ],
                process: None,
                instance: None,
                of_type: Some("operationType"),
                ..OF_INSTANCES
            },
        }
    }

    /// Those that pass a filter.
    pub(crate) async fn search(self, client: &RestClient, request: &Value) -> Result<Value, Failure> {
        let names = self.names();
        let answer = client.search(names.collection, &request.to_string()).await;
        let answer =
            answer.map_err(|error| Failure::request(format!("search {}", names.collection), &error))?;
        if let Some(lag) = answer.lag {
            tell_lag(lag);
        }
        serde_json::from_str(&answer.json).map_err(Failure::new)
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
fn tell_lag(lag: Duration) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        output::note(format_args!(
            "note: the answer lags by {} ms: secondary storage is behind",
            lag.as_millis()
        ));
    }
}
