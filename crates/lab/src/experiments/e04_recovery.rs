//! E4: recovery after workers were away and after overload.

use std::time::{Duration, Instant};

use super::parts::{creations, knobs};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::{Lab, seconds_of};
use crate::load::Load;
use crate::result::{Limit, PlotKind};
use crate::server::Server;
use crate::unit::Unit;
use crate::until::until;
use crate::worker::Worker;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E4",
    title: "Recovery after overload",
    hypothesis: "After a worker was frozen or killed, and after overload, the system returns to its steady state by \
        itself within seconds; completions that are refused stay near zero.",
    set_up: "One broker; a worker in a process of its own with threads that block and a job stream, as the Java \
        client has it; load of two thirds of what it can do.",
    steady_state: "Completions as fast as creations.",
    action: "The worker is stopped for one and a half job timeouts and let go on; it is killed with jobs in its \
        hands, and another one starts; the load is twice as high for a while.",
    measurement: "Seconds until completions reach 80 % of the load in every job timeout that follows and refused ones \
        are at most 1 %; refused completions from then on; the backlog after overload.",
    reference: "Never recovered: a backlog, timeouts, jobs that were activated again, some 500 refused completions/s.",
    seconds: (45, 270),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const STEADY_MIN: f64 = 0.8;
const REFUSED_MAX: f64 = 0.01;

/// Numbers by size.
struct Scene {
    threads: usize,
    work_ms: u64,
    timeout: Duration,
    per_second: f64,
    before: Duration,
    after: Duration,
    steady_max: Duration,
}

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let scene = Scene {
        threads: lab.pick(12, 32),
        work_ms: lab.pick(130, 140),
        timeout: Duration::from_secs(lab.pick(2, 10)),
        per_second: lab.pick(60.0, 150.0),
        before: lab.seconds(2.0, 15.0),
        after: Duration::from_secs(lab.pick(9, 50)),
        steady_max: Duration::from_secs(lab.pick(6, 20)),
    };
    let server = lab.server(&[]).await?;
    lab.published(PlotKind::Rejections, "500 refused completions/s", 500.0);
    lab.phase("steady load");
    let work = (scene.work_ms, scene.work_ms);
    let knobs = knobs(&server, scene.threads, work, scene.timeout);
    let load = lab.load("load", creations(lab, &server, scene.per_second));
    let worker = lab.worker(&knobs).await?;
    let is_warm = async || worker.now().completed >= scene.threads as f64 * 4.0;
    until(Duration::from_secs(60), is_warm).await;
    lab.wait(scene.before).await;

    lab.fault("worker frozen");
    worker.freeze()?;
    lab.wait(scene.timeout.mul_f64(1.5)).await;
    worker.thaw()?;
    let thawed = Instant::now();
    lab.phase("worker goes on");
    lab.wait(scene.after).await;
    judge(lab, &worker, thawed, &scene);

    lab.fault("worker killed");
    worker.kill().await?;
    lab.wait(scene.timeout / 4).await;
    let again = Instant::now();
    let worker = lab.worker(&knobs).await?;
    lab.phase("another worker");
    lab.wait(scene.after).await;
    judge(lab, &worker, again, &scene);

    overload(lab, &server, &worker, &scene, load).await?;
    drop(worker);
    server.stop().await
}

/// Twice the load for a while: the backlog that it leaves is worked off.
async fn overload(
    lab: &mut Lab,
    server: &Server,
    worker: &Worker,
    scene: &Scene,
    load: Load,
) -> Result<(), LabError> {
    let (refused, began) = (worker.now().refused, Instant::now());
    lab.fault("twice the load");
    let more = lab.load(
        "as much again",
        bench::Options { no_deploy: true, ..creations(lab, server, scene.per_second) },
    );
    lab.wait(lab.seconds(3.0, 30.0)).await;
    lab.end(more).await?;
    lab.phase("the load as before");
    // At most what a second of load brings, and what the worker holds anyway.
    let few = scene.per_second + scene.threads as f64 * 2.0;
    let is_small = async || {
        let jobs = server.metrics().await.map(|metrics| metrics.jobs());
        jobs.is_ok_and(|jobs| jobs.created - jobs.completed <= few)
    };
    // The worker can do half as much again as the load.
    let patience = lab.seconds(20.0, 150.0);
    let took = until(patience, is_small).await;
    let limit = Limit::AtMost(patience.as_secs_f64());
    lab.expect("time until the backlog is gone", Unit::Seconds, limit, seconds_of(took));
    let share =
        (worker.now().refused - refused) / (scene.per_second * took.unwrap_or(patience).as_secs_f64());
    let limit = Limit::AtMost(100.0 * REFUSED_MAX);
    lab.expect("refused completions, of the load", Unit::Percent, limit, share * 100.0);

    lab.keeps_up(worker, began);
    let report = lab.end(load).await?;
    let sum: u64 = report.rejections.values().chain(report.failures.values()).sum();
    lab.expect("creations refused or failed", Unit::Count, Limit::Exactly(0.0), sum as f64);
    let all = async || {
        server.metrics().await.is_ok_and(|metrics| {
            let jobs = metrics.jobs();
            jobs.completed >= jobs.created
        })
    };
    let took = until(scene.after * 2, all).await;
    let left = server.metrics().await?.jobs();
    let left = left.created - left.completed;
    lab.expect("jobs that are never done", Unit::Count, Limit::Exactly(0.0), left);
    lab.tell("time until the last one was done", Unit::Seconds, seconds_of(took));
    Ok(())
}

fn judge(lab: &mut Lab, worker: &Worker, since: Instant, scene: &Scene) {
    let ended = Instant::now();
    lab.keeps_up(worker, since);
    let steady = steady(worker, since, ended, scene);
    let limit = Limit::AtMost(scene.steady_max.as_secs_f64());
    lab.expect("time until steady", Unit::Seconds, limit, seconds_of(steady));
    let from = since + steady.unwrap_or(scene.after / 2);
    let refused = worker.at(ended).refused - worker.at(from).refused;
    let share = refused / (scene.per_second * (ended - from).as_secs_f64());
    let limit = Limit::AtMost(100.0 * REFUSED_MAX);
    lab.expect("refused completions from then on, of the load", Unit::Percent, limit, share * 100.0);
    let counts = worker.now();
    let handled = counts.completed + counts.refused + counts.failed;
    lab.tell("work done twice", Unit::Percent, 100.0 * counts.refused / handled.max(1.0));
}

/// The first time from which on, in every job timeout, enough is completed and next to nothing refused.
fn steady(worker: &Worker, since: Instant, ended: Instant, scene: &Scene) -> Option<Duration> {
    let window = scene.timeout;
    let step = window / 10;
    let load = scene.per_second * window.as_secs_f64();
    let is_good = |from: Instant| {
        let (first, last) = (worker.at(from), worker.at(from + window));
        // One refusal is noise whatever its share.
        last.refused - first.refused <= (load * REFUSED_MAX).max(1.0)
            && last.completed - first.completed >= load * STEADY_MIN
    };
    let starts = (ended - since).saturating_sub(window).as_millis() / step.as_millis();
    let mut first = None;
    for number in 0..=starts as u32 {
        let from = step * number;
        if !is_good(since + from) {
            first = None;
        } else if first.is_none() {
            first = Some(from);
        }
    }
    first
}
