//! E2: the standard load over REST, while jobs are still pushed.

use bench::{Options, Report};
use client::Protocol;

use super::parts::{every_job_is_done_once, standard_load};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E2",
    title: "REST instead of gRPC",
    hypothesis: "REST costs no more CPU per request than gRPC and reaches at least the same throughput.",
    set_up: "One broker; a process with one task; a starter and a worker over REST, jobs by a stream.",
    steady_state: "150 instances a second over REST.",
    action: "As many instances as go through, 64 at a time, over REST and over gRPC in turns.",
    measurement: "As in E1; throughput and CPU for an instance of both, as a ratio within this run.",
    reference: "Throughput 70 % less, requests 50 ms on average and 120 ms later, an instance more than 60 s, twice \
        the CPU, workers killed for lack of memory at 256 MiB.",
    seconds: (26, 170),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

/// Throughput of REST by that of gRPC. REST must reach nine tenths, so that turns of a busy machine decide nothing.
const THROUGHPUT_MIN: f64 = 0.9;
const CPU_MAX: f64 = 1.1;
/// Least ratio of throughput on a machine that does other things, with a build that is not optimized.
const THROUGHPUT_ANYWHERE_MIN: f64 = 0.5;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    lab.published(PlotKind::Latency, "request, mean over REST", 50.0);
    let report = standard_load(lab, &server, Protocol::Rest).await?;
    every_job_is_done_once(lab, &server, report.unfinished).await?;

    let (mut rest, mut grpc) = (Vec::new(), Vec::new());
    for _ in 0..lab.pick(1, 3) {
        rest.push(most(lab, &server, Protocol::Rest).await?);
        grpc.push(most(lab, &server, Protocol::Grpc).await?);
    }
    lab.phase("comparison");
    let rates =
        |reports: &[Report]| reports.iter().map(|report| report.completed_per_second).collect::<Vec<_>>();
    let cpus = |reports: &[Report]| {
        let cpu = |report: &Report| report.server.cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6;
        reports.iter().map(cpu).collect::<Vec<_>>()
    };
    lab.tell_all("at most over REST", Unit::PerSecond, &rates(&rest));
    lab.tell_all("at most over gRPC", Unit::PerSecond, &rates(&grpc));
    lab.tell_all("server CPU for an instance over REST", Unit::Seconds, &cpus(&rest));
    lab.tell_all("server CPU for an instance over gRPC", Unit::Seconds, &cpus(&grpc));
    let sum = |values: Vec<f64>| values.iter().sum::<f64>();
    let throughput = sum(rates(&rest)) / sum(rates(&grpc)).max(1e-9);
    let least = lab.pick(THROUGHPUT_ANYWHERE_MIN, THROUGHPUT_MIN);
    lab.expect("throughput, REST by gRPC", Unit::Ratio, Limit::AtLeast(least), throughput);
    let cpu = sum(cpus(&rest)) / sum(cpus(&grpc)).max(1e-9);
    lab.expect_in_full("CPU for an instance, REST by gRPC", Unit::Ratio, Limit::AtMost(CPU_MAX), cpu);
    server.stop().await
}

async fn most(lab: &mut Lab, server: &Server, protocol: Protocol) -> Result<Report, LabError> {
    let name = match protocol {
        Protocol::Rest => "most over REST",
        Protocol::Grpc => "most over gRPC",
    };
    let options = Options { no_deploy: true, ..lab.load_options(server, protocol) };
    lab.measure(name, options).await
}
