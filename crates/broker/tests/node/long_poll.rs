//! Polls that wait, and what ends their waiting.

use std::time::{Duration, Instant};

use broker::Node;
use broker_api::{Broker, JobRequest};
use protocol::{ActivatedJob, Command, UpdateJob};
use tokio::task::JoinHandle;

use crate::support::{Server, jobs, task, within};

const LONG: Option<Duration> = Some(Duration::from_secs(60));

/// A poll that waits, seen to have looked in vain.
async fn waiting(server: &Server) -> JoinHandle<Vec<ActivatedJob>> {
    let node = server.share();
    let poll = tokio::spawn(async move { Node::activate_jobs(&node, jobs("t"), LONG).await.unwrap().jobs });
    server.quiet().await;
    assert!(!poll.is_finished());
    poll
}

async fn one(poll: JoinHandle<Vec<ActivatedJob>>) -> ActivatedJob {
    let mut jobs = within(poll).await.unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

#[tokio::test]
async fn it_ends_empty_when_its_time_is_over() {
    let server = Server::start().await;
    let began = Instant::now();
    let wait = Some(Duration::from_millis(100));
    assert!(within(server.activate_jobs(jobs("t"), wait)).await.unwrap().jobs.is_empty());
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn it_is_woken_by_a_creation() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    let poll = waiting(&server).await;
    let instance = server.create().await;
    assert_eq!(one(poll).await.process_instance_key, instance);
}

#[tokio::test]
async fn it_is_woken_by_the_end_of_a_backoff() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let job = server.take(1).await.remove(0);
    let failed = Instant::now();
    server.fail(&job, 2, 200).await;
    let poll = waiting(&server).await;
    let again = one(poll).await;
    assert_eq!((again.key, again.retries), (job.key, 2));
    assert!(failed.elapsed() >= Duration::from_millis(199));
}

#[tokio::test]
async fn it_is_woken_by_a_resolved_incident() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let job = server.take(1).await.remove(0);
    server.fail(&job, 0, 0).await;
    let poll = waiting(&server).await;
    let more = UpdateJob {
        job_key: job.key,
        retries: Some(1),
        timeout_ms: None,
        operation_reference: None,
        priority: None,
        lease: None,
    };
    server.submit(Command::UpdateJob(more)).await.unwrap();
    // Keys are given in order; the incident is what came after the job.
    let mut incident_key = job.key + 1;
    while server.submit(Command::ResolveIncident { incident_key, operation_reference: None }).await.is_err() {
        incident_key += 1;
        assert!(incident_key < job.key + 20, "no incident was found");
    }
    assert_eq!(one(poll).await.key, job.key);
}

#[tokio::test]
async fn it_is_woken_by_a_job_whose_worker_is_too_late() {
    let server = Server::start().await;
    server.deploy(&task("t")).await;
    server.create().await;
    let hasty = JobRequest { timeout_ms: 200, ..jobs("t") };
    let job = within(server.activate_jobs(hasty, None)).await.unwrap().jobs.remove(0);
    let poll = waiting(&server).await;
    assert_eq!(one(poll).await.key, job.key);
}

#[tokio::test]
async fn polls_that_do_not_wait_are_answered_however_many_come_at_once() {
    let server = Server::start().await;
    let polls: Vec<_> = (0..200)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move {
                for _ in 0..5 {
                    tokio::task::yield_now().await;
                    assert!(node.activate_jobs(jobs("t"), None).await.unwrap().jobs.is_empty());
                }
            })
        })
        .collect();
    for poll in polls {
        within(poll).await.unwrap();
    }
}

#[tokio::test]
async fn waiting_polls_of_an_empty_queue_cost_nothing() {
    let server = Server::start().await;
    let polls: Vec<_> = (0..50)
        .map(|_| {
            let node = server.share();
            tokio::spawn(async move { node.activate_jobs(jobs("t"), LONG).await })
        })
        .collect();
    let before = server.quiet().await;
    assert!(server.take(1).await.is_empty(), "answered from what is known");
    assert_eq!(server.quiet().await, before);
    for poll in polls {
        poll.abort();
    }
}
