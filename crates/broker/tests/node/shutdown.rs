//! Stopping: nothing acknowledged is lost, nobody is left waiting, and it comes to an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use broker_api::{Broker, SubmitError};
use futures::StreamExt;

use crate::support::{Server, create, endless, jobs, next, task, until, within};

/// A stop under load takes no longer.
const BOUND: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_everything_acknowledged_survives_and_everybody_is_answered() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..32)
        .map(|_| {
            let (node, acknowledged) = (server.share(), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                loop {
                    match node.submit(create("{}")).await {
                        Ok(_) => acknowledged.fetch_add(1, Ordering::SeqCst),
                        Err(SubmitError::Unavailable(_)) => return,
                        Err(other) => panic!("{other}"),
                    };
                }
            })
        })
        .collect();
    until("the load is on", || acknowledged.load(Ordering::SeqCst) > 200).await;
    let began = Instant::now();
    within(server.shutdown()).await;
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    for client in clients {
        within(client).await.unwrap();
    }
    server.places_free().await;
    let server = server.crash().await;
    let mut found = 0;
    while let count @ 1.. = server.take(1000).await.len() {
        found += count;
    }
    assert_eq!(found, acknowledged.load(Ordering::SeqCst));
}

#[tokio::test]
async fn workers_are_told_and_what_they_had_not_read_comes_back() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 4).await;
    server.deploy(&task("t")).await;
    let unread = server.stream("t");
    for _ in 0..4 {
        server.create().await;
    }
    let mut stream = server.stream("t");
    let node = server.share();
    let poll =
        tokio::spawn(async move { node.activate_jobs(jobs("u"), Some(Duration::from_secs(60))).await });
    server.create().await;
    let read = next(&mut stream).await;
    server.quiet().await;
    // As a gateway does when it stops: streams that nobody reads are dropped.
    drop(unread);
    within(server.shutdown()).await;
    assert!(within(stream.next()).await.is_none(), "the stream ends");
    let poll = within(poll).await.unwrap();
    assert!(matches!(poll, Err(SubmitError::Unavailable(_))), "{poll:?}");
    for wait in [None, Some(Duration::from_secs(60))] {
        let late = within(server.activate_jobs(jobs("t"), wait)).await;
        assert!(matches!(late, Err(SubmitError::Unavailable(_))), "{late:?}");
    }
    assert!(matches!(server.stream_jobs(jobs("t")), Err(SubmitError::Unavailable(_))));
    drop(stream);
    let server = server.crash().await;
    assert_eq!(server.take(1000).await.len(), 4, "all but the one that was read");
    server.complete(&read).await.unwrap();
}

#[tokio::test]
async fn a_loop_without_end_does_not_hold_it_up() {
    let server = Server::start().await;
    server.deploy(&endless()).await;
    server.create().await;
    let began = Instant::now();
    let server = server.restart().await;
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    let before = server.index();
    until("the loop goes on", || server.index() > before + 10).await;
}

#[tokio::test]
async fn a_worker_that_drains_a_backlog_does_not_hold_it_up() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 1).await;
    server.deploy(&task("t")).await;
    for _ in 0..500 {
        server.create().await;
    }
    let mut stream = server.stream("t");
    next(&mut stream).await;
    let reader = tokio::spawn(async move { stream.count().await });
    let began = Instant::now();
    within(server.shutdown()).await;
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    within(reader).await.unwrap();
}

#[tokio::test]
async fn stopping_twice_and_asking_afterwards_is_answered() {
    let server = Server::start().await;
    within(server.shutdown()).await;
    within(server.shutdown()).await;
    let error = within(server.submit(create("{}"))).await.unwrap_err();
    assert!(matches!(error, SubmitError::Unavailable(_)), "{error}");
    assert!(server.health().partition.is_err());
}
