//! `baton health`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::table;
use crate::cli::Health;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Health) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let health = client.health().await.map_err(|error| Failure::request("ask how the server is", &error))?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&health).map_err(Failure::new)?)?;
    } else {
        let row = |part: &::client::HealthPart| -> Value {
            json!({ "part": part.name, "status": if part.is_up { "UP" } else { "DOWN" }, "reason": part.reason })
        };
        let rows: Vec<_> = health.parts.iter().map(row).collect();
        output::text(table::render(&["part", "status", "reason"], &rows))?;
    }
    Ok(if health.is_up { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
