//! E5: long jobs, more than one worker can do, and a second worker joins.

use std::time::Instant;

use crate::child::Child;
use crate::report::Row;
use crate::scene::{self, Scene};
use crate::size::Size;

const NAME: &str = "second worker";
/// Activations for each job.
const ACTIVATIONS_MAX: f64 = 1.02;

pub(crate) async fn helps(size: Size, is_java: bool) -> Vec<Row> {
    let scene = Scene::start(size, is_java).await;
    let mut knobs = scene.knobs();
    (knobs.threads, knobs.capacity) = (size.long_capacity, size.long_capacity);
    (knobs.work, knobs.timeout) = (size.long_work, size.long_timeout);
    let load = scene.load(size.long_per_second);
    let first = scene.worker(&knobs).await;
    let is_warm = |worker: &Child| worker.now().completed >= size.long_capacity as u64;
    scene::until("the first worker is warm", || is_warm(&first)).await;
    tokio::time::sleep(size.settle).await;
    let began = Instant::now();
    let start = scene.jobs().await;
    tokio::time::sleep(size.phase).await;
    let one = scene.jobs().await.since(&start);
    let one_seconds = began.elapsed().as_secs_f64();
    let outstanding_one = scene.outstanding_max(began);

    let second = scene.worker(&knobs).await;
    scene::until("the second worker is warm", || is_warm(&second)).await;
    tokio::time::sleep(size.settle).await;
    let joined = Instant::now();
    let middle = scene.jobs().await;
    tokio::time::sleep(size.phase).await;
    let end = scene.jobs().await;
    let two = end.since(&middle);
    let two_seconds = joined.elapsed().as_secs_f64();
    let outstanding_two = scene.outstanding_max(joined);
    load.end().await.assert_sound();

    let goodput = (one.completed / one_seconds, two.completed / two_seconds);
    let capacity = size.long_capacity as f64;
    let refused = first.now().refused + second.now().refused;
    let rows = vec![
        Row::told(NAME, "completions/s with one", goodput.0),
        Row::told(NAME, "completions/s with two", goodput.1),
        Row::at_least(NAME, "two by one", goodput.1 / goodput.0.max(1e-9), size.second_gain_min),
        Row::at_most(NAME, "activations by jobs with two", two.activations_per_job(), ACTIVATIONS_MAX),
        Row::at_most(NAME, "activations by jobs in all", end.activations_per_job(), ACTIVATIONS_MAX),
        Row::at_most(
            NAME,
            "outstanding with one, by capacity",
            outstanding_one / capacity,
            size.outstanding_max,
        ),
        Row::at_most(
            NAME,
            "outstanding with two, by capacity of both",
            outstanding_two / capacity / 2.0,
            size.outstanding_max,
        ),
        Row::told(NAME, "refused completions", refused as f64),
        Row::told(NAME, "jobs by poll", end.polled),
        Row::told(NAME, "timeouts", end.timed_out),
    ];
    drop((first, second));
    scene.end().await;
    rows
}
