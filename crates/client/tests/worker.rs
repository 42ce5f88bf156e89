//! The job worker against a server in the same process.
#![allow(clippy::unwrap_used)]

mod fakes;

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use client::{Client, Error, Job, JobHandler, JobWorker, Outcome, Transport, WorkerOptions};
use fakes::FakeGateway;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

/// Completes jobs when allowed to, and tells when `expected` reports were taken.
#[derive(Clone)]
struct Handler {
    outcome: fn(&Job) -> Outcome,
    gate: Arc<Semaphore>,
    in_work: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
    reported: Arc<Mutex<Vec<(i64, bool)>>>,
    expected: usize,
    all: Arc<Notify>,
}

impl Handler {
    fn new(expected: usize, outcome: fn(&Job) -> Outcome) -> Self {
        Self {
            outcome,
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            in_work: Arc::default(),
            peak: Arc::default(),
            reported: Arc::default(),
            expected,
            all: Arc::default(),
        }
    }
}

impl JobHandler for Handler {
    fn handle(&self, job: &Job) -> impl Future<Output = Outcome> + Send {
        let outcome = (self.outcome)(job);
        async move {
            let now = self.in_work.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(now, Ordering::SeqCst);
            let _permit = self.gate.acquire().await.unwrap();
            tokio::task::yield_now().await;
            self.in_work.fetch_sub(1, Ordering::SeqCst);
            outcome
        }
    }

    fn reported(&self, job: &Job, result: Result<(), &Error>) {
        let mut reported = self.reported.lock();
        reported.push((job.key, result.is_ok()));
        if reported.len() == self.expected {
            self.all.notify_one();
        }
    }

    fn not_renewed(&self, _: &Job, _: &Error) {
        self.gate.add_permits(1);
    }

    fn lost(&self, job: &Job, error: &Error) {
        assert!(error.is_not_found(), "{error}");
        self.reported(job, Err(error));
    }
}

fn complete(_: &Job) -> Outcome {
    Outcome::Complete(Some(r#"{"done":true}"#.to_owned()))
}

async fn run(gateway: &FakeGateway, streaming: bool, capacity: usize, handler: &Handler) {
    let address = fakes::grpc_server(gateway.clone()).await;
    let client = fakes::grpc_client(address);
    let transport = if streaming { Transport::Stream(client.clone()) } else { Transport::Poll };
    let options = WorkerOptions { capacity, transport, ..WorkerOptions::new("work") };
    let worker = JobWorker::new(Client::Grpc(client), options, handler.clone()).start();
    handler.all.notified().await;
    worker.stop().await;
}

fn completed(gateway: &FakeGateway) -> Vec<i64> {
    let mut keys: Vec<i64> = gateway.book.lock().completed.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn polls_and_completes_everything_once() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.extend((1..=100).map(fakes::job));
    let handler = Handler::new(100, complete);
    run(&gateway, false, 8, &handler).await;
    assert_eq!(completed(&gateway), (1..=100).collect::<Vec<_>>());
    assert!(handler.peak.load(Ordering::SeqCst) <= 8);
    assert_eq!(gateway.book.lock().completed[0].1, r#"{"done":true}"#);
}

#[tokio::test]
async fn streams_and_completes_everything_once() {
    let gateway = FakeGateway::default();
    gateway.book.lock().streamed.extend((1..=100).map(fakes::job));
    let handler = Handler::new(100, complete);
    run(&gateway, true, 8, &handler).await;
    assert_eq!(completed(&gateway), (1..=100).collect::<Vec<_>>());
    assert!(handler.peak.load(Ordering::SeqCst) <= 8);
}

#[tokio::test]
async fn a_streaming_worker_finds_jobs_from_before_the_stream() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.extend((1..=30).map(fakes::job));
    let handler = Handler::new(30, complete);
    run(&gateway, true, 4, &handler).await;
    assert_eq!(completed(&gateway), (1..=30).collect::<Vec<_>>());
}

#[tokio::test]
async fn overload_is_waited_out_and_no_job_fails() {
    let gateway = FakeGateway::default();
    {
        let mut book = gateway.book.lock();
        book.waiting.extend((1..=3).map(fakes::job));
        book.refusals = 4;
    }
    let handler = Handler::new(3, complete);
    run(&gateway, false, 8, &handler).await;
    assert_eq!(completed(&gateway), [1, 2, 3]);
    assert!(handler.reported.lock().iter().all(|(_, taken)| *taken));
}

#[tokio::test]
async fn failures_and_errors_are_reported() {
    fn outcome(job: &Job) -> Outcome {
        match job.key {
            1 => Outcome::Fail {
                retries: job.retries - 1,
                message: "no".to_owned(),
                backoff: Duration::from_secs(2),
            },
            2 => Outcome::Error {
                code: "E".to_owned(),
                message: "business".to_owned(),
                variables: Some("{}".to_owned()),
            },
            _ => Outcome::Leave,
        }
    }
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.extend((1..=3).map(fakes::job));
    run(&gateway, false, 8, &Handler::new(3, outcome)).await;
    let book = gateway.book.lock();
    assert_eq!((book.failed[0].retries, book.failed[0].retry_back_off), (2, 2000));
    assert_eq!(book.thrown[0].error_code, "E");
    assert!(book.completed.is_empty());
}

#[tokio::test]
async fn an_expired_job_is_not_worked() {
    let gateway = FakeGateway::default();
    {
        let mut book = gateway.book.lock();
        book.waiting.push_back(grpc::ActivatedJob { deadline: 1, ..fakes::job(1) });
        book.waiting.push_back(fakes::job(2));
    }
    run(&gateway, false, 8, &Handler::new(1, complete)).await;
    assert_eq!(completed(&gateway), [2]);
}

/// While all of its room is taken, a worker leaves jobs with the server.
#[tokio::test]
async fn a_full_worker_asks_for_nothing() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.extend((1..=10).map(fakes::job));
    let mut handler = Handler::new(10, complete);
    handler.gate = Arc::new(Semaphore::new(0));
    let watched = handler.clone();
    let there = gateway.clone();
    let release = tokio::spawn(async move {
        while watched.in_work.load(Ordering::SeqCst) < 4 {
            tokio::task::yield_now().await;
        }
        let left = there.book.lock().waiting.len();
        watched.gate.add_permits(100);
        left
    });
    run(&gateway, false, 4, &handler).await;
    assert_eq!(release.await.unwrap(), 6);
    assert_eq!(handler.peak.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_worker_ends_after_so_many_jobs_and_takes_no_more() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.extend((1..=10).map(fakes::job));
    let client = Client::Grpc(fakes::grpc_client(fakes::grpc_server(gateway.clone()).await));
    let options = WorkerOptions { capacity: 2, jobs_max: Some(5), ..WorkerOptions::new("work") };
    JobWorker::new(client, options, Handler::new(5, complete)).run(CancellationToken::new()).await;
    assert_eq!(completed(&gateway), [1, 2, 3, 4, 5]);
    assert_eq!(gateway.book.lock().waiting.len(), 5);
}

/// A job that is still a while with its worker.
fn short_job(key: i64) -> grpc::ActivatedJob {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let deadline = i64::try_from((now + SHORT).as_millis()).unwrap();
    grpc::ActivatedJob { deadline, ..fakes::job(key) }
}

const SHORT: Duration = Duration::from_millis(500);

async fn run_renewing(gateway: &FakeGateway, handler: &Handler) {
    let client = Client::Grpc(fakes::grpc_client(fakes::grpc_server(gateway.clone()).await));
    let options =
        WorkerOptions { jobs_max: Some(1), timeout: SHORT, renews: true, ..WorkerOptions::new("work") };
    JobWorker::new(client, options, handler.clone()).run(CancellationToken::new()).await;
}

#[tokio::test]
async fn a_job_in_work_gets_its_time_limit_anew() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.push_back(short_job(1));
    let mut handler = Handler::new(1, complete);
    handler.gate = Arc::new(Semaphore::new(0));
    let (gate, there) = (Arc::clone(&handler.gate), gateway.clone());
    let release = tokio::spawn(async move {
        while there.book.lock().renewed.len() < 3 {
            tokio::task::yield_now().await;
        }
        gate.add_permits(1);
    });
    run_renewing(&gateway, &handler).await;
    release.await.unwrap();
    assert_eq!(completed(&gateway), [1]);
}

#[tokio::test]
async fn a_job_that_is_gone_is_given_up() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.push_back(short_job(1));
    gateway.book.lock().gone = Some(1);
    let mut handler = Handler::new(1, complete);
    // It would never end by itself.
    handler.gate = Arc::new(Semaphore::new(0));
    run_renewing(&gateway, &handler).await;
    assert_eq!(*handler.reported.lock(), [(1, false)]);
    assert!(completed(&gateway).is_empty());
}

#[tokio::test]
async fn a_worker_that_may_not_renew_goes_on() {
    let gateway = FakeGateway::default();
    gateway.book.lock().waiting.push_back(short_job(1));
    gateway.book.lock().forbids_renewals = true;
    let mut handler = Handler::new(1, complete);
    // It opens when the worker tells that the job is not renewed.
    handler.gate = Arc::new(Semaphore::new(0));
    run_renewing(&gateway, &handler).await;
    assert_eq!(completed(&gateway), [1]);
}
