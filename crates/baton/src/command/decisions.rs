//! `baton decisions`.

use std::process::ExitCode;

use ::client::ApiCall;
use serde_json::{Value, json};

use super::{call, definition, input, table};
use crate::cli::{Decisions, DecisionsAction, EvaluateArguments};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Decisions) -> Result<ExitCode, Failure> {
    match &arguments.action {
        DecisionsAction::Evaluate(arguments) => evaluate(arguments).await,
    }
}

async fn evaluate(arguments: &EvaluateArguments) -> Result<ExitCode, Failure> {
    let decision = &arguments.decision;
    let property =
        if definition::is_key(decision) { "decisionDefinitionKey" } else { "decisionDefinitionId" };
    let body = call::object(&[
        (property, Some(call::quoted(decision))),
        ("variables", input::variables(arguments.variables.as_deref())?),
        ("tenantId", arguments.tenant.as_deref().map(call::quoted)),
    ]);
    let client = arguments.to.connect()?;
    let call = ApiCall::post("/decision-definitions/evaluation", &body);
    let answer = call::text(&client, &call, format_args!("evaluate decision '{decision}'")).await?;
    let read = call::read(&answer)?;
    if arguments.to.json {
        output::json(&answer)?;
    } else {
        let rows: Vec<_> = read["evaluatedDecisions"].as_array().into_iter().flatten().map(row).collect();
        output::text(table::render(&["decision", "version", "matchedRules", "output"], &rows))?;
    }
    match read["failureMessage"].as_str().filter(|message| !message.is_empty()) {
        Some(message) => Err(Failure::new(format!("decision '{decision}' failed: {message}"))),
        None if arguments.to.json => Ok(ExitCode::SUCCESS),
        None => {
            output::line(read["output"].as_str().unwrap_or("null"))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// An evaluated decision as people read it.
fn row(decision: &Value) -> Value {
    let rules = decision["matchedRules"].as_array().into_iter().flatten();
    let rules: Vec<_> = rules.filter_map(|rule| Some(rule["ruleIndex"].as_i64()?.to_string())).collect();
    json!({
        "decision": decision["decisionDefinitionId"],
        "version": decision["decisionDefinitionVersion"],
        "matchedRules": rules.join(","),
        "output": decision["output"],
    })
}
