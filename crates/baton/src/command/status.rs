//! `baton status`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ::client::{ApiCall, Client};
use serde_json::Value;

use super::call;
use crate::cli::Status;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Status) -> Result<ExitCode, Failure> {
    let failed = |error: ::client::Error| Failure::request("ask for the status", &error);
    let (answer, cluster) = match arguments.target.connect()? {
        Client::Rest(client) => {
            let answer = client.call(&ApiCall::get("/topology")).await.map_err(failed)?;
            // Only for those who may look after the system; others see the topology.
            (answer, client.call(&ApiCall::get("/cluster").of_baton()).await.ok())
        }
        Client::Grpc(client) => {
            let topology = client.topology().await.map_err(failed)?;
            (serde_json::to_string(&topology).map_err(Failure::new)?, None)
        }
    };
    let topology = call::read(&answer)?;
    let cluster = cluster.map(|cluster| call::read(&cluster)).transpose()?;
    let reasons = cluster.as_ref().map(reasons_of).unwrap_or_default();
    if arguments.json {
        output::json(&answer)?;
    } else {
        let agreement = cluster.as_ref().map(agreement).unwrap_or_default();
        output::text(describe(&topology, &reasons) + &agreement)?;
    }
    let partitions = || list(&topology["brokers"]).iter().flat_map(|broker| list(&broker["partitions"]));
    let healthy = partitions().next().is_some() && partitions().all(|p| p["health"] == "healthy");
    let healthy = healthy && reasons.is_empty();
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Why brokers cannot serve now, by their numbers.
fn reasons_of(cluster: &Value) -> BTreeMap<u64, String> {
    let reason = |broker: &Value| Some((broker["id"].as_u64()?, broker["reason"].as_str()?.to_owned()));
    list(&cluster["brokers"]).iter().filter_map(reason).collect()
}

fn describe(topology: &Value, reasons: &BTreeMap<u64, String>) -> String {
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
        let reason = broker["nodeId"].as_u64().and_then(|number| reasons.get(&number));
        lines.extend(reason.map(|reason| format!("  not ready: {reason}\n")));
    }
    lines
}

/// The brokers that vote, if there are several, and settings that differ between brokers.
fn agreement(cluster: &Value) -> String {
    let voters: Vec<String> = list(&cluster["voters"]).iter().map(Value::to_string).collect();
    let mut lines =
        if voters.len() > 1 { format!("voters: brokers {}\n", voters.join(", ")) } else { String::new() };
    for difference in list(&cluster["differences"]) {
        let value = |of: &str| difference[of].as_str().unwrap_or("no such setting").to_owned();
        lines += &format!(
            "warning: {} differs: {} here, {} on broker {}\n",
            difference["setting"].as_str().unwrap_or_default(),
            value("here"),
            value("there"),
            difference["broker"],
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voters_and_settings_that_differ_are_told() {
        let difference = serde_json::json!({"broker": 2, "setting": "limits.x", "here": "1", "there": null});
        let cluster = serde_json::json!({"voters": [0, 1, 2], "differences": [difference]});
        assert_eq!(
            agreement(&cluster),
            "voters: brokers 0, 1, 2\nwarning: limits.x differs: 1 here, no such setting on broker 2\n"
        );
        assert_eq!(agreement(&serde_json::json!({"voters": [0], "differences": []})), "");
    }
}
