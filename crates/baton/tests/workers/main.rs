//! Experiments with job workers: the real program, and workers in processes of their own that can be frozen.
//!
//! `freeze` (E4), `second` (E5) and `beside` (E6) are the experiments; `scene` has the program and what it counts;
//! the worker is that of the lab, which behaves like the Java client's, in a process that this program starts from
//! itself; `child` is the other end of it. Without a word all run at once in a short size. Environment variables:
//! `EXPERIMENTS_FULL=1` for the published size, one after the other; `EXPERIMENTS_JAVA` with the command line of
//! the worker that uses the Java client itself; `EXPERIMENTS_PROGRAM` for another build of the program. Arguments
//! pick experiments by name.
#![allow(clippy::unwrap_used)]

mod beside;
mod child;
mod creation;
mod freeze;
#[path = "../outage/http.rs"]
#[allow(dead_code, reason = "the outage test looks at answers")]
mod http;
mod report;
mod scene;
mod second;
#[path = "../crash/server.rs"]
#[allow(dead_code, reason = "other tests kill it")]
mod server;
mod size;

use std::process::ExitCode;

use report::Row;
use size::Size;

/// The argument that makes this program a worker.
pub(crate) const WORKER: &str = "--worker";

type Part = (&'static str, fn(Size, bool) -> Vec<Row>);

const PARTS: &[Part] = &[
    ("freeze-stream", |size, is_java| run(freeze::recovers(size, is_java, true))),
    ("freeze-poll", |size, is_java| run(freeze::recovers(size, is_java, false))),
    ("second-worker", |size, is_java| run(second::helps(size, is_java))),
    ("polls-beside-stream", |size, is_java| run(beside::polls_are_rare(size, is_java))),
    ("finishes-nothing", |size, is_java| run(beside::is_not_flooded(size, is_java))),
    ("holds-many", |size, is_java| run(beside::holds_many(size, is_java))),
];

/// To know how polls fare; nothing of it depends on streams.
const FULL_ONLY: &[&str] = &["freeze-poll"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == WORKER) {
        lab::worker::run(&arguments[1..]);
    }
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let (is_full, is_java) = (is_set("EXPERIMENTS_FULL"), is_set("EXPERIMENTS_JAVA"));
    let size = match (is_full, is_java) {
        (true, _) => size::FULL,
        (false, true) => size::JAVA,
        (false, false) => size::SHORT,
    };
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        let is_customary = wanted.is_empty() && (is_full || !FULL_ONLY.contains(&name));
        is_customary || wanted.iter().any(|part| name.contains(part.as_str()))
    };
    let mut ended = Vec::new();
    let mut running = Vec::new();
    for &(name, part) in PARTS.iter().filter(|(name, _)| is_wanted(name)) {
        let began = std::thread::Builder::new().name(name.to_owned()).spawn(move || part(size, is_java));
        let began = began.unwrap();
        // Each Java worker is a virtual machine that has to get warm.
        if is_full || is_java {
            ended.push((name, began.join()));
        } else {
            running.push((name, began));
        }
    }
    ended.extend(running.into_iter().map(|(name, part)| (name, part.join())));
    let mut rows = Vec::new();
    let (mut passed, mut failed) = (0, 0);
    for (name, outcome) in ended {
        let is_good = outcome.as_ref().is_ok_and(|rows| rows.iter().all(Row::is_met));
        println!("test {name} ... {}", if is_good { "ok" } else { "FAILED" });
        *(if is_good { &mut passed } else { &mut failed }) += 1;
        rows.extend(outcome.into_iter().flatten());
    }
    report::close(&rows, passed, failed)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work)
}
