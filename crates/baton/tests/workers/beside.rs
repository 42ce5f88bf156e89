//! E6: what goes by poll beside a stream, and how much a worker is given that finishes nothing.

use std::time::{Duration, Instant};

use crate::creation::Creation;
use crate::report::Row;
use crate::scene::{self, JOB, Scene};
use crate::size::Size;

/// Polls a second beside a stream.
const POLLS_MAX: f64 = 0.3;
/// Jobs by poll, of all.
const BY_POLL_MAX: f64 = 0.01;
/// Of a worker that finishes nothing.
const CAPACITY: usize = 32;
/// Nothing is activated for so long: nothing comes any more.
const QUIET: Duration = Duration::from_secs(2);
/// It has all that it wants after so long.
const HELD_AFTER_MAX: Duration = Duration::from_secs(30);
/// Longer than every experiment.
const NEVER: Duration = Duration::from_secs(3_600);

/// A worker with room to spare gets everything by its stream.
pub(crate) async fn polls_are_rare(size: Size, is_java: bool) -> Vec<Row> {
    const NAME: &str = "polls beside a stream";
    let scene = Scene::start(size, is_java).await;
    let mut knobs = scene.knobs();
    // A third of what it can do, so that nothing waits for a place.
    knobs.work = (size.work / 2, size.work / 2);
    let worker = scene.worker(&knobs).await;
    let load = scene.load(size.per_second);
    scene::until("the worker is warm", || worker.now().completed >= size.threads as u64 * 4).await;
    tokio::time::sleep(size.before).await;
    let (before, start) = (worker.now(), scene.jobs().await);
    tokio::time::sleep(size.beside).await;
    let (after, jobs) = (worker.now(), scene.jobs().await.since(&start));
    let polls = after.polls - before.polls;
    load.end().await.assert_sound();
    // One of them knows.
    let by_poll = jobs.polled.max((after.polled - before.polled) as f64);
    let rows = vec![
        Row::at_most(NAME, "polls/s", polls as f64 / size.beside.as_secs_f64(), POLLS_MAX),
        Row::at_most(NAME, "jobs by poll, %", 100.0 * by_poll / jobs.activated.max(1.0), 100.0 * BY_POLL_MAX),
        Row::at_least(NAME, "completions by creations", jobs.completed / jobs.created.max(1.0), 0.9),
    ];
    drop(worker);
    scene.end().await;
    rows
}

/// A worker that holds what it has and finishes nothing is given no more than twice its capacity.
pub(crate) async fn is_not_flooded(size: Size, is_java: bool) -> Vec<Row> {
    const NAME: &str = "finishes nothing";
    let mut rows = Vec::new();
    for bytes in [20, 2_000] {
        let scene = Scene::start(size, is_java).await;
        let mut knobs = scene.knobs();
        (knobs.work, knobs.timeout) = ((NEVER, NEVER), NEVER);
        // That of the client when nothing is said.
        (knobs.threads, knobs.capacity) = (CAPACITY, CAPACITY);
        knobs.window_bytes = 1024 * 1024;
        let worker = scene.worker(&knobs).await;
        let variables = format!(r#"{{"payload":"{}"}}"#, "x".repeat(bytes));
        let load = Creation::start(scene.client.clone(), JOB, size.per_second * 4, variables);
        while load.created.count() < u64::from(size.held) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        load.end().await.assert_sound();
        let jobs = scene.settles(QUIET).await;
        let figure = format!("outstanding by capacity, jobs of {bytes} bytes");
        rows.push(Row::at_most(NAME, &figure, jobs.outstanding() / knobs.capacity as f64, 2.0));
        rows.push(Row::at_least(
            NAME,
            "the same at the least",
            jobs.outstanding() / knobs.capacity as f64,
            1.0,
        ));
        drop(worker);
        scene.end().await;
    }
    rows
}

/// A worker that wants to hold many jobs for hours is given them, where a setting says so: the client polls once
/// for them and not again before one has ended.
pub(crate) async fn holds_many(size: Size, is_java: bool) -> Vec<Row> {
    const NAME: &str = "holds all on purpose";
    let held = size.held;
    let settings =
        [format!("jobs.first_stream_credits={JOB}={held}"), format!("jobs.max_stream_credit={held}")];
    let scene = Scene::start_with(size, is_java, &settings).await;
    let mut knobs = scene.knobs();
    (knobs.work, knobs.timeout) = ((NEVER, NEVER), NEVER);
    knobs.capacity = size.held as usize * 2;
    let worker = scene.worker(&knobs).await;
    let load = scene.load(size.per_second * 4);
    while load.created.count() < u64::from(size.held) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let created = load.end().await;
    created.assert_sound();
    let end = Instant::now() + HELD_AFTER_MAX;
    while scene.jobs().await.outstanding() < created.count() as f64 && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let share = 100.0 * scene.jobs().await.outstanding() / created.count() as f64;
    let row = Row::at_least(NAME, "jobs that it holds, % of all", share, 100.0);
    drop(worker);
    scene.end().await;
    vec![row]
}
