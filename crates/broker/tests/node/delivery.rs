//! Jobs go to those who asked, when they asked, and to nobody else.

use std::collections::BTreeSet;
use std::time::Duration;

use broker_api::{Broker, JobRequest};
use futures::{FutureExt, StreamExt};
use protocol::Name;

use crate::support::{HOUR_MS, Server, create, created, instance, jobs, keys, next, task, within};

#[tokio::test]
async fn a_stream_with_room_gets_a_job_with_the_entry_that_creates_it() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let mut stream = server.stream("t");
    let before = server.quiet().await;
    let instance = server.create().await;
    let job = next(&mut stream).await;
    assert_eq!(job.process_instance_key, instance);
    assert_eq!(server.quiet().await, before + 1);
    server.complete(&job).await.unwrap();
    assert_eq!(server.quiet().await, before + 2, "an instance with one job costs two entries");
}

#[tokio::test]
async fn a_job_has_a_lease_if_that_is_asked_for() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let leased = JobRequest { with_lease: true, ..jobs("t") };
    let activation = within(server.activate_jobs(leased, None)).await.unwrap();
    assert!(activation.jobs[0].lease.is_some());
    server.create().await;
    assert!(server.take(1).await[0].lease.is_none());
}

#[tokio::test]
async fn a_stream_that_is_not_read_gets_no_more_than_its_buffer() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 4).await;
    server.deploy(&task("t")).await;
    let stream = server.stream("t");
    for _ in 0..20 {
        server.create().await;
    }
    let others = server.take(1000).await;
    assert_eq!(others.len(), 16);
    assert!(stream.take(4).collect::<Vec<_>>().now_or_never().is_some_and(|held| held.len() == 4));
}

#[tokio::test]
async fn the_jobs_of_a_stream_that_goes_away_go_to_another_at_once() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 4).await;
    server.deploy(&task("t")).await;
    let first = server.stream("t");
    let mut created = BTreeSet::new();
    for _ in 0..4 {
        created.insert(server.create().await);
    }
    assert!(server.take(1000).await.is_empty());
    let mut second = server.stream("t");
    drop(first);
    let mut got = BTreeSet::new();
    while got.len() < 4 {
        got.insert(next(&mut second).await.process_instance_key);
    }
    assert_eq!(got, created);
}

#[tokio::test]
async fn polls_that_are_given_up_lose_no_job() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let mut expected = BTreeSet::new();
    let mut got = BTreeSet::new();
    for round in 0..100 {
        let node = server.share();
        let poll = tokio::spawn(async move {
            node.activate_jobs(JobRequest { max_jobs: 1, ..jobs("t") }, Some(Duration::from_secs(60))).await
        });
        let node = server.share();
        let creation = tokio::spawn(async move { created(&node.submit(create("{}")).await.unwrap()) });
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        poll.abort();
        // A poll that had its answer by then has its job.
        if let Ok(polled) = poll.await {
            got.extend(polled.unwrap().jobs.iter().map(|job| job.process_instance_key));
        }
        expected.insert(within(creation).await.unwrap());
    }
    while got.len() < expected.len() {
        let wait = Some(Duration::from_secs(5));
        let rest = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs;
        assert!(!rest.is_empty(), "{} jobs are lost", expected.len() - got.len());
        got.extend(rest.iter().map(|job| job.process_instance_key));
    }
    assert_eq!(got, expected);
}

#[tokio::test]
async fn a_job_that_waited_in_a_buffer_beyond_its_time_is_not_taken_from_its_next_owner() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 1).await;
    server.deploy(&task("t")).await;
    let mut forgetful = server.stream_jobs(JobRequest { timeout_ms: 50, ..jobs("t") }).unwrap();
    server.create().await;
    // The job's time in the buffer runs out, and this one gets it.
    let wait = Some(Duration::from_secs(10));
    let owned = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs;
    assert_eq!(owned.len(), 1);
    assert!(forgetful.next().now_or_never().is_none(), "what is over is not handed out");
    server.create().await;
    let held = next(&mut forgetful).await;
    assert_ne!(held.key, owned[0].key);
    drop(forgetful);
    server.quiet().await;
    assert!(!keys(&server.take(1000).await).contains(&owned[0].key));
    server.complete(&owned[0]).await.unwrap();
}

#[tokio::test]
async fn an_expired_buffer_that_is_dropped_takes_nothing_from_anybody() {
    let server = Server::with(|options| options.partition.jobs.stream_buffer = 1).await;
    server.deploy(&task("t")).await;
    let forgetful = server.stream_jobs(JobRequest { timeout_ms: 50, ..jobs("t") }).unwrap();
    server.create().await;
    let wait = Some(Duration::from_secs(10));
    let owned = within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs;
    assert_eq!(owned.len(), 1);
    drop(forgetful);
    server.quiet().await;
    assert!(server.take(1000).await.is_empty());
}

#[tokio::test]
async fn the_backlog_comes_first_and_in_order() {
    let server = Server::with(|options| {
        options.partition.jobs.stream_buffer = 8;
        options.partition.jobs.first_stream_credit = 1000;
    })
    .await;
    server.deploy(&task("t")).await;
    let mut instances = Vec::new();
    for _ in 0..100 {
        instances.push(server.create().await);
    }
    let mut stream = server.stream("t");
    let mut got = Vec::new();
    while got.len() < 200 {
        got.push(next(&mut stream).await.process_instance_key);
        if instances.len() < 200 {
            instances.push(server.create().await);
        }
    }
    assert_eq!(got, instances);
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn a_backlog_costs_far_fewer_entries_than_jobs() {
    let server = Server::with(|options| {
        options.partition.jobs.stream_buffer = 64;
        options.partition.jobs.first_stream_credit = 1000;
    })
    .await;
    server.deploy(&task("t")).await;
    for _ in 0..256 {
        server.create().await;
    }
    let before = server.quiet().await;
    let mut stream = server.stream("t");
    for _ in 0..256 {
        next(&mut stream).await;
        // A slow reader: every entry that its room could cause is caused.
        server.quiet_moment().await;
    }
    let entries = server.quiet().await - before;
    assert!(entries <= 40, "{entries} entries for 256 jobs");
}

#[tokio::test]
async fn nobody_gets_jobs_of_a_type_or_tenant_or_number_that_was_not_asked_for() {
    let server = Server::start().await;
    server.deploy(&task("=kind")).await;
    server.deploy_for("other", &task("=kind")).await;
    for kind in ["t", "u"] {
        server.submit(create(&format!("{{\"kind\":\"{kind}\"}}"))).await.unwrap();
        let mut foreign = instance(&format!("{{\"kind\":\"{kind}\"}}"));
        foreign.tenant_id = Name::from("other");
        server.submit(protocol::Command::CreateInstance(foreign)).await.unwrap();
    }
    let none = server.activate_jobs(JobRequest { max_jobs: 0, ..jobs("t") }, None);
    assert!(within(none).await.unwrap().jobs.is_empty());
    let got = server.take(1000).await;
    assert_eq!(got.len(), 1);
    assert_eq!((got[0].job_type.as_str(), got[0].tenant_id.as_str()), ("t", "<default>"));
    let mut stream = server.stream("u");
    let job = next(&mut stream).await;
    assert_eq!((job.job_type.as_str(), job.tenant_id.as_str()), ("u", "<default>"));
    assert!(job.deadline_ms > HOUR_MS);
    server.quiet().await;
    assert!(stream.next().now_or_never().is_none());
}

#[tokio::test]
async fn an_empty_queue_of_one_tenant_says_nothing_about_another() {
    let server = Server::start().await;
    server.deploy_for("other", &task("t")).await;
    let _mine = server.stream("t");
    server.quiet().await;
    let mut foreign = instance("{}");
    foreign.tenant_id = Name::from("other");
    server.submit(protocol::Command::CreateInstance(foreign)).await.unwrap();
    server.quiet().await;
    let theirs = JobRequest { tenant_ids: vec![Name::from("other")], ..jobs("t") };
    assert_eq!(within(server.activate_jobs(theirs, None)).await.unwrap().jobs.len(), 1);
}
