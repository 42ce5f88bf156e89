//! `baton status`.

use std::process::ExitCode;

use ::client::Topology;

use crate::cli::Status;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Status) -> Result<ExitCode, Failure> {
    let client = arguments.target.connect()?;
    let topology = client.topology().await.map_err(|error| Failure::request("ask for the status", &error))?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&topology).map_err(Failure::new)?;
        output::line(text)?;
    } else {
        output::text(describe(&topology))?;
    }
    let partitions = topology.brokers.iter().flat_map(|broker| &broker.partitions);
    let healthy = partitions.clone().next().is_some() && partitions.clone().all(|p| p.health == "healthy");
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn describe(topology: &Topology) -> String {
    let mut text = format!(
        "gateway {}, {} of {} brokers, {} partitions, {} replicas each\n",
        topology.gateway_version,
        topology.brokers.len(),
        topology.cluster_size,
        topology.partitions_count,
        topology.replication_factor,
    );
    for broker in &topology.brokers {
        text +=
            &format!("broker {} at {}:{}, {}\n", broker.node_id, broker.host, broker.port, broker.version);
        for partition in &broker.partitions {
            text += &format!(
                "  partition {}: {}, {}\n",
                partition.partition_id, partition.role, partition.health
            );
        }
    }
    text
}
