//! `baton instances`: modification and migration.

use std::collections::BTreeSet;
use std::process::ExitCode;

use ::client::{ApiCall, RestClient};
use serde_json::{Value, json};

use super::done::Done;
use super::kind::Kind;
use super::{call, definition, input};
use crate::cli::{Instances, InstancesAction, MigrateArguments, MigrationPlan, ModifyArguments};
use crate::failure::Failure;

/// Element instances that are asked for at a time.
const PAGE: u32 = 1000;

pub(crate) async fn run(arguments: &Instances) -> Result<ExitCode, Failure> {
    match &arguments.action {
        InstancesAction::Modify(arguments) => modify(arguments).await,
        InstancesAction::Migrate(arguments) => migrate(arguments).await,
    }
}

async fn modify(arguments: &ModifyArguments) -> Result<ExitCode, Failure> {
    let body = modification(arguments)?;
    let key = arguments.key;
    let client = arguments.to.connect()?;
    let path = format!("/process-instances/{key}/modification");
    let outcome =
        call::text(&client, &ApiCall::post(&path, &body), format_args!("modify process instance {key}"))
            .await;
    let mut done = Done::new("modified", arguments.to.json);
    done.add(key, outcome.map(drop));
    done.finish()
}

/// The body of a modification.
fn modification(arguments: &ModifyArguments) -> Result<String, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    if variables.is_some() && arguments.activate.is_empty() && arguments.moves.is_empty() {
        return Err(Failure::usage(
            "--variables: they are for elements of --activate or --move, and there are none",
        ));
    }
    let variables = variables.map(|variables| {
        let scope = arguments.scope.as_deref().map(call::quoted);
        format!("[{}]", call::object(&[("variables", Some(variables)), ("scopeId", scope)]))
    });
    let activate = arguments.activate.iter().map(|element| {
        call::object(&[
            ("elementId", Some(call::quoted(element))),
            ("variableInstructions", variables.clone()),
        ])
    });
    let moves = arguments.moves.iter().map(|(from, to)| {
        let source = json!({ "sourceType": "byId", "sourceElementId": from });
        call::object(&[
            ("sourceElementInstruction", Some(source.to_string())),
            ("targetElementId", Some(call::quoted(to))),
            ("variableInstructions", variables.clone()),
        ])
    });
    let terminate = arguments.terminate.iter().map(|element| {
        let property = if definition::is_key(element) { "elementInstanceKey" } else { "elementId" };
        json!({ property: element }).to_string()
    });
    let list = |items: Vec<String>| (!items.is_empty()).then(|| format!("[{}]", items.join(",")));
    Ok(call::object(&[
        ("activateInstructions", list(activate.collect())),
        ("moveInstructions", list(moves.collect())),
        ("terminateInstructions", list(terminate.collect())),
    ]))
}

async fn migrate(arguments: &MigrateArguments) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let target = definition::process_key(&client, &arguments.plan.target_process).await?;
    let migrate = async |key| migrate_one(&client, key, &target, &arguments.plan).await;
    Done::new("migrated", arguments.to.json).each(&arguments.keys, migrate).await
}

async fn migrate_one(
    client: &RestClient,
    key: i64,
    target: &str,
    plan: &MigrationPlan,
) -> Result<(), Failure> {
    let active = active_elements(client, json!({ "processInstanceKey": key.to_string() })).await?;
    let body = migration(target, plan, active).to_string();
    let path = format!("/process-instances/{key}/migration");
    call::text(client, &ApiCall::post(&path, &body), format_args!("migrate process instance {key}"))
        .await
        .map(drop)
}

/// IDs of the elements that are active in instances that pass a filter.
pub(super) async fn active_elements(
    client: &RestClient,
    mut filter: Value,
) -> Result<BTreeSet<String>, Failure> {
    filter["state"] = Value::from("ACTIVE");
    let items = Kind::Elements.search_all(client, json!({ "filter": filter }), PAGE).await?;
    let elements = items.iter().filter(|item| item["type"] != "PROCESS");
    Ok(elements.filter_map(|item| item["elementId"].as_str().map(str::to_owned)).collect())
}

/// A plan for the API: elements that are active keep their ID unless they have another one there.
pub(super) fn migration(target: &str, plan: &MigrationPlan, active: BTreeSet<String>) -> Value {
    let named = plan.map.iter().map(|(from, to)| (from.clone(), to.clone()));
    let kept = active.into_iter().filter(|id| plan.map.iter().all(|(from, _)| from != id));
    let instructions: Vec<_> = named
        .chain(kept.map(|id| (id.clone(), id)))
        .map(|(from, to)| json!({ "sourceElementId": from, "targetElementId": to }))
        .collect();
    json!({ "targetProcessDefinitionKey": target, "mappingInstructions": instructions })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn body(line: &str) -> Result<Value, Failure> {
        let cli = Cli::try_parse_from(line.split(' ')).map_err(Failure::usage)?;
        let Command::Instances(Instances { action: InstancesAction::Modify(arguments) }) = cli.command else {
            panic!("{line}")
        };
        call::read(&modification(&arguments)?)
    }

    #[test]
    fn elements_are_activated_moved_and_terminated() {
        let line = "baton instances modify 7 --activate a --move b:c --terminate d --terminate 12 --variables {\"x\":1.0} --scope s";
        let variables = json!([{ "variables": { "x": 1.0 }, "scopeId": "s" }]);
        assert_eq!(
            body(line).unwrap(),
            json!({
                "activateInstructions": [{ "elementId": "a", "variableInstructions": variables }],
                "moveInstructions": [{
                    "sourceElementInstruction": { "sourceType": "byId", "sourceElementId": "b" },
                    "targetElementId": "c", "variableInstructions": variables,
                }],
                "terminateInstructions": [{ "elementId": "d" }, { "elementInstanceKey": "12" }],
            })
        );
        assert!(body("baton instances modify 7").is_err(), "nothing to do");
        assert!(
            body("baton instances modify 7 --terminate d --variables {}").is_err(),
            "variables of nothing"
        );
    }

    #[test]
    fn elements_keep_their_ids_unless_told_otherwise() {
        let plan =
            MigrationPlan { target_process: "p".to_owned(), map: vec![("a".to_owned(), "x".to_owned())] };
        let active = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let instructions = &migration("9", &plan, active)["mappingInstructions"];
        let expected = json!([
            { "sourceElementId": "a", "targetElementId": "x" }, { "sourceElementId": "b", "targetElementId": "b" },
        ]);
        assert_eq!(*instructions, expected);
    }
}
