//! E1: the standard load over gRPC.

use bench::Options;
use client::Protocol;

use super::parts::{every_job_is_done_once, standard_load};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E1",
    title: "Standard load over gRPC",
    hypothesis: "The standard load is stable over gRPC and takes a small part of a core.",
    set_up: "One broker; a process with one task; a starter and a worker with a job stream, both over gRPC.",
    steady_state: "150 instances a second.",
    action: "None; after it as many instances as go through, 64 at a time.",
    measurement: "Instances ended, latency of requests and of whole instances from their intended start, CPU of the \
        server; jobs as the server counts them.",
    reference: "Three brokers: 150/s, requests 3 to 10 ms, an instance 0.2 s on average, 1.5 cores of each broker.",
    seconds: (14, 100),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    let report = standard_load(lab, &server, Protocol::Grpc).await?;
    every_job_is_done_once(lab, &server, report.unfinished).await?;

    let most = lab.load_options(&server, Protocol::Grpc);
    let report = lab.measure("as much as goes through", Options { no_deploy: true, ..most }).await?;
    lab.tell("instances ended", Unit::PerSecond, report.completed_per_second);
    let cpu = report.server.cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6;
    lab.tell("server CPU for an instance", Unit::Seconds, cpu);
    server.stop().await
}
