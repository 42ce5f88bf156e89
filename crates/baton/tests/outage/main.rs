//! Outage test: secondary storage of the real program goes away, is slow, full or picky, while there is load.
//!
//! `stores` starts stores and breaks them, `load` creates and works instances, `watch` asks meanwhile, and `life`
//! finds out what came of it all: processing resumes, queries are answered or say what is away, nothing is lost or
//! there twice. `OUTAGE_SECONDS` says how long each fault lasts (2), `OUTAGE_RATE` how many instances a second
//! there are (50). If neither is said, all stores come at once and OpenSearch is left out, since it takes minutes;
//! otherwise one comes after the other: `make outage`. `OUTAGE_FAULTS` picks faults by the names in `stores`. An
//! untested store is named. There is no harness, so a suite that did not run never counts as a passed test.
#![allow(clippy::unwrap_used)]

mod http;
mod life;
mod limits;
mod load;
#[path = "../../../../tests/stores/node.rs"]
mod node;
#[allow(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../../tests/stores/postgres/server.rs"]
mod postgres;
mod proxy;
mod report;
#[path = "../crash/server.rs"]
mod server;
mod small_disk;
mod stores;
mod watch;

use std::process::ExitCode;
use std::thread::JoinHandle;
use std::time::Duration;

use report::Row;
use stores::{Opensearch, Postgres, Sqlite};

/// Seconds of a fault when nothing is said.
const OUTAGE_SECONDS: u64 = 2;
/// Instances a second when nothing is said.
const RATE: u32 = 50;

/// How long, and how much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) before: Duration,
    pub(crate) outage: Duration,
    pub(crate) per_second: u32,
}

type Part = (&'static str, fn(Pace) -> Vec<Row>);

const PARTS: &[Part] = &[
    ("sqlite", |pace| run(life::survives(Sqlite::new(), pace))),
    ("postgres", |pace| match Postgres::new() {
        Some(store) => run(life::survives(store, pace)),
        None => not_run("postgres: not run, no PostgreSQL was found (set POSTGRES_BIN)"),
    }),
    ("opensearch", |pace| {
        run(async {
            match Opensearch::new().await {
                Some(store) => life::survives(store, pace).await,
                None => not_run("opensearch: not run, there is no Maven or no JDK"),
            }
        })
    }),
    ("throttling", |pace| run(limits::throttling_engages_and_lets_go(pace))),
    ("room-for-records", |pace| run(limits::records_stay_within_their_room(pace))),
    ("disk-of-the-data", |pace| run(limits::a_full_disk_loses_nothing(pace))),
];

fn main() -> ExitCode {
    let number = |name: &str| {
        let text = std::env::var(name).ok().filter(|text| !text.is_empty());
        text.map(|text| text.parse::<u64>().unwrap())
    };
    let seconds = number("OUTAGE_SECONDS");
    let rate = number("OUTAGE_RATE");
    let is_short = seconds.is_none() && rate.is_none();
    let outage = Duration::from_secs(seconds.unwrap_or(OUTAGE_SECONDS));
    let per_second = rate.map_or(RATE, |rate| rate as u32);
    let pace = Pace { before: (outage / 4).max(Duration::from_secs(1)), outage, per_second };
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut ended = Vec::new();
    let mut running: Vec<(&str, JoinHandle<Vec<Row>>)> = Vec::new();
    for (name, part) in PARTS.iter().filter(|(name, _)| is_wanted(name)) {
        if is_short && wanted.is_empty() && *name == "opensearch" {
            println!("opensearch: not run, it takes minutes; `make outage` does");
            continue;
        }
        let part = *part;
        let began = std::thread::Builder::new().name((*name).to_owned()).spawn(move || part(pace)).unwrap();
        if is_short {
            running.push((name, began));
        } else {
            ended.push((*name, began.join()));
        }
    }
    ended.extend(running.into_iter().map(|(name, part)| (name, part.join())));
    let mut rows = Vec::new();
    let mut failed = 0;
    for (name, outcome) in ended {
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        match outcome {
            Ok(more) => rows.extend(more),
            Err(_) => failed += 1,
        }
    }
    report::print(&rows);
    ExitCode::from(u8::from(failed > 0))
}

fn not_run(why: &str) -> Vec<Row> {
    println!("{why}");
    Vec::new()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work)
}
