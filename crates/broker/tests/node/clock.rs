//! Time: what is due happens when it is due, and nothing happens when nothing is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use broker::WallClock;
use broker_api::{Broker, SubmitError};
use protocol::{Clock, Command, Document, Name};

use crate::support::{Server, instance, jobs, task, timer, within};

/// How long a quiet broker is watched.
const WATCH: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

#[tokio::test]
async fn a_timer_is_never_early_and_not_late() {
    let server = Server::start().await;
    server.deploy(&timer("PT0.2S")).await;
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        within(server.create_with_result(None, instance("{}"), vec![], LONG)).await.unwrap();
        assert!(began.elapsed() >= Duration::from_millis(199));
        best = best.min(began.elapsed());
    }
    assert!(best < Duration::from_millis(300), "{best:?}");
}

#[tokio::test]
async fn an_idle_broker_proposes_nothing() {
    let server =
        Server::with(|options| options.partition.state.flush_interval = Duration::from_millis(30)).await;
    server.deploy(&task("t")).await;
    let _stream = server.stream("t");
    for _ in 0..10 {
        server.create().await;
    }
    let busy = server.index();
    // The flush begins with one entry and is taken over with another; a busy disk takes its time for it.
    within(async {
        while server.partition().durable_index < busy {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    tokio::time::sleep(WATCH).await;
    let rested = server.index();
    assert!(rested <= busy + 6, "{} entries of housekeeping", rested - busy);
    tokio::time::sleep(WATCH).await;
    assert_eq!(server.index(), rested);
}

#[tokio::test]
async fn a_pinned_clock_stands_still_without_turning_the_log() {
    let server = Server::with(|options| options.partition.controlled_clock = true).await;
    server.deploy(&timer("PT1H")).await;
    let pinned = now_ms() - 5000;
    server.submit(Command::Clock(Clock::Pin { timestamp_ms: pinned })).await.unwrap();
    let node = server.share();
    let waiting =
        tokio::spawn(async move { node.create_with_result(None, instance("{}"), vec![], LONG).await });
    let before = server.quiet().await;
    tokio::time::sleep(WATCH).await;
    assert_eq!(server.index(), before);
    // Due on the wall's clock, not on the pinned one.
    server.submit(Command::Clock(Clock::Pin { timestamp_ms: pinned + 3_599_000 })).await.unwrap();
    server.quiet().await;
    assert!(!waiting.is_finished());
    server.submit(Command::Clock(Clock::Pin { timestamp_ms: pinned + 3_600_001 })).await.unwrap();
    within(waiting).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_clock_that_is_reset_goes_on_as_the_wall_does() {
    let server = Server::with(|options| options.partition.controlled_clock = true).await;
    server.deploy(&timer("PT0.1S")).await;
    server.submit(Command::Clock(Clock::Pin { timestamp_ms: now_ms() })).await.unwrap();
    let node = server.share();
    let waiting =
        tokio::spawn(async move { node.create_with_result(None, instance("{}"), vec![], LONG).await });
    tokio::time::sleep(WATCH).await;
    assert!(!waiting.is_finished());
    server.submit(Command::Clock(Clock::Reset)).await.unwrap();
    within(waiting).await.unwrap().unwrap();
    // A pinned clock survives a restart, a reset one too.
    let server = server.restart().await;
    within(server.create_with_result(None, instance("{}"), vec![], LONG)).await.unwrap();
}

#[tokio::test]
async fn a_clock_that_is_moved_runs_on_from_there() {
    let server = Server::with(|options| options.partition.controlled_clock = true).await;
    server.deploy(&timer("PT1H")).await;
    let node = server.share();
    let waiting =
        tokio::spawn(async move { node.create_with_result(None, instance("{}"), vec![], LONG).await });
    server.quiet().await;
    let hour = Clock::Add { offset_ms: 3_600_000 };
    server.submit(Command::Clock(hour.clone())).await.unwrap();
    within(waiting).await.unwrap().unwrap();
    assert!(server.clock_ms() >= now_ms() + 3_599_000);
    // It is not forgotten, and not counted twice.
    let server = server.restart().await;
    assert!((server.clock_ms() - now_ms() - 3_600_000).abs() < 60_000);
    server.submit(Command::Clock(Clock::Pin { timestamp_ms: 1_000 })).await.unwrap();
    server.submit(Command::Clock(hour)).await.unwrap();
    assert_eq!(server.clock_ms(), 3_601_000);
    let tenant_id = Name::default_tenant();
    let seen = server.evaluate_expression("=now()".to_owned(), Document::empty(), tenant_id).await.unwrap();
    assert!(seen.result_json.contains("1970-01-01T01:00:01"), "{}", seen.result_json);
    server.submit(Command::Clock(Clock::Reset)).await.unwrap();
    assert!((server.clock_ms() - now_ms()).abs() < 60_000);
}

#[tokio::test]
async fn a_clock_that_is_not_to_be_controlled_is_not() {
    let server = Server::start().await;
    let error = server.submit(Command::Clock(Clock::Reset)).await.unwrap_err();
    assert!(matches!(error, SubmitError::Rejected(_)), "{error}");
}

#[tokio::test]
async fn timers_wait_for_no_clock_that_was_set_back() {
    let set_back_ms = Arc::new(AtomicI64::new(0));
    let by_ms = Arc::clone(&set_back_ms);
    let server = Server::with(|options| {
        options.partition.wall_clock = WallClock::new(move || now_ms() - by_ms.load(Ordering::Relaxed));
    })
    .await;
    server.deploy(&timer("PT0.2S")).await;
    for _ in 0..2 {
        let node = server.share();
        let waiting =
            tokio::spawn(async move { node.create_with_result(None, instance("{}"), vec![], LONG).await });
        server.quiet().await;
        set_back_ms.fetch_add(3_600_000, Ordering::Relaxed);
        within(waiting).await.unwrap().unwrap();
        assert!(server.clock_ms() > now_ms() - 60_000, "the time has not gone back");
    }
    let server = server.crash().await;
    within(server.create_with_result(None, instance("{}"), vec![], LONG)).await.unwrap();
    assert!(server.clock_ms() > now_ms() - 60_000, "nor has it with a restart");
}

/// The log must have room for time while it is never without work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timers_and_timeouts_happen_under_a_load_that_never_pauses() {
    let server = Server::with(|options| options.partition.ingress.max_batch_commands = 4).await;
    server.deploy(&timer("PT0.05S")).await;
    let load: Vec<_> = (0..64)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move {
                loop {
                    // Refused, but it stands in the log.
                    let _ = node.submit(crate::support::cancel(1)).await;
                }
            })
        })
        .collect();
    for _ in 0..3 {
        let answer = server.create_with_result(None, instance("{}"), vec![], Duration::from_secs(3));
        within(answer).await.unwrap();
    }
    for task in load {
        task.abort();
    }
    let wait = Some(Duration::from_millis(1));
    assert!(within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs.is_empty());
}
