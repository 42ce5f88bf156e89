//! L1: a million instances that wait.

use bench::Options;
use client::Protocol;

use super::parts::{PROCESS, STANDARD_RATE, nothing_is_lost};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "L1",
    title: "A million waiting instances",
    hypothesis: "Instances that wait cost disk, not memory; others do not notice them, nor does a restart.",
    set_up: "One broker; instances of a process with one task that nobody works, created as fast as they go through.",
    steady_state: "A million of them wait (20,000 in quick size).",
    action: "The standard load of another process beside them; then the server is killed and started again.",
    measurement: "Resident memory, bytes on the disk for each, latency of the load, time of the start, jobs that are \
        there afterwards.",
    reference: "Throughput broke down beyond 100,000 instances.",
    seconds: (28, 300),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const MEMORY_MAX: f64 = 512.0 * 1024.0 * 1024.0;
const START_MAX: f64 = 10.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let wanted = u64::from(lab.count(20_000, 1_000_000));
    let mut server = lab.server(&[]).await?;
    let options = Options {
        instances: Some(wanted),
        warm_up: std::time::Duration::ZERO,
        concurrency: 256,
        connections: Some(64),
        no_workers: true,
        ..lab.load_options(&server, Protocol::Grpc)
    };
    let report = lab.measure("instances are created", options).await?;
    lab.tell("creations", Unit::PerSecond, report.created_per_second);
    lab.expect("creations refused or failed", Unit::Count, Limit::Exactly(0.0), report.errors() as f64);

    let options = Options {
        process: "order".to_owned(),
        rate: Some(lab.pick(50.0, STANDARD_RATE)),
        ..lab.load_options(&server, Protocol::Grpc)
    };
    let beside = lab.measure("load beside them", options).await?;
    lab.tell("request latency, p99", Unit::Seconds, p99(beside.request_latency.as_ref()));
    nothing_is_lost(lab, std::slice::from_ref(&beside));
    lab.expect("resident memory", Unit::Bytes, Limit::AtMost(MEMORY_MAX), server.resident_bytes());
    lab.tell(
        "bytes on the disk for each",
        Unit::Bytes,
        on_disk(server.data()) / report.created.max(1) as f64,
    );

    lab.fault("killed");
    server.kill_and_start().await?;
    let start = server.ready_after.as_secs_f64();
    lab.expect_in_full("time of the start", Unit::Seconds, Limit::AtMost(START_MAX), start);
    // Every acknowledged instance has its task still.
    let filter = serde_json::json!({
        "filter": { "processDefinitionId": PROCESS, "state": "ACTIVE" }, "page": { "limit": 1 }
    });
    let answer = server.rest("POST", "/v2/process-instances/search", Some(&filter)).await?.good("search")?;
    let found = answer.json()["page"]["totalItems"].as_f64().unwrap_or(-1.0);
    const COUNTED_MAX: f64 = 10_000.0;
    let created = (report.created as f64).min(COUNTED_MAX);
    lab.expect(
        "instances found, counted to 10,000",
        Unit::Count,
        Limit::Exactly(created),
        found.min(COUNTED_MAX),
    );
    server.stop().await
}

/// Size of all files below a directory, bytes.
fn on_disk(directory: &std::path::Path) -> f64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0.0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => on_disk(&entry.path()),
            Ok(metadata) => metadata.len() as f64,
            Err(_) => 0.0,
        })
        .sum()
}
