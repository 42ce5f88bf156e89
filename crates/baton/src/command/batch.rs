//! `baton batch`.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use ::client::{ApiCall, RestClient};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::done::Done;
use super::kind::Kind;
use super::{call, definition, instances, search, show, table};
use crate::cli::{BatchAction, BatchCommand, BatchCreate, BatchKey, BatchKeys, BatchOptions, BatchWork};
use crate::failure::Failure;
use crate::output;

/// Time between two looks at a batch operation that is waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Failed items that are shown.
const FAILED_SHOWN_MAX: u32 = 100;
const ITEM_COLUMNS: [&str; 4] = ["itemKey", "processInstanceKey", "state", "errorMessage"];
/// States in which nothing happens any more.
const ENDED: [&str; 4] = ["COMPLETED", "PARTIALLY_COMPLETED", "CANCELED", "FAILED"];

pub(crate) async fn run(arguments: &BatchCommand) -> Result<ExitCode, Failure> {
    match &arguments.action {
        BatchAction::List { state, limit, to } => {
            let filter = state.as_ref().map_or_else(|| json!({}), |state| json!({ "state": state }));
            let sort = json!([{ "field": "startDate", "order": "DESC" }]);
            let request = json!({ "filter": filter, "sort": sort, "page": { "limit": limit } });
            search::print(Kind::Batches, &to.connect()?, &request, to.json).await
        }
        BatchAction::Get(arguments) => get(arguments).await,
        BatchAction::Cancel(arguments) => change(arguments, "cancel", "cancellation", "canceled").await,
        BatchAction::Suspend(arguments) => change(arguments, "suspend", "suspension", "suspended").await,
        BatchAction::Resume(arguments) => change(arguments, "resume", "resumption", "resumed").await,
        BatchAction::Create(arguments) => create(arguments).await,
    }
}

async fn get(arguments: &BatchKey) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let key = arguments.key;
    let path = format!("/batch-operations/{key}");
    let answer = call::text(&client, &ApiCall::get(&path), format_args!("get batch operation {key}")).await?;
    if arguments.to.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let batch = call::read(&answer)?;
    output::text(show::properties(&batch))?;
    if batch["operationsFailedCount"].as_i64().unwrap_or(0) > 0 {
        let items = failed_items(&client, &key.to_string()).await?;
        output::text(format_args!("\nfailed items\n{}", table::render(&ITEM_COLUMNS, &items)))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn failed_items(client: &RestClient, key: &str) -> Result<Vec<Value>, Failure> {
    let filter = json!({ "batchOperationKey": key, "state": "FAILED" });
    let request = json!({ "filter": filter, "page": { "limit": FAILED_SHOWN_MAX } }).to_string();
    let call = ApiCall::post("/batch-operation-items/search", &request);
    let mut answer = call::json(client, &call, "search items of the batch operation").await?;
    Ok(match answer["items"].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    })
}

async fn change(
    arguments: &BatchKeys,
    verb: &str,
    noun: &str,
    word: &'static str,
) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let change = async |key| {
        let path = format!("/batch-operations/{key}/{noun}");
        let call = ApiCall::post(&path, "{}");
        call::text(&client, &call, format_args!("{verb} batch operation {key}")).await.map(drop)
    };
    Done::new(word, arguments.to.json).each(&arguments.keys, change).await
}

/// A batch operation that is to be created.
struct BatchPlan<'a> {
    options: &'a BatchOptions,
    path: &'static str,
    /// States of instances that can be meant, unless the filter names some.
    state: Value,
    more: Map<String, Value>,
}

async fn create(BatchCreate { work }: &BatchCreate) -> Result<ExitCode, Failure> {
    let active = || json!("ACTIVE");
    let ended = || json!({ "$in": ["COMPLETED", "TERMINATED"] });
    let mut plan = match work {
        BatchWork::Cancel(options) => BatchPlan::new(options, "/process-instances/cancellation", active()),
        BatchWork::Resolve(options) => {
            BatchPlan::new(options, "/process-instances/incident-resolution", active())
        }
        BatchWork::Migrate { options, .. } => {
            BatchPlan::new(options, "/process-instances/migration", active())
        }
        BatchWork::Modify { options, .. } => {
            BatchPlan::new(options, "/process-instances/modification", active())
        }
        BatchWork::Delete(options) => BatchPlan::new(options, "/process-instances/deletion", ended()),
        BatchWork::DeleteDecisions(options) => {
            BatchPlan::new(options, "/decision-instances/deletion", Value::Null)
        }
    };
    let filter = plan.filter()?;
    let client = plan.options.to.connect()?;
    match work {
        BatchWork::Migrate { plan: migration, options } => {
            let target = definition::process_key(&client, &migration.target_process).await?;
            let active = match &options.process {
                Some(process) => {
                    instances::active_elements(&client, json!({ "processDefinitionId": process })).await?
                }
                None => BTreeSet::new(),
            };
            plan.more.insert("migrationPlan".to_owned(), instances::migration(&target, migration, active));
        }
        BatchWork::Modify { moves, .. } => {
            let moves =
                moves.iter().map(|(from, to)| json!({ "sourceElementId": from, "targetElementId": to }));
            plan.more.insert("moveInstructions".to_owned(), moves.collect());
        }
        _ => {}
    }
    plan.carry_out(&client, filter).await
}

impl<'a> BatchPlan<'a> {
    fn new(options: &'a BatchOptions, path: &'static str, state: Value) -> Self {
        Self { options, path, state, more: Map::new() }
    }

    fn is_of_decisions(&self) -> bool {
        self.path.starts_with("/decision-instances")
    }

    fn filter(&self) -> Result<Value, Failure> {
        let BatchOptions { process, instances, state, filter, all, .. } = self.options;
        let mut object: Map<String, Value> = match filter {
            None => Map::new(),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| Failure::usage(format!("--filter: expected a JSON object: {error}")))?,
        };
        if let Some(id) = process {
            let property =
                if self.is_of_decisions() { "decisionDefinitionId" } else { "processDefinitionId" };
            object.insert(property.to_owned(), Value::from(id.as_str()));
        }
        let keys: Vec<_> = instances.iter().map(ToString::to_string).collect();
        match keys.as_slice() {
            [] => {}
            [key] => drop(object.insert("processInstanceKey".to_owned(), json!(key))),
            _ if self.is_of_decisions() => {
                return Err(Failure::usage(
                    "--instance: decisions are filtered by one process instance at a time",
                ));
            }
            keys => drop(object.insert("processInstanceKey".to_owned(), json!({ "$in": keys }))),
        }
        if let Some(state) = state {
            object.insert("state".to_owned(), Value::from(state.as_str()));
        }
        if object.is_empty() && !all {
            return Err(Failure::usage("the filter is empty: it would concern all there are")
                .hint("narrow it by --process, --instance, --state or --filter, or mean it with --all"));
        }
        if !object.contains_key("state") && !self.state.is_null() {
            object.insert("state".to_owned(), self.state.clone());
        }
        if self.path.ends_with("/incident-resolution") {
            object.entry("hasIncident").or_insert(Value::Bool(true));
        }
        Ok(Value::Object(object))
    }

    async fn carry_out(self, client: &RestClient, filter: Value) -> Result<ExitCode, Failure> {
        let json = self.options.to.json;
        if self.options.dry_run {
            let kind = if self.is_of_decisions() { Kind::Decisions } else { Kind::Instances };
            let answer = kind.search(client, &json!({ "filter": filter, "page": { "limit": 1 } })).await?;
            if json {
                output::line(format_args!("{:#}", answer["page"]))?;
            } else {
                let at_least = if answer["page"]["hasMoreTotalItems"] == true { "at least " } else { "" };
                output::line(format_args!(
                    "{at_least}{} {}",
                    answer["page"]["totalItems"],
                    kind.names().plural
                ))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut body = self.more;
        body.insert("filter".to_owned(), filter);
        let body = Value::Object(body).to_string();
        let answer =
            call::text(client, &ApiCall::post(self.path, &body), "create the batch operation").await?;
        let created = call::read(&answer)?;
        let key = created["batchOperationKey"].as_str().unwrap_or_default();
        if !self.options.wait {
            if json {
                output::json(&answer)?;
            } else {
                let work = table::line(&created["batchOperationType"]);
                output::line(format_args!("batch operation {key} {work}"))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let ended = wait(client, key, self.options.timeout).await?;
        if json {
            output::line(format_args!("{ended:#}"))?;
        } else {
            output::text(show::properties(&ended))?;
        }
        let is_good =
            ended["state"] == "COMPLETED" && ended["operationsFailedCount"].as_i64().unwrap_or(0) == 0;
        Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Waits until a batch operation has ended.
async fn wait(client: &RestClient, key: &str, timeout: Duration) -> Result<Value, Failure> {
    let deadline = Instant::now() + timeout;
    let path = format!("/batch-operations/{key}");
    loop {
        match client.call(&ApiCall::get(&path)).await {
            Ok(answer) => {
                let batch = call::read(&answer)?;
                if batch["state"].as_str().is_some_and(|state| ENDED.contains(&state)) {
                    return Ok(batch);
                }
            }
            // Secondary storage knows it a moment later.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(Failure::request(format!("get batch operation {key}"), &error)),
        }
        if Instant::now() + LOOK_INTERVAL > deadline {
            return Err(Failure::new(format!(
                "batch operation {key} has not ended within --timeout ({timeout:?})"
            ))
            .hint(format!("it goes on: `baton batch get {key}`")));
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn filter(line: &str, path: &'static str) -> Result<Value, Failure> {
        let cli = Cli::parse_from(format!("baton batch create cancel {line}").split_whitespace());
        let Command::Batch(batch) = cli.command else { panic!("{line}") };
        let BatchAction::Create(BatchCreate { work: BatchWork::Cancel(options) }) = &batch.action else {
            panic!("{line}")
        };
        BatchPlan::new(options, path, json!("ACTIVE")).filter()
    }

    #[test]
    fn a_filter_is_never_empty_by_chance() {
        let of = |line| filter(line, "/process-instances/cancellation");
        assert!(of("").unwrap_err().advice().unwrap().contains("--all"));
        assert_eq!(of("--all").unwrap(), json!({ "state": "ACTIVE" }));
        assert_eq!(
            of("--process p --instance 7 --instance 8 --state COMPLETED --filter {\"hasIncident\":true}")
                .unwrap(),
            json!({
                "processDefinitionId": "p", "processInstanceKey": { "$in": ["7", "8"] }, "state": "COMPLETED",
                "hasIncident": true,
            })
        );
        let resolve = filter("--process p", "/process-instances/incident-resolution").unwrap();
        assert_eq!(resolve, json!({ "processDefinitionId": "p", "state": "ACTIVE", "hasIncident": true }));
        let decisions = filter("--process d", "/decision-instances/deletion").unwrap();
        assert_eq!(decisions["decisionDefinitionId"], "d");
        assert!(of("--filter [1]").is_err());
    }
}
