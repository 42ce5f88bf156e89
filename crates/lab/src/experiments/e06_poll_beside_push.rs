//! E6: polls of a worker that has a stream.

use std::time::Duration;

use super::parts::{creations, knobs};
use crate::error::LabError;
use crate::experiment::{Body, Experiment};
use crate::lab::Lab;
use crate::result::Limit;
use crate::unit::Unit;
use crate::until::until;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E6",
    title: "Poll while push is on",
    hypothesis: "A worker with a stream gets its jobs by it; polls are a slow safety net.",
    set_up: "One broker; a worker in a process of its own that polls beside its stream as the Java client does, with \
        three times the room that the load needs.",
    steady_state: "Every job is done soon after it was created.",
    action: "None.",
    measurement: "Polls a second as the worker counts them, and the share of jobs that came by poll.",
    reference: "Activation requests again and again beside the stream.",
    seconds: (15, 90),
    body: Body::Run(|lab| Box::pin(run(lab))),
};

const POLLS_MAX: f64 = 0.3;
const BY_POLL_MAX: f64 = 1.0;

async fn run(lab: &mut Lab) -> Result<(), LabError> {
    let server = lab.server(&[]).await?;
    let threads = lab.pick(12, 32);
    let knobs = knobs(&server, threads, lab.pick((65, 65), (70, 70)), Duration::from_secs(10));
    let worker = lab.worker(&knobs).await?;
    lab.phase("begin");
    let load = lab.load("load", creations(lab, &server, lab.pick(60.0, 150.0)));
    until(Duration::from_secs(60), async || worker.now().completed >= threads as f64 * 4.0).await;
    lab.wait(lab.seconds(1.0, 10.0)).await;
    lab.phase("stream and polls");
    let (length, began) = (lab.seconds(8.0, 60.0), std::time::Instant::now());
    let (before, start) = (worker.now(), server.metrics().await?.jobs());
    lab.wait(length).await;
    lab.keeps_up(&worker, began);
    let (after, jobs) = (worker.now(), server.metrics().await?.jobs().since(&start));
    let polls = (after.polls - before.polls) / length.as_secs_f64();
    lab.expect("polls", Unit::PerSecond, Limit::AtMost(POLLS_MAX), polls);
    // One of both knows.
    let polled = jobs.polled.max(after.polled - before.polled);
    let share = 100.0 * polled / jobs.activated.max(1.0);
    lab.expect("jobs by poll", Unit::Percent, Limit::AtMost(BY_POLL_MAX), share);
    let done = jobs.completed / jobs.created.max(1.0);
    lab.expect_in_full("completions by creations", Unit::Ratio, Limit::AtLeast(0.9), done);
    lab.end(load).await?;
    drop(worker);
    server.stop().await
}
