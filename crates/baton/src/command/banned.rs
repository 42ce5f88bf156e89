//! `baton banned`.

use std::process::ExitCode;

use ::client::{BannedInstance, ManagementClient};
use serde_json::json;

use crate::cli::Banned;
use crate::failure::Failure;
use crate::output;

/// Instances that are asked for at a time.
const PAGE: u32 = 100;

pub(crate) async fn run(arguments: &Banned) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    if let Some(key) = arguments.release {
        let done = client.release_instance(key).await;
        done.map_err(|error| Failure::request(format!("release process instance {key}"), &error))?;
        told("released", key, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(key) = arguments.cancel {
        let done = client.cancel_instance(key).await;
        done.map_err(|error| Failure::request(format!("cancel process instance {key}"), &error))?;
        told("canceled", key, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = all(&client).await?;
    if arguments.json {
        output::line(serde_json::to_string_pretty(&found).map_err(Failure::new)?)?;
    } else {
        for instance in &found {
            output::line(describe(instance))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what was done, as the commands do that act on instances.
fn told(word: &str, key: i64, json: bool) -> Result<(), Failure> {
    if json {
        output::line(format_args!("{:#}", json!([{ "key": key.to_string(), word: true }])))
    } else {
        output::line(format_args!("{word} {key}"))
    }
}

async fn all(client: &ManagementClient) -> Result<Vec<BannedInstance>, Failure> {
    let mut found: Vec<BannedInstance> = Vec::new();
    loop {
        let after = found.last().map_or("0", |last| &last.process_instance_key);
        let page = client.banned_instances(after, PAGE).await;
        let page = page.map_err(|error| Failure::request("list banned process instances", &error))?;
        let is_last = page.len() < PAGE as usize;
        found.extend(page);
        if is_last {
            return Ok(found);
        }
    }
}

fn describe(instance: &BannedInstance) -> String {
    let since = jiff::Timestamp::from_millisecond(instance.banned_at_ms).unwrap_or_default();
    format!(
        "{} {} version {}, since {since:.0}: {}",
        instance.process_instance_key,
        instance.process_definition_id,
        instance.process_definition_version,
        instance.reason
    )
}
