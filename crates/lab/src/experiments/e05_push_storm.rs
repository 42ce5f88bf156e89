//! E5: a second worker stream opens under load.

use std::time::{Duration, Instant};

use super::parts::{creations, knobs};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::metrics::JobCounts;
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;
use crate::worker::Worker;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E5",
    title: "Job push storm",
    hypothesis: "Jobs are pushed only against demand: a second worker doubles what is done, and no job is handed out \
        twice.",
    set_up: "One broker; workers in processes of their own with threads that block, a job stream and slow jobs; more \
        load than both can do.",
    steady_state: "One worker completes as many jobs as it has threads for.",
    action: "A second worker joins; then one of both is killed with jobs in its hands.",
    measurement: "Completions a second with one and with two workers, activations for each job, jobs outstanding by \
        capacity.",
    reference: "More jobs were pushed than workers could hold: failures and completions that were refused, until \
        nothing went on.",
    seconds: (42, 190),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const CAPACITY: usize = 32;
const ACTIVATIONS_MAX: f64 = 1.02;
const OUTSTANDING_MAX: f64 = 2.0;
/// Time between two looks at what is outstanding.
const LOOK_PACE: Duration = Duration::from_millis(200);

/// One phase with some number of workers.
struct Stretch {
    jobs: JobCounts,
    per_second: f64,
    outstanding_max: f64,
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let timeout = Duration::from_secs(lab.pick(4, 10));
    let server = lab.server(&[]).await?;
    let knobs = knobs(&server, CAPACITY, lab.pick((400, 2_000), (1_000, 5_000)), timeout);
    lab.phase("one worker begins");
    let load = lab.load("load", creations(lab, &server, lab.pick(75.0, 30.0)));
    let first = lab.worker(&knobs).await?;
    warm(lab, &first).await;
    lab.phase("one worker");
    let began = Instant::now();
    let one = stretch(lab, &server).await?;
    lab.keeps_up(&first, began);
    lab.tell("completions", Unit::PerSecond, one.per_second);
    outstanding(lab, &one, 1.0);

    lab.phase("a second one begins");
    let second = lab.worker(&knobs).await?;
    warm(lab, &second).await;
    lab.phase("two workers");
    let began = Instant::now();
    let two = stretch(lab, &server).await?;
    lab.keeps_up(&second, began);
    lab.tell("completions", Unit::PerSecond, two.per_second);
    let gain = two.per_second / one.per_second.max(1e-9);
    lab.expect("completions of two by those of one", Unit::Ratio, Limit::AtLeast(lab.pick(1.5, 1.8)), gain);
    let again = two.jobs.activations_per_job();
    lab.expect("activations by jobs", Unit::Ratio, Limit::AtMost(ACTIVATIONS_MAX), again);
    outstanding(lab, &two, 2.0);
    let refused = first.now().refused + second.now().refused;
    lab.expect("completions refused", Unit::Count, Limit::AtMost(lab.pick(5.0, 10.0)), refused);

    lab.fault("one of them is killed");
    second.kill().await?;
    lab.wait(timeout).await;
    lab.phase("one worker again");
    let rest = stretch(lab, &server).await?;
    let share = rest.per_second / one.per_second.max(1e-9);
    lab.expect("completions by those of one before", Unit::Ratio, Limit::AtLeast(0.7), share);
    let report = lab.end(load).await?;
    let sum: u64 = report.rejections.values().chain(report.failures.values()).sum();
    lab.expect("creations refused or failed", Unit::Count, Limit::Exactly(0.0), sum as f64);
    drop(first);
    server.stop().await
}

fn outstanding(lab: &mut Lab, stretch: &Stretch, workers: f64) {
    let share = stretch.outstanding_max / (CAPACITY as f64 * workers);
    lab.expect_fact(
        "outstanding by capacity, at the most",
        Unit::Ratio,
        Limit::AtMost(OUTSTANDING_MAX),
        share,
    );
}

async fn warm(lab: &Lab, worker: &Worker) {
    let is_warm = async || worker.now().completed >= CAPACITY as f64;
    until(Duration::from_secs(60), is_warm).await;
    lab.wait(lab.seconds(2.0, 10.0)).await;
}

async fn stretch(lab: &Lab, server: &Server) -> Result<Stretch, LabError> {
    let (began, before) = (Instant::now(), server.metrics().await?.jobs());
    let end = began + lab.seconds(6.0, 40.0);
    let mut outstanding_max = 0.0_f64;
    let mut jobs = before;
    while Instant::now() < end {
        tokio::time::sleep(LOOK_PACE).await;
        jobs = server.metrics().await?.jobs();
        outstanding_max = outstanding_max.max(jobs.outstanding());
        lab.point(PlotKind::Backlog, "jobs with workers", jobs.outstanding());
    }
    let jobs = jobs.since(&before);
    Ok(Stretch { jobs, per_second: jobs.completed / began.elapsed().as_secs_f64(), outstanding_max })
}
