//! Crash test: the program is loaded, killed with SIGKILL at random instants, and started again, round after round.
//!
//! `ledger` keeps what the server has acknowledged and finds contradictions; `load` makes the requests; `server`
//! runs the program. Longer: `make crash ROUNDS=500`. `CRASH_SEED` repeats the choices of a run, not its timing.
#![allow(clippy::unwrap_used)]

mod ledger;
mod load;
mod random;
mod server;

use std::sync::Arc;
use std::time::Duration;

use client::Client;
use ledger::Ledger;
use load::Load;
use random::{Random, number};
use server::{Data, Server};

/// Rounds when `CRASH_ROUNDS` does not say.
const ROUNDS_DEFAULT: u64 = 6;
/// A round is killed after so long under load, in milliseconds.
const LOAD_MS: std::ops::Range<u64> = 50..900;
/// One start in so many is killed, too.
const KILLED_START_ONE_IN: u64 = 4;
/// A start is killed after at most so long, in milliseconds.
const KILLED_START_MS: u64 = 60;
/// After each crash, so many acknowledged facts of each kind are asked for.
const SAMPLE: usize = 40;
/// How long the last round may take to work off everything that is open.
const DRAIN_MAX: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_survives_kill_9() {
    let rounds = number("CRASH_ROUNDS").unwrap_or(ROUNDS_DEFAULT);
    let mut random = Random::announced("CRASH");
    let data = Data::new();
    let ledger = Arc::new(Ledger::default());

    for round in 0..rounds {
        if random.below(KILLED_START_ONE_IN) == 0 {
            let delay = Duration::from_millis(random.below(KILLED_START_MS));
            Server::spawn(&data, &settings(&mut random)).kill_after(delay).await;
        }
        let mut server = Server::spawn(&data, &settings(&mut random));
        server.ready().await;
        let client = rest(&server);
        if round == 0 {
            load::deploy(&client).await;
        }
        ledger.new_life();
        load::check_sample(&client, &ledger, SAMPLE, &mut random).await;
        let load =
            Load::start(server.address("rest"), server.address("grpc"), &ledger, &mut random, Duration::ZERO);
        let delay = LOAD_MS.start + random.below(LOAD_MS.end - LOAD_MS.start);
        server.kill_after(Duration::from_millis(delay)).await;
        load.end().await;
        println!("round {round}: killed after {delay} ms of load; {}", ledger.summary());
        ledger.assert_sound();
    }

    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    ledger.new_life();
    tokio::time::timeout(DRAIN_MAX, load::drain(&rest(&server), &ledger))
        .await
        .expect("everything is worked off in time");
    load::check_sample(&rest(&server), &ledger, usize::MAX, &mut random).await;
    server.stop().await;
    // Nothing comes back to life.
    let mut server = Server::spawn(&data, &[]);
    server.ready().await;
    load::expect_no_jobs(&rest(&server), &ledger).await;
    server.stop().await;
    println!("at the end: {}", ledger.summary());
    ledger.assert_sound();
    ledger.assert_complete();
    data.assert_quiet_log();
}

/// Small limits, so that flushes, purges and new log files happen many times a round, or not at all.
fn settings(random: &mut Random) -> Vec<String> {
    let flush_interval_ms = [10, 50, 300, 10_000][random.below(4) as usize];
    let log_mib = [1, 1, 2, 8][random.below(4) as usize];
    vec![
        format!("state.flush_interval={flush_interval_ms}ms"),
        "state.flush_bytes=1MiB".to_owned(),
        format!("log.segment_bytes={log_mib}MiB"),
        format!("log.retained_bytes={log_mib}MiB"),
    ]
}

fn rest(server: &Server) -> Client {
    load::rest(server.address("rest"))
}
