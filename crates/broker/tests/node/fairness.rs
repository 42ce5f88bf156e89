//! Many workers, many types, one partition: everybody gets a turn.

use std::time::Duration;

use broker_api::Broker;
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc;

use crate::support::{Server, create, jobs, task, within};

#[tokio::test]
async fn two_workers_share_the_jobs() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let mut streams = [server.stream("t"), server.stream("t")];
    let mut got = [0, 0];
    for _ in 0..40 {
        server.create().await;
        server.quiet_moment().await;
        for (stream, got) in streams.iter_mut().zip(&mut got) {
            while let Some(Some(_)) = stream.next().now_or_never() {
                *got += 1;
            }
        }
    }
    assert_eq!(got[0] + got[1], 40);
    assert!(got[0].min(got[1]) >= 15, "{got:?}");
}

#[tokio::test]
async fn more_idle_workers_than_fit_an_entry_are_all_served() {
    const TYPES: usize = 1000;
    let server = Server::with(|options| options.partition.jobs.max_demand_per_batch = 8).await;
    server.deploy(&task("=kind")).await;
    let (served, mut serving) = mpsc::channel(TYPES);
    for number in 0..TYPES {
        let (node, served) = (server.share(), served.clone());
        tokio::spawn(async move {
            let wait = Some(Duration::from_secs(60));
            let got = node.activate_jobs(jobs(&format!("t{number}")), wait).await.unwrap().jobs;
            served.send((number, got.len())).await.unwrap();
        });
    }
    server.quiet().await;
    let mut creations = Vec::new();
    for number in (0..TYPES).rev() {
        let node = server.share();
        creations.push(tokio::spawn(async move {
            node.submit(create(&format!("{{\"kind\":\"t{number}\"}}"))).await.unwrap();
        }));
    }
    for creation in creations {
        within(creation).await.unwrap();
    }
    let mut all = Vec::new();
    while all.len() < TYPES {
        let (number, count) = within(serving.recv()).await.unwrap();
        assert_eq!(count, 1);
        all.push(number);
    }
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..TYPES));
}
