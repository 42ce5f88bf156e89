//! Parts that several experiments have.

use bench::{Options, Report};
use client::Protocol;

use crate::error::LabError;
use crate::lab::{Lab, p50, p99, seconds_of};
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;
use crate::worker::Knobs;

/// Instances a second of the standard load.
pub(crate) const STANDARD_RATE: f64 = 150.0;
/// The part of the load that must be done.
pub(crate) const DONE_MIN: f64 = 0.98;
/// When nothing more was completed for so long, nothing is going to be.
const QUIET_MAX: std::time::Duration = std::time::Duration::from_secs(10);

/// The server publishes its figures once a second.
const PUBLISHED_AFTER: std::time::Duration = std::time::Duration::from_millis(1500);

/// The standard load over a protocol on a new server, with the figures that every report begins with.
pub(crate) async fn standard_load(
    lab: &mut Lab,
    server: &Server,
    protocol: Protocol,
) -> Result<Report, LabError> {
    lab.published(PlotKind::Rate, "150 instances/s", STANDARD_RATE);
    let options = Options {
        rate: Some(STANDARD_RATE),
        duration: lab.seconds(4.0, 60.0),
        ..lab.load_options(server, protocol)
    };
    let name = match protocol {
        Protocol::Grpc => "standard load over gRPC",
        Protocol::Rest => "standard load over REST",
    };
    let report = lab.measure(name, options).await?;
    figures(lab, &report);
    Ok(report)
}

/// Rates, latencies and cost of a report; what must be is judged.
pub(crate) fn figures(lab: &mut Lab, report: &Report) {
    let rate = report.completed_per_second;
    let wanted = STANDARD_RATE * DONE_MIN;
    lab.expect_in_full("instances ended", Unit::PerSecond, Limit::AtLeast(wanted), rate);
    let request = report.request_latency.as_ref();
    let mean = request.map_or(f64::INFINITY, |latency| latency.mean_micros / 1e6);
    lab.tell("request latency, mean", Unit::Seconds, mean);
    lab.tell("request latency, p99", Unit::Seconds, p99(request));
    let execution = report.execution_latency.as_ref();
    lab.tell("instance, p50", Unit::Seconds, p50(execution));
    lab.expect_in_full("instance, p99", Unit::Seconds, Limit::AtMost(0.010), p99(execution));
    let server = &report.server;
    lab.tell("server CPU", Unit::Percent, server.cpu_percent_of_core.unwrap_or(f64::INFINITY));
    let generator = report.generator_cpu_micros_per_instance.unwrap_or(f64::INFINITY) / 1e6;
    lab.tell("CPU of the lab for an instance", Unit::Seconds, generator);
    nothing_is_lost(lab, std::slice::from_ref(report));
}

/// Nothing is refused, nothing fails, and every instance is seen to end, of loads that ran side by side.
pub(crate) fn nothing_is_lost(lab: &mut Lab, reports: &[Report]) {
    let sum = |counts: fn(&Report) -> u64| reports.iter().map(counts).sum::<u64>() as f64;
    for (figure, count) in [
        ("requests rejected", sum(|report| report.rejections.values().sum())),
        ("requests failed", sum(|report| report.failures.values().sum())),
        ("instances not seen to end", sum(|report| report.unfinished)),
    ] {
        lab.expect(figure, Unit::Count, Limit::Exactly(0.0), count);
    }
}

/// As the server counts: every job that was created is completed, and was handed out once. A load generator that has
/// not seen all ends within its time has stopped its workers, and then jobs may be left without a fault of the server.
pub(crate) async fn every_job_is_done_once(
    lab: &mut Lab,
    server: &Server,
    unfinished: u64,
) -> Result<(), LabError> {
    let began = std::time::Instant::now();
    // Published figures are older than the last answers.
    tokio::time::sleep(PUBLISHED_AFTER).await;
    let mut jobs = server.metrics().await?.jobs();
    let (mut last, mut since) = (jobs.completed, began);
    while jobs.completed < jobs.created && since.elapsed() < QUIET_MAX {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        jobs = server.metrics().await?.jobs();
        if jobs.completed > last {
            (last, since) = (jobs.completed, std::time::Instant::now());
        }
    }
    let left = jobs.created - jobs.completed;
    let rest = (left <= 0.0).then(|| began.elapsed());
    let figure = "jobs created and not completed";
    if unfinished == 0 {
        lab.expect_fact(figure, Unit::Count, Limit::Exactly(0.0), left);
    } else {
        lab.expect(figure, Unit::Count, Limit::Exactly(0.0), left);
    }
    let again = jobs.activated - jobs.created;
    lab.expect("jobs handed out again", Unit::Count, Limit::Exactly(0.0), again);
    lab.tell("time until the last one was done", Unit::Seconds, seconds_of(rest));
    Ok(())
}

/// The process and the job type of most experiments.
pub(crate) const PROCESS: &str = "benchmark";
pub(crate) const JOB: &str = "benchmark-task";

/// Creations alone, at a steady rate, until they are ended.
pub(crate) fn creations(lab: &Lab, server: &Server, per_second: f64) -> Options {
    Options {
        rate: Some(per_second),
        no_workers: true,
        warm_up: std::time::Duration::ZERO,
        duration: crate::load::UNTIL_ENDED,
        ..lab.load_options(server, Protocol::Rest)
    }
}

/// A worker with a job stream, of threads that block.
pub(crate) fn knobs(
    server: &Server,
    threads: usize,
    work: (u64, u64),
    timeout: std::time::Duration,
) -> Knobs {
    let millis = std::time::Duration::from_millis;
    Knobs {
        rest: server.address("rest").to_owned(),
        grpc: server.address("grpc").to_owned(),
        job_type: JOB.to_owned(),
        threads,
        capacity: threads,
        timeout,
        work: (millis(work.0), millis(work.1)),
        streams: true,
        // That of the Java client holds many seconds of work; a short experiment needs a smaller one.
        window_bytes: if lab_is_short(timeout) { 208 * 1024 } else { 1024 * 1024 },
        prefers_rest: true,
    }
}

fn lab_is_short(timeout: std::time::Duration) -> bool {
    timeout < std::time::Duration::from_secs(5)
}

/// Requests of any kind at a steady rate for a while; the answers in their order.
pub(crate) async fn at_rate<T, F>(
    per_second: u32,
    length: std::time::Duration,
    request: impl Fn(u64) -> F,
) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let mut ticks = tokio::time::interval(std::time::Duration::from_secs(1) / per_second);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let count = (f64::from(per_second) * length.as_secs_f64()) as u64;
    let mut answers = Vec::new();
    for number in 0..count {
        ticks.tick().await;
        answers.push(tokio::spawn(request(number)));
    }
    let mut all = Vec::new();
    for answer in answers {
        all.extend(answer.await);
    }
    all
}
