//! `baton status`.

use std::process::ExitCode;

use ::client::{ApiCall, Client};
use serde_json::Value;

use super::call;
use crate::cli::Status;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Status) -> Result<ExitCode, Failure> {
    let failed = |error: ::client::Error| Failure::request("ask for the status", &error);
    let answer = match arguments.target.connect()? {
        Client::Rest(client) => client.call(&ApiCall::get("/topology")).await.map_err(failed)?,
        Client::Grpc(client) => {
            serde_json::to_string(&client.topology().await.map_err(failed)?).map_err(Failure::new)?
        }
    };
    let topology = call::read(&answer)?;
    if arguments.json {
        output::json(&answer)?;
    } else {
        output::text(describe(&topology))?;
    }
    let partitions = || list(&topology["brokers"]).iter().flat_map(|broker| list(&broker["partitions"]));
    let healthy = partitions().next().is_some() && partitions().all(|p| p["health"] == "healthy");
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn describe(topology: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = format!(
        "gateway {}, {} of {} brokers, {} partitions, {} replicas each\n",
        text(&topology["gatewayVersion"]),
        list(&topology["brokers"]).len(),
        topology["clusterSize"],
        topology["partitionsCount"],
        topology["replicationFactor"],
    );
    for broker in list(&topology["brokers"]) {
        let (host, version) = (text(&broker["host"]), text(&broker["version"]));
        lines += &format!("broker {} at {host}:{}, {version}\n", broker["nodeId"], broker["port"]);
        for partition in list(&broker["partitions"]) {
            let (role, health) = (text(&partition["role"]), text(&partition["health"]));
            lines += &format!("  partition {}: {role}, {health}\n", partition["partitionId"]);
        }
    }
    lines
}
