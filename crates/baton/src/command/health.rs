//! `baton health`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::{call, table};
use crate::cli::Health;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Health) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let answer = client.health_for_answer().await;
    let answer = answer.map_err(|error| Failure::request("ask how the server is", &error))?;
    let health = call::read(&answer)?;
    if arguments.json {
        output::json(&answer)?;
    } else {
        let parts = health["components"].as_object().into_iter().flatten();
        let rows: Vec<_> = parts.map(|(name, part)| row(name, part)).collect();
        output::text(table::render(&["part", "status", "reason"], &rows))?;
    }
    Ok(if health["status"] == "UP" { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn row(name: &str, part: &Value) -> Value {
    json!({ "part": name, "status": part["status"], "reason": part["details"]["reason"] })
}
