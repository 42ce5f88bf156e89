//! Processing that is paused, and state that is written when somebody asks.

use std::time::{Duration, Instant};

use broker_api::{Broker, SubmitError};
use futures::{FutureExt, StreamExt};
use protocol::{Query, QueryReply};

use crate::support::{Server, create, jobs, next, task, timer_and_task, until, within};

fn assert_paused<T: std::fmt::Debug>(result: Result<T, SubmitError>) {
    match result {
        Err(SubmitError::Unavailable(reason)) => assert!(reason.contains("processing is paused"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn while_processing_is_paused_nothing_happens_but_questions_are_answered() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let instance = server.create().await;
    within(server.pause_processing()).await.unwrap();
    assert!(server.is_processing_paused());
    let position = server.partition().position;
    assert_paused(within(server.submit(create("{}"))).await);
    assert_paused(within(server.activate_jobs(jobs("t"), None)).await);
    let wait = Some(Duration::from_millis(50));
    assert!(within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs.is_empty());
    let mut stream = server.stream("t");
    server.quiet().await;
    assert!(stream.next().now_or_never().is_none(), "no job is pushed");
    assert_eq!(server.partition().position, position);
    let hierarchy = Query::CallHierarchy { process_instance_key: instance };
    assert!(matches!(within(server.read(hierarchy)).await, Ok(QueryReply::CallHierarchy(_))));

    within(server.resume_processing()).await.unwrap();
    assert_eq!(next(&mut stream).await.process_instance_key, instance);
    server.create().await;
}

#[tokio::test]
async fn timers_that_are_due_during_a_pause_fire_after_it_or_after_the_next_start() {
    for stop in [false, true] {
        let server = Server::start().await;
        server.deploy(&timer_and_task("PT0.2S")).await;
        server.create().await;
        let due = Instant::now() + Duration::from_millis(250);
        within(server.pause_processing()).await.unwrap();
        tokio::time::sleep_until(due.into()).await;
        let before = server.quiet().await;
        let position = server.partition().position;
        let server = if stop {
            let server = server.restart().await;
            assert!(!server.is_processing_paused(), "a start ends the pause");
            server
        } else {
            assert_eq!((server.index(), server.partition().position), (before, position), "nothing spins");
            within(server.resume_processing()).await.unwrap();
            server
        };
        let wait = Some(Duration::from_secs(10));
        assert_eq!(
            within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs.len(),
            1,
            "stop: {stop}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_under_load_is_a_clean_cut() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let clients: Vec<_> = (0..16)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move {
                let mut acknowledged = 0;
                loop {
                    match node.submit(create("{}")).await {
                        Ok(_) => acknowledged += 1,
                        refused => {
                            assert_paused(refused);
                            return acknowledged;
                        }
                    }
                }
            })
        })
        .collect();
    until("the load is on", || server.partition().position > 1000).await;
    within(server.pause_processing()).await.unwrap();
    let position = server.partition().position;
    let mut acknowledged = 0;
    for client in clients {
        acknowledged += within(client).await.unwrap();
    }
    assert_eq!(server.partition().position, position);
    within(server.resume_processing()).await.unwrap();
    let mut found = 0;
    while let count @ 1.. = server.take(1000).await.len() {
        found += count;
    }
    assert_eq!(found, acknowledged);
}

#[tokio::test]
async fn state_is_written_when_somebody_asks() {
    // Only time flushes, rarely.
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let before = server.partition();
    assert!(before.durable_index < before.committed_index);
    within(server.write_state()).await.unwrap();
    assert!(server.partition().durable_index >= before.committed_index);
    // Also while processing is paused, and with nothing new.
    within(server.pause_processing()).await.unwrap();
    let paused = server.partition();
    within(server.write_state()).await.unwrap();
    assert!(server.partition().durable_index >= paused.committed_index);
    within(server.write_state()).await.unwrap();
    let server = server.crash().await;
    server.create().await;
}
