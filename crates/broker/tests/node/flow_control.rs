//! Flow control around a whole broker: every place comes back, whatever becomes of the request.

use std::time::Duration;

use broker::{Algorithm, Overflow};
use broker_api::{Broker, SubmitError};

use crate::support::{Server, cancel, create, instance, jobs, task, within};

async fn limited(overflow: Overflow) -> Server {
    let server = Server::with(|options| {
        options.partition.flow_control.algorithm = Algorithm::Fixed;
        options.partition.flow_control.initial_limit = 1;
        options.partition.flow_control.overflow = overflow;
    })
    .await;
    server.deploy(&task("t")).await;
    server
}

#[tokio::test]
async fn with_one_place_everybody_who_waits_has_a_turn() {
    let server = limited(Overflow::Wait).await;
    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move { node.submit(create("{}")).await })
        })
        .collect();
    for task in tasks {
        within(task).await.unwrap().unwrap();
    }
    assert_eq!(server.take(1000).await.len(), 200);
    server.places_free().await;
}

#[tokio::test]
async fn who_is_refused_learns_the_limit_and_the_partition() {
    let server = limited(Overflow::Reject).await;
    let tasks: Vec<_> = (0..200)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move { node.submit(create("{}")).await })
        })
        .collect();
    let mut refused = 0;
    for task in tasks {
        match within(task).await.unwrap() {
            Ok(_) => {}
            Err(SubmitError::ResourceExhausted(text)) => {
                refused += 1;
                assert!(text.contains("partition 1") && text.contains("limit"), "{text}");
                assert!(text.contains(" 1 command"), "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 0);
    assert_eq!(server.take(1000).await.len(), 200 - refused, "refused is not half done");
    assert_eq!(server.flow_control().status().rejected, refused as u64);
    server.places_free().await;
}

#[tokio::test]
async fn errors_and_clients_that_go_away_give_their_places_back() {
    let server = limited(Overflow::Wait).await;
    server.submit(cancel(1)).await.unwrap_err();
    server.places_free().await;
    for round in 0..50 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let node = server.share();
                tokio::spawn(async move { node.submit(create("{}")).await })
            })
            .collect();
        for _ in 0..round % 5 {
            tokio::task::yield_now().await;
        }
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            // Aborted, or done before.
            let _ = within(task).await;
        }
    }
    server.places_free().await;
    server.create().await;
}

#[tokio::test]
async fn a_request_for_a_result_holds_no_place_while_it_waits() {
    let server = limited(Overflow::Reject).await;
    let node = server.share();
    let waiting = tokio::spawn(async move {
        node.create_with_result(None, instance("{}"), vec![], Duration::from_secs(60)).await
    });
    let wait = Some(Duration::from_secs(10));
    let job = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs.remove(0);
    server.places_free().await;
    assert!(!waiting.is_finished());
    server.complete(&job).await.unwrap();
    within(waiting).await.unwrap().unwrap();
}
