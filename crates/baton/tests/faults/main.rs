//! Fault test: three loaded brokers, of which one or all are killed, held up, cut off, or given a wrong clock or a bad
//! disk at random instants.
//!
//! `ledger` keeps what the brokers have acknowledged and finds contradictions; `load` makes the requests, at all
//! brokers at once; `registers` looks for stale reads; `cluster` runs the program; `fault` has the kinds of faults,
//! `network` and `interposer` bring some of them about. Longer: `make faults ROUNDS=200`. `FAULTS_SEED` repeats the
//! choices of a run, not its timing; `FAULTS_KINDS=CutLeader,FullDisk` has these kinds alone.
#![allow(clippy::unwrap_used)]

mod agreement;
mod cluster;
mod fault;
mod http;
mod interposer;
#[path = "../crash/ledger.rs"]
mod ledger;
#[path = "../crash/load.rs"]
mod load;
mod network;
#[path = "../crash/random.rs"]
mod random;
mod registers;
#[path = "../outage/small_disk.rs"]
mod small_disk;
mod store;
mod tally;

use std::sync::Arc;
use std::time::Duration;

use cluster::{BROKERS, Cluster};
use fault::{FAULTS, Fault};
use ledger::Ledger;
use load::Load;
use random::{Random, number};
use registers::Registers;
use tally::Tally;
use tokio::time::{Instant, timeout};

/// Rounds when `FAULTS_ROUNDS` does not say.
const ROUNDS_DEFAULT: u64 = 6;
/// Pause of each creator after a creation: workers keep up with some hundred instances a second.
const PACE: Duration = Duration::from_millis(300);
/// Load before a fault, in milliseconds.
const LOAD_MS: std::ops::Range<u64> = 100..900;
/// Load after it.
const AFTER: Duration = Duration::from_millis(500);
/// Acknowledged facts of each kind that are asked for after each fault.
const SAMPLE: usize = 30;
/// How long requests may take to end when they are told to.
const END_MAX: Duration = Duration::from_secs(60);
/// How long it may take to work off what one round, or the first few, left open.
const DRAIN_MAX: Duration = Duration::from_secs(30);

/// The kinds of a run, in turn.
fn kinds() -> Vec<Fault> {
    let wanted = std::env::var("FAULTS_KINDS").unwrap_or_default();
    let is_wanted =
        |fault: &Fault| wanted.is_empty() || wanted.split(',').any(|kind| kind == format!("{fault:?}"));
    FAULTS.into_iter().filter(|fault| fault.is_possible()).filter(is_wanted).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_cluster_acknowledged_survives() {
    let rounds = number("FAULTS_ROUNDS").unwrap_or(ROUNDS_DEFAULT);
    let mut random = Random::announced("FAULTS");
    let kinds = kinds();
    assert!(!kinds.is_empty(), "FAULTS_KINDS names no kind");
    let mut cluster = Cluster::begin_weak().await;
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    load::deploy(&load::rest(&cluster.rest(1))).await;
    let registers = Registers::begin(&cluster).await;
    let ledger = Arc::new(Ledger::default());
    let mut tally = Tally::default();
    for round in 0..rounds {
        let fault = kinds[(round % kinds.len() as u64) as usize];
        let began = Instant::now();
        let (fail_over, recovery) = one_round(&mut cluster, fault, &ledger, &mut random).await;
        registers.assert_sound();
        let took = began.elapsed();
        println!(
            "round {round}: {fault:?}, fail-over {fail_over:?}, recovery {recovery:?}, {took:?} in all; {}",
            ledger.summary()
        );
        tally.add(fault, fail_over, recovery);
    }

    ledger.new_life();
    let client = load::rest(&cluster.rest(0));
    let drain_max = DRAIN_MAX * rounds.max(6) as u32;
    timeout(drain_max, load::drain(&client, &ledger)).await.expect("everything is worked off in time");
    load::check_sample(&load::rest(&cluster.rest(1)), &ledger, usize::MAX, &mut random).await;
    registers.end().await;
    agreement::assert_agreement(&cluster, &ledger).await;
    cluster.stop().await;
    // Nothing comes back to life.
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    load::expect_no_jobs(&load::rest(&cluster.rest(2)), &ledger).await;
    cluster.stop().await;
    println!("at the end: {}", ledger.summary());
    ledger.assert_sound();
    ledger.assert_complete();
    tally.print();
}

/// Loads all brokers, brings a fault about, and repairs it. Returns how long the loss of the leader lasted, and how
/// long it took until all were well again.
async fn one_round(
    cluster: &mut Cluster,
    fault: Fault,
    ledger: &Arc<Ledger>,
    random: &mut Random,
) -> (Option<Duration>, Duration) {
    let leader = cluster.leader().await;
    ledger.new_life();
    let follower = (leader + 1 + random.below(u64::from(BROKERS) - 1) as u16) % BROKERS;
    let asked = load::rest(&cluster.rest(random.below(u64::from(BROKERS)) as u16));
    load::check_sample(&asked, ledger, SAMPLE, random).await;
    let loads: Vec<Load> = (0..BROKERS)
        .map(|broker| Load::start(&cluster.rest(broker), &cluster.grpc(broker), ledger, random, PACE))
        .collect();
    pass(Duration::from_millis(LOAD_MS.start + random.below(LOAD_MS.end - LOAD_MS.start))).await;

    let survivor = load::rest(&cluster.rest((leader + 1) % BROKERS));
    let struck = fault.strike(cluster, leader, follower).await;
    let creation =
        async { if fault.is_of_leader() { Some(load::create_one(&survivor, ledger).await) } else { None } };
    let mending = async {
        pass(fault.lasts()).await;
        struck.mend(cluster);
        let mended = Instant::now();
        if fault.is_mended_by_start() {
            return None;
        }
        cluster.leader().await;
        Some(mended.elapsed())
    };
    let (fail_over, recovery) = tokio::join!(creation, mending);
    pass(AFTER).await;
    loads.iter().for_each(Load::stop);
    let ended = futures::future::join_all(loads.into_iter().map(Load::end));
    timeout(END_MAX, ended).await.expect("every request has an end");
    ledger.assert_sound();
    let began = Instant::now();
    struck.recover(cluster).await;
    (fail_over, recovery.unwrap_or_else(|| began.elapsed()))
}

/// Lets the load go on.
async fn pass(duration: Duration) {
    let _ = timeout(duration, std::future::pending::<()>()).await;
}
