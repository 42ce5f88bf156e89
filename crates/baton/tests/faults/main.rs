//! Fault test: three loaded brokers, of which one or all are killed or held up at random instants.
//!
//! `ledger` keeps what the brokers have acknowledged and finds contradictions; `load` makes the requests, at all
//! brokers at once; `cluster` runs the program. Longer: `make faults ROUNDS=200`. `FAULTS_SEED` repeats the choices
//! of a run, not its timing.
#![allow(clippy::unwrap_used)]

mod cluster;
#[path = "../crash/ledger.rs"]
mod ledger;
#[path = "../crash/load.rs"]
mod load;
#[path = "../crash/random.rs"]
mod random;
mod store;

use std::sync::Arc;
use std::time::Duration;

use cluster::{BROKERS, Cluster};
use ledger::Ledger;
use load::Load;
use random::{Random, number};
use rustix::process::Signal;
use tokio::time::timeout;

/// Pause of each creator after a creation: workers keep up with some hundred instances a second.
const PACE: Duration = Duration::from_millis(100);
/// Load before a fault, in milliseconds.
const LOAD_MS: std::ops::Range<u64> = 100..900;
/// Load after it.
const AFTER: Duration = Duration::from_millis(500);
/// A broker that is held up stands still for so long: others lead meanwhile.
const HELD_UP: Duration = Duration::from_secs(2);
/// Acknowledged facts of each kind that are asked for after each fault.
const SAMPLE: usize = 30;
/// How long requests may take to end when they are told to.
const END_MAX: Duration = Duration::from_secs(60);
/// How long it may take to work off what one round, or the first few, left open.
const DRAIN_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    KillLeader,
    KillFollower,
    KillAll,
    HoldUpLeader,
    HoldUpFollower,
}

const FAULTS: [Fault; 5] =
    [Fault::KillLeader, Fault::KillAll, Fault::HoldUpLeader, Fault::KillFollower, Fault::HoldUpFollower];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_cluster_acknowledged_survives() {
    let rounds = number("FAULTS_ROUNDS").unwrap_or(FAULTS.len() as u64);
    let mut random = Random::announced("FAULTS");
    let mut cluster = Cluster::begin().await;
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    load::deploy(&load::rest(&cluster.rest(1))).await;
    let ledger = Arc::new(Ledger::default());
    let mut fail_overs = Vec::new();
    for round in 0..rounds {
        let fault = FAULTS[(round % FAULTS.len() as u64) as usize];
        let fail_over = one_round(&mut cluster, fault, &ledger, &mut random).await;
        println!("round {round}: {fault:?}, fail-over {fail_over:?}; {}", ledger.summary());
        fail_overs.extend(fail_over);
    }

    cluster.leader().await;
    ledger.new_life();
    let client = load::rest(&cluster.rest(0));
    let drain_max = DRAIN_MAX * rounds.max(6) as u32;
    timeout(drain_max, load::drain(&client, &ledger)).await.expect("everything is worked off in time");
    load::check_sample(&load::rest(&cluster.rest(1)), &ledger, usize::MAX, &mut random).await;
    cluster.stop().await;
    // Nothing comes back to life.
    (0..BROKERS).for_each(|broker| cluster.start(broker));
    cluster.leader().await;
    load::expect_no_jobs(&load::rest(&cluster.rest(2)), &ledger).await;
    cluster.stop().await;
    println!("at the end: {}", ledger.summary());
    ledger.assert_sound();
    ledger.assert_complete();
    fail_overs.sort();
    println!("from the loss of the leader to the next creation: {fail_overs:?}");
}

/// Loads all brokers, brings a fault about, and repairs it. Returns how long the loss of the leader lasted.
async fn one_round(
    cluster: &mut Cluster,
    fault: Fault,
    ledger: &Arc<Ledger>,
    random: &mut Random,
) -> Option<Duration> {
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
    let mut fail_over = None;
    match fault {
        Fault::KillLeader => {
            cluster.kill(leader).await;
            fail_over = Some(load::create_one(&survivor, ledger).await);
        }
        Fault::KillFollower => cluster.kill(follower).await,
        Fault::KillAll => {
            for broker in 0..BROKERS {
                cluster.kill(broker).await;
            }
        }
        Fault::HoldUpLeader => {
            cluster.signal(leader, Signal::STOP);
            fail_over = Some(load::create_one(&survivor, ledger).await);
            pass(HELD_UP).await;
            cluster.signal(leader, Signal::CONT);
        }
        Fault::HoldUpFollower => {
            cluster.signal(follower, Signal::STOP);
            pass(HELD_UP).await;
            cluster.signal(follower, Signal::CONT);
        }
    }
    pass(AFTER).await;
    loads.iter().for_each(Load::stop);
    let ended = futures::future::join_all(loads.into_iter().map(Load::end));
    timeout(END_MAX, ended).await.expect("every request has an end");
    ledger.assert_sound();
    match fault {
        Fault::KillLeader => cluster.start(leader),
        Fault::KillFollower => cluster.start(follower),
        Fault::KillAll => (0..BROKERS).for_each(|broker| cluster.start(broker)),
        Fault::HoldUpLeader | Fault::HoldUpFollower => {}
    }
    fail_over
}

/// Lets the load go on.
async fn pass(duration: Duration) {
    let _ = timeout(duration, std::future::pending::<()>()).await;
}
