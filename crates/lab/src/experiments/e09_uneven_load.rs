//! E9: all clients of a cluster use the same broker.

use std::time::Instant;

use bench::{BENCHMARK_BPMN, Options, Report};
use client::Protocol;

use super::parts::{DONE_MIN, STANDARD_RATE, nothing_is_lost};
use crate::cluster::Cluster;
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, p99};
use crate::result::Limit;
use crate::unit::Unit;
use crate::watch::cpu_seconds;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E9",
    title: "Uneven load",
    hypothesis: "The cost is even enough, whatever broker clients connect to.",
    set_up: "Three brokers on this machine with one partition; a process with one task; starters and workers with a job \
        stream, over gRPC.",
    steady_state: "150 instances a second through the leader (50 in quick size).",
    action: "The same through one of the others alone, and through all three, a third each.",
    measurement: "Instances ended, requests refused, latency of creations, CPU of each broker; CPU of all as a ratio to \
        that of the load through the leader.",
    reference: "Clients of a headless service used one address: one broker took all requests and was throttled.",
    seconds: (34, 120),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const BROKERS: u16 = 3;
const QUICK_RATE: f64 = 50.0;
/// CPU of all brokers, of that with all clients at the leader.
const CPU_MAX: f64 = 1.5;
/// A command through another broker takes one way there and one back more.
const LATENCY_MAX: f64 = 3.0;

/// The cost of a way to the cluster.
struct Cost {
    cpu_percent: f64,
    request_seconds: f64,
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let cluster = lab.cluster(BROKERS).await?;
    let leader = cluster.elected().await?;
    let other = (leader + 1) % BROKERS;
    let at_leader = through(lab, &cluster, "through the leader", &[leader], leader).await?;
    let at_other = through(lab, &cluster, "through another broker", &[other], leader).await?;
    let all: Vec<u16> = (0..BROKERS).collect();
    let at_all = through(lab, &cluster, "through all", &all, leader).await?;
    lab.phase("comparison");
    for (name, cost) in [("another broker", at_other), ("all", at_all)] {
        for (what, here, there, most) in [
            ("CPU of all brokers", cost.cpu_percent, at_leader.cpu_percent, CPU_MAX),
            ("mean request latency", cost.request_seconds, at_leader.request_seconds, LATENCY_MAX),
        ] {
            let figure = format!("{what}, through {name} by through the leader");
            lab.expect_in_full(&figure, Unit::Ratio, Limit::AtMost(most), here / there.max(1e-9));
        }
    }
    let now = cluster.leader(0).await?;
    if now != leader {
        lab.void("another broker became the leader meanwhile");
    }
    Ok(())
}

/// Runs the load through some brokers, a part through each.
async fn through(
    lab: &mut Lab,
    cluster: &Cluster,
    name: &str,
    brokers: &[u16],
    leader: u16,
) -> Result<Cost, LabError> {
    lab.phase(name);
    let rate = lab.pick(QUICK_RATE, STANDARD_RATE);
    let (began, before) = (Instant::now(), spent(cluster)?);
    let mut loads = Vec::new();
    for broker in brokers {
        let options = Options {
            process: process_of(lab, *broker)?,
            rate: Some(rate / brokers.len() as f64),
            ..lab.cluster_load_options(cluster, *broker, Protocol::Grpc)
        };
        loads.push(lab.load(&format!("{name}, broker {broker}"), options));
    }
    let mut reports: Vec<Report> = Vec::new();
    for load in loads {
        reports.push(lab.finish(load).await?);
    }
    let (seconds, after) = (began.elapsed().as_secs_f64(), spent(cluster)?);
    let ended = reports.iter().map(|report| report.completed_per_second).sum();
    lab.expect_in_full("instances ended", Unit::PerSecond, Limit::AtLeast(rate * DONE_MIN), ended);
    nothing_is_lost(lab, &reports);
    let means = reports.iter().filter_map(|report| Some(report.request_latency.as_ref()?.mean_micros));
    let request_seconds = means.fold(0.0, f64::max) / 1e6;
    lab.tell("request latency, mean", Unit::Seconds, request_seconds);
    let slowest = reports.iter().map(|report| p99(report.request_latency.as_ref()));
    lab.tell("request latency, p99", Unit::Seconds, slowest.fold(0.0, f64::max));
    let mut cpu_percent = 0.0;
    for (broker, (before, after)) in (0..).zip(before.iter().zip(&after)) {
        let percent = (after - before) / seconds * 100.0;
        let role = match (broker == leader, brokers.contains(&broker)) {
            (true, true) => "the leader, with clients",
            (true, false) => "the leader, without clients",
            (false, true) => "a follower with clients",
            (false, false) => "a follower without clients",
        };
        lab.tell(&format!("CPU of broker {broker}, {role}"), Unit::Percent, percent);
        cpu_percent += percent;
    }
    lab.tell("CPU of all brokers", Unit::Percent, cpu_percent);
    Ok(Cost { cpu_percent, request_seconds })
}

/// Each broker's load has a process and a type of jobs of its own, so that its workers get its jobs.
fn process_of(lab: &Lab, broker: u16) -> Result<String, LabError> {
    let path = lab.directory().join(format!("uneven-{broker}.bpmn"));
    let model = BENCHMARK_BPMN
        .replace("\"benchmark\"", &format!("\"uneven-{broker}\""))
        .replace("\"benchmark-task\"", &format!("\"uneven-task-{broker}\""));
    std::fs::write(&path, model)
        .map_err(|error| LabError::environment(&format!("write {}", path.display()), error))?;
    Ok(path.display().to_string())
}

/// CPU that each broker has used so far, in seconds.
fn spent(cluster: &Cluster) -> Result<Vec<f64>, LabError> {
    let of = |broker| {
        let cpu = cluster.process(broker).and_then(cpu_seconds);
        cpu.ok_or_else(|| LabError::System(format!("broker {broker} has ended by itself")))
    };
    (0..BROKERS).map(of).collect()
}
