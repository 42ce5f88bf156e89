//! `baton feel`.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use ::client::ApiCall;
use ::feel::{Context, Environment, Expression, Value as FeelValue};
use serde_json::json;

use super::{call, input};
use crate::cli::Feel;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Feel) -> Result<ExitCode, Failure> {
    let (_, text) = input::text("EXPRESSION", &arguments.expression)?;
    let expression = text.trim().trim_start_matches('=').trim();
    let variables = input::variables(arguments.variables.as_deref())?;
    if arguments.server {
        at_server(arguments, expression, variables).await
    } else {
        here(arguments, expression, variables)
    }
}

fn here(arguments: &Feel, text: &str, variables: Option<String>) -> Result<ExitCode, Failure> {
    let expression = Expression::parse(text)
        .map_err(|error| Failure::usage(format!("the expression is not FEEL: {error}")))?;
    let context = match variables {
        None => Context::new(Vec::new()),
        Some(variables) => match FeelValue::from_json(variables.into_bytes().into()) {
            Ok(FeelValue::Context(context)) => context,
            Ok(_) => unreachable!("it was read as an object"),
            Err(error) => return Err(Failure::usage(format!("--variables: {error}"))),
        },
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let environment = Environment {
        now_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        seed: u64::from(now.subsec_nanos()) ^ now.as_secs(),
        ..Environment::default()
    };
    let evaluation = expression
        .evaluate(&context, &environment)
        .map_err(|error| Failure::new(format!("the expression cannot be evaluated: {error}")))?;
    let result = evaluation.value.to_json_string();
    let warnings: Vec<_> = evaluation.warnings.iter().map(|warning| warning.message.clone()).collect();
    if arguments.to.json {
        let warnings: Vec<_> = warnings.iter().map(|message| json!({ "message": message })).collect();
        output::json(&call::object(&[
            ("expression", Some(call::quoted(&format!("={text}")))),
            ("result", Some(result)),
            ("warnings", Some(json!(warnings).to_string())),
        ]))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(result)?;
    for warning in warnings {
        output::note(format_args!("warning: {warning}"));
    }
    if context.get("camunda").is_none() && expression.variables().iter().any(|name| &**name == "camunda") {
        output::note(
            "note: cluster variables are known at the server: --server evaluates the expression there",
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn at_server(arguments: &Feel, text: &str, variables: Option<String>) -> Result<ExitCode, Failure> {
    let body = call::object(&[
        ("expression", Some(call::quoted(&format!("={text}")))),
        ("variables", variables),
        ("tenantId", arguments.tenant.as_deref().map(call::quoted)),
    ]);
    let client = arguments.to.connect()?;
    let answer =
        call::text(&client, &ApiCall::post("/expression/evaluation", &body), "evaluate the expression")
            .await?;
    if arguments.to.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answer = call::read(&answer)?;
    output::line(&answer["result"])?;
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        output::note(format_args!("warning: {}", warning["message"].as_str().unwrap_or_default()));
    }
    Ok(ExitCode::SUCCESS)
}
