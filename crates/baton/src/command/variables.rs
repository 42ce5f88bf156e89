//! `baton variables`.

use std::process::ExitCode;

use ::client::{ApiCall, SetVariables};
use serde_json::json;

use super::{call, input, table};
use crate::cli::{GetArguments, SetArguments, VariablesAction, VariablesCommand};
use crate::failure::Failure;
use crate::output;

/// Variables of one scope that are shown at the most.
const SHOWN_MAX: u32 = 10_000;

pub(crate) async fn run(arguments: &VariablesCommand) -> Result<ExitCode, Failure> {
    match &arguments.action {
        VariablesAction::Set(arguments) => set(arguments).await,
        VariablesAction::Get(arguments) => get(arguments).await,
    }
}

async fn set(arguments: &SetArguments) -> Result<ExitCode, Failure> {
    let variables = match &arguments.variables {
        Some(argument) => input::object("--variables", argument)?,
        None => input::pairs(&arguments.pairs)?,
    };
    let key = arguments.key;
    let client = arguments.to.connect()?;
    let command = SetVariables { element_instance_key: key, variables: &variables, local: arguments.local };
    let outcome = client.set_variables(&command).await;
    outcome.map_err(|error| Failure::request(format!("set variables of {key}"), &error))?;
    if arguments.to.json {
        output::line(format_args!("{:#}", json!([{ "key": key.to_string(), "set": true }])))?;
    } else {
        output::line(format_args!("set variables of {key}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn get(arguments: &GetArguments) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let key = arguments.key.to_string();
    let mut filter = json!({ "scopeKey": key });
    if let Some(name) = &arguments.name {
        filter["name"] = json!({ "$eq": name });
    }
    let request = json!({ "filter": filter, "sort": [{ "field": "name" }], "page": { "limit": SHOWN_MAX } });
    let request = request.to_string();
    let call = ApiCall::post("/variables/search?truncateValues=false", &request);
    let answer = call::text(&client, &call, format_args!("get variables of {key}")).await?;
    if arguments.to.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = call::read(&answer)?;
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    match (&arguments.name, items) {
        (Some(name), []) => Err(Failure::new(format!("{key} has no variable '{name}'"))),
        (Some(_), [variable, ..]) => {
            output::line(variable["value"].as_str().unwrap_or_default())?;
            Ok(ExitCode::SUCCESS)
        }
        (None, []) => {
            output::note(format_args!("{key} has no variables of its own"));
            Ok(ExitCode::SUCCESS)
        }
        (None, items) => {
            output::text(table::render(&["name", "value"], items))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
