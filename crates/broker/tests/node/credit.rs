//! Streams get what they have credit for, however much their transport takes; polls get what streams leave.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use broker::Node;
use broker_api::{Broker, JobRequest, JobStream};
use futures::{FutureExt, StreamExt};
use protocol::{ActivatedJob, Name};

use crate::support::{Server, cancel, jobs, keys, next, task, within};

/// Jobs that a stream yields at once.
fn taken(stream: &mut JobStream) -> Vec<ActivatedJob> {
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

/// Takes what comes until nothing does any more.
async fn greedy(server: &Server, stream: &mut JobStream) -> Vec<ActivatedJob> {
    let mut all = Vec::new();
    loop {
        server.quiet().await;
        let more = taken(stream);
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

async fn with_backlog(credit: u32, backlog: usize) -> Server {
    let server = Server::with(|options| options.partition.jobs.first_stream_credit = credit).await;
    server.deploy(&task("t")).await;
    for _ in 0..backlog {
        server.create().await;
    }
    server
}

#[tokio::test]
async fn a_worker_that_takes_everything_and_ends_nothing_gets_its_first_credit() {
    let server = with_backlog(8, 40).await;
    let mut stream = server.stream("t");
    let held = greedy(&server, &mut stream).await;
    assert_eq!(held.len(), 8);
    // Each that ends makes room for one, however it ends.
    server.complete(&held[0]).await.unwrap();
    server.fail(&held[1], 2, 3_600_000).await;
    server.submit(cancel(held[2].process_instance_key)).await.unwrap();
    let more = [next(&mut stream).await, next(&mut stream).await, next(&mut stream).await];
    assert!(greedy(&server, &mut stream).await.is_empty());
    let all: BTreeSet<_> = held.iter().chain(&more).map(|job| job.key).collect();
    assert_eq!(all.len(), 11, "none comes twice");
}

#[tokio::test]
async fn a_job_type_may_begin_with_more() {
    let server = Server::with(|options| {
        options.partition.jobs.first_stream_credit = 2;
        options.partition.jobs.first_stream_credits.insert(Name::from("t"), 12);
    })
    .await;
    server.deploy(&task("t")).await;
    for _ in 0..20 {
        server.create().await;
    }
    let mut stream = server.stream("t");
    assert_eq!(greedy(&server, &mut stream).await.len(), 12);
}

#[tokio::test]
async fn what_timed_out_does_not_come_to_the_same_stream_before_it_is_worked_off() {
    let server = with_backlog(4, 10).await;
    let mut frozen = server.stream_jobs(JobRequest { timeout_ms: 1500, ..jobs("t") }).unwrap();
    let held = greedy(&server, &mut frozen).await;
    assert_eq!(held.len(), 4);
    // Another stream is given them when their time is over: they are in the queue again.
    let mut other = server.stream_jobs(JobRequest { worker: Name::from("other"), ..jobs("t") }).unwrap();
    assert_eq!(greedy(&server, &mut other).await.len(), 4);
    let wait = Some(Duration::from_secs(10));
    let poll = JobRequest { worker: Name::from("poll"), max_jobs: 3, ..jobs("t") };
    let mut polled = Vec::new();
    while !polled.contains(&held[0].key) {
        polled.extend(keys(&within(server.activate_jobs(poll.clone(), wait)).await.unwrap().jobs));
    }
    // Two of the four are in the queue still, and the stream holds all: it gets none of them, nor any other.
    assert!(greedy(&server, &mut frozen).await.is_empty());
    // It thaws. Its completions are accepted while no other worker has the jobs.
    for job in &held {
        server.complete(job).await.unwrap();
    }
    let rest = greedy(&server, &mut frozen).await;
    assert!(rest.iter().all(|job| !keys(&held).contains(&job.key)));
}

#[tokio::test]
async fn one_job_that_is_stuck_does_not_hold_up_a_stream() {
    let server = with_backlog(4, 0).await;
    let mut stream = server.stream_jobs(JobRequest { timeout_ms: 1000, ..jobs("t") }).unwrap();
    let stuck_instance = server.create().await;
    let stuck = next(&mut stream).await;
    assert_eq!(stuck.process_instance_key, stuck_instance);
    let began = Instant::now();
    let mut done = 0;
    while began.elapsed() < Duration::from_millis(1600) {
        let instance = server.create().await;
        let job = next(&mut stream).await;
        assert_eq!(job.process_instance_key, instance, "others come, and the stuck one does not come again");
        server.complete(&job).await.unwrap();
        done += 1;
    }
    assert!(done > 4);
    // It is given once more when its time was over twice.
    let again = next(&mut stream).await;
    assert_eq!(again.key, stuck.key);
    assert!(began.elapsed() >= Duration::from_millis(1900));
    server.complete(&again).await.unwrap();
}

#[tokio::test]
async fn a_refused_answer_tells_that_the_job_is_not_held_any_more() {
    let server = with_backlog(2, 4).await;
    let mut frozen = server.stream_jobs(JobRequest { timeout_ms: 1000, ..jobs("t") }).unwrap();
    let held = greedy(&server, &mut frozen).await;
    assert_eq!(held.len(), 2);
    let wait = Some(Duration::from_secs(10));
    let mut elsewhere = BTreeSet::new();
    while elsewhere.len() < 4 {
        let poll = JobRequest { worker: Name::from("poll"), ..jobs("t") };
        for job in within(server.activate_jobs(poll, wait)).await.unwrap().jobs {
            elsewhere.insert(job.key);
            server.complete(&job).await.unwrap();
        }
    }
    for _ in 0..4 {
        server.create().await;
    }
    for job in &held {
        server.complete(job).await.unwrap_err();
    }
    // Half the credit was lost with the jobs that timed out.
    assert_eq!(greedy(&server, &mut frozen).await.len(), 1);
}

#[tokio::test]
async fn a_poll_waits_while_a_stream_has_credit_and_is_served_when_it_has_none() {
    let server = with_backlog(3, 0).await;
    let mut stream = server.stream("t");
    let node = server.share();
    let poll = tokio::spawn(async move {
        Node::activate_jobs(&node, jobs("t"), Some(Duration::from_secs(20))).await.unwrap().jobs
    });
    server.quiet().await;
    let mut held = Vec::new();
    for _ in 0..3 {
        server.create().await;
        held.push(next(&mut stream).await);
        assert!(!poll.is_finished(), "the stream has credit");
    }
    let instance = server.create().await;
    let polled = within(poll).await.unwrap();
    assert_eq!(polled.len(), 1);
    assert_eq!(polled[0].process_instance_key, instance);
    // A request that does not wait is answered at once, whatever the credit.
    server.create().await;
    assert_eq!(server.take(10).await.len(), 1);
    // Now the stream has had none for long: the next poll is served at once.
    server.complete(&held[0]).await.unwrap();
    let instance = server.create().await;
    assert_eq!(next(&mut stream).await.process_instance_key, instance);
}

#[tokio::test]
async fn the_jobs_of_a_closed_stream_keep_their_time_and_burden_no_other() {
    let server = with_backlog(4, 8).await;
    let mut first = server.stream_jobs(JobRequest { timeout_ms: 1500, ..jobs("t") }).unwrap();
    let held = greedy(&server, &mut first).await;
    assert_eq!(held.len(), 4);
    drop(first);
    let mut second = server.stream_jobs(JobRequest { timeout_ms: 60_000, ..jobs("t") }).unwrap();
    let got = greedy(&server, &mut second).await;
    assert_eq!(got.len(), 4);
    for job in &got {
        server.complete(job).await.unwrap();
    }
    let mut again = BTreeSet::new();
    while again.len() < 4 {
        again.insert(next(&mut second).await.key);
    }
    assert_eq!(again, keys(&held).into_iter().collect());
}
