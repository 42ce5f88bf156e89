//! Attacks on the real program with models that want everything: what others notice of it, in figures.
//!
//! `models` has them, `siege` runs one from three clients while others work, `watch` looks at memory and probes;
//! `lists` (requests whose lists are too long), `write_limit` (E20) and `profile` (E22) are attacks of their own.
//! Without a word all run in a short size, three at a time; `EXPERIMENTS_FULL=1` runs them for longer, one after the
//! other, with the bounds of the program as it is shipped. Arguments pick attacks by name, `EXPERIMENTS_PROGRAM` names
//! another build of the program.
#![allow(clippy::unwrap_used)]

#[path = "../workers/creation.rs"]
mod creation;
#[path = "../outage/http.rs"]
#[allow(dead_code, reason = "the outage test looks at answers")]
mod http;
mod lists;
mod metric;
mod models;
mod profile;
#[path = "../workers/report.rs"]
mod report;
#[path = "../crash/server.rs"]
#[allow(dead_code, reason = "other tests stop it")]
mod server;
mod siege;
mod watch;
mod write_limit;

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::process::ExitCode;

use report::Row;
use siege::Size;

/// Attacks at a time in the short size.
const AT_A_TIME: usize = 3;

type Part = Box<dyn FnOnce() -> Vec<Row> + Send>;

fn main() -> ExitCode {
    let is_full = std::env::var_os("EXPERIMENTS_FULL").is_some_and(|value| !value.is_empty());
    let size: Size = if is_full { siege::FULL } else { siege::SHORT };
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    let mut parts: VecDeque<(&str, Part)> = VecDeque::new();
    for hostile in models::all() {
        parts.push_back((hostile.name, Box::new(move || run(siege::is_withstood(&hostile, size)))));
    }
    parts.push_back(("write limit", Box::new(move || run(write_limit::leaves_others_their_share(size)))));
    parts.push_back(("long lists", Box::new(move || run(lists::are_refused(size)))));
    parts.push_back(("profile", Box::new(move || run(profile::is_cheap()))));
    parts.retain(|(name, _)| is_wanted(name));

    let parts = Mutex::new(parts);
    let ended = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let lane = || {
            loop {
                let next = parts.lock().pop_front();
                let Some((name, part)) = next else { return };
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(part));
                let is_good = outcome.as_ref().is_ok_and(|rows| rows.iter().all(Row::is_met));
                println!("test {name} ... {}", if is_good { "ok" } else { "FAILED" });
                ended.lock().push((is_good, outcome.unwrap_or_default()));
            }
        };
        for _ in 0..if is_full { 1 } else { AT_A_TIME } {
            scope.spawn(lane);
        }
    });
    let ended = ended.into_inner();
    let passed = ended.iter().filter(|(is_good, _)| *is_good).count();
    let failed = ended.len() - passed;
    let rows: Vec<Row> = ended.into_iter().flat_map(|(_, rows)| rows).collect();
    report::close(&rows, passed, failed)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work)
}
