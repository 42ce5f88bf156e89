//! E4: a worker is frozen for one and a half job timeouts under load that it can carry, and goes on.

use std::time::{Duration, Instant};

use crate::child::Child;
use crate::report::Row;
use crate::scene::{self, Scene};
use crate::size::Size;

/// Refused completions that are noise, as a share of the load.
const REFUSED_MAX: f64 = 0.01;
/// Completions that are steady, as a share of the load.
const GOODPUT_MIN: f64 = 0.8;

pub(crate) async fn recovers(size: Size, is_java: bool, streams: bool) -> Vec<Row> {
    let scene = Scene::start(size, is_java).await;
    let mut knobs = scene.knobs();
    knobs.streams = streams;
    let worker = scene.worker(&knobs).await;
    let load = scene.load(size.per_second);
    scene::until("the worker is warm", || worker.now().completed >= size.threads as u64 * 4).await;
    tokio::time::sleep(size.before).await;
    worker.freeze();
    // Jobs in flight at the freeze have arrived by then.
    tokio::time::sleep(size.freeze / 3).await;
    let reports = worker.reports();
    tokio::time::sleep(size.freeze * 2 / 3).await;
    assert_eq!(worker.reports(), reports, "the worker was not frozen all the time");
    let thawed = Instant::now();
    let before = scene.jobs().await;
    worker.thaw();
    tokio::time::sleep(size.after).await;
    let ended = Instant::now();
    load.end().await.assert_sound();
    // Left-overs of the load, which a worker that is steady has few of.
    tokio::time::sleep(size.timeout).await;
    let jobs = scene.jobs().await;
    let name = &format!("freeze, {}", if streams { "stream" } else { "poll" });

    let steady = steady(&worker, thawed, ended, size);
    let from = thawed + steady.unwrap_or(size.after / 2);
    let refused =
        |since: Instant, until: Instant| (worker.at(until).refused - worker.at(since).refused) as f64;
    let counts = worker.now();
    let last = thawed + size.after * 3 / 4;
    let goodput = (worker.at(ended).completed - worker.at(last).completed) as f64;
    let handled = counts.completed + counts.refused + counts.failed;
    let bounded: fn(&str, &str, f64, f64) -> Row =
        if streams { Row::at_most } else { |name, figure, value, _| Row::told(name, figure, value) };
    let load_from = f64::from(size.per_second) * (ended - from).as_secs_f64();
    let rows = vec![
        bounded(
            name,
            "seconds until steady",
            steady.map_or(f64::INFINITY, |steady| steady.as_secs_f64()),
            size.steady_max.as_secs_f64(),
        ),
        bounded(
            name,
            "refused completions from then on, % of load",
            100.0 * refused(from, ended) / load_from,
            100.0 * REFUSED_MAX,
        ),
        Row::told(name, "completions/s at the end", goodput / (ended - last).as_secs_f64()),
        Row::told(
            name,
            "refused completions/s at the end",
            refused(last, ended) / (ended - last).as_secs_f64(),
        ),
        Row::told(
            name,
            "work done twice, of all jobs handled, %",
            100.0 * counts.refused as f64 / handled.max(1) as f64,
        ),
        Row::told(name, "jobs handled", handled as f64),
        Row::told(name, "timeouts since it went on", jobs.since(&before).timed_out),
        Row::told(name, "dropped without a place", counts.dropped as f64),
        Row::told(name, "left over after the load", jobs.created - jobs.completed),
    ];
    drop(worker);
    scene.end().await;
    rows
}

/// The first time after the thaw from which on, in every job timeout, enough is completed and next to nothing refused.
fn steady(worker: &Child, thawed: Instant, ended: Instant, size: Size) -> Option<Duration> {
    // Shorter ones tell more of what else the machine has to do.
    let window = size.timeout;
    let step = window / 10;
    let load = f64::from(size.per_second) * window.as_secs_f64();
    let is_good = |from: Instant| {
        let (first, last) = (worker.at(from), worker.at(from + window));
        // One refusal is noise whatever its share.
        let refused = (last.refused - first.refused) as f64;
        refused <= (load * REFUSED_MAX).max(1.0)
            && (last.completed - first.completed) as f64 >= load * GOODPUT_MIN
    };
    let starts = (ended - thawed).saturating_sub(window).as_millis() / step.as_millis();
    let mut since = None;
    for number in 0..=starts as u32 {
        let from = step * number;
        if !is_good(thawed + from) {
            since = None;
        } else if since.is_none() {
            since = Some(from);
        }
    }
    since
}
