//! A job worker in a process of its own that behaves like the official Java client's (camunda-client-java 8.8),
//! told from its sources:
//!
//! - One number, the capacity, bounds the jobs that are handed over: a semaphore that stream and polls share. A
//!   handed-over job waits in a queue for one of the threads, and gives its place back when its handler has
//!   returned.
//! - The stream is read one job at a time. While there is no place, reading blocks, and jobs gather in the HTTP/2
//!   window (1 MiB). After one job timeout without a place the job is dropped with a line in the log; the server is
//!   told nothing.
//! - Beside the stream it polls with long polls, one at a time. A poll asks for the capacity less the polled jobs
//!   in work, which do not include streamed ones. It polls again when polled jobs in work are at most 0.3 of the
//!   capacity. An empty answer lets the interval grow by 1.6, up to 5 s; jobs set it back to 100 ms. The jobs of a
//!   poll are handed over in the same blocking way.
//! - Deadlines are not looked at: a job that has expired in the window is worked like any other.
//! - The handler completes the job and waits for the answer. An exception in it, such as a refused completion,
//!   makes the client fail the job.

use parking_lot::Mutex;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use client::{
    ActivateJobs, Client, CompleteJob, FailJob, GrpcClient, GrpcOptions, Job, RestClient, RestOptions,
    StreamJobs,
};
use futures::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::Knobs;

/// How often the counts are told.
const REPORT_PACE: Duration = Duration::from_millis(100);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(5);
const POLL_BACKOFF: f64 = 1.6;
const POLL_AGAIN_AT: f64 = 0.3;
const POLL_WAIT: Duration = Duration::from_secs(10);
const STREAM_BACKOFF: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Counters {
    streamed: AtomicU64,
    polled: AtomicU64,
    polls: AtomicU64,
    completed: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// A job with its place, which it gives back at the end.
struct Work {
    job: Job,
    is_polled: bool,
    _place: OwnedSemaphorePermit,
}

struct Worker {
    knobs: Knobs,
    client: Client,
    streams: GrpcClient,
    places: Arc<Semaphore>,
    queue: Sender<Work>,
    /// Polled jobs that have not ended, less than zero while the jobs of a poll are handed over.
    remaining: AtomicI64,
    polled_job_ended: Notify,
    counters: Counters,
}

/// The life of the process: ends when nobody reads what it tells.
pub fn run(arguments: &[String]) -> ! {
    let knobs = match Knobs::parse(arguments) {
        Ok(knobs) => knobs,
        Err(reason) => {
            eprintln!("error: {reason}");
            std::process::exit(2);
        }
    };
    // It does not outlive the lab, frozen or not, however that ends.
    let dies = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if let Err(error) = dies {
        eprintln!("a worker of its own cannot be bound to its parent: {error}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads can be started");
    runtime.block_on(async {
        let (queue, jobs) = std::sync::mpsc::channel();
        let in_flight = knobs.threads + knobs.capacity;
        let grpc = |connections| {
            let address = format!("http://{}", knobs.grpc);
            GrpcClient::new(GrpcOptions { address, connections, window: in_flight, ..GrpcOptions::default() })
                .expect("the parent of this worker has parsed the address")
        };
        let client = if knobs.prefers_rest {
            let address = format!("http://{}", knobs.rest);
            // Connections of the Java client at the most.
            let connections = in_flight.min(100);
            let client = RestClient::new(RestOptions { address, connections, ..RestOptions::default() });
            Client::Rest(client.expect("the parent of this worker has parsed the address"))
        } else {
            Client::Grpc(grpc(1))
        };
        let worker = Arc::new(Worker {
            client,
            streams: grpc(1),
            places: Arc::new(Semaphore::new(knobs.capacity)),
            queue,
            remaining: AtomicI64::new(0),
            polled_job_ended: Notify::new(),
            counters: Counters::default(),
            knobs,
        });
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..worker.knobs.threads {
            let (worker, jobs, runtime) = (Arc::clone(&worker), Arc::clone(&jobs), Handle::current());
            std::thread::spawn(move || worker.work(&jobs, &runtime));
        }
        if worker.knobs.streams {
            tokio::spawn(Arc::clone(&worker).stream());
        }
        tokio::spawn(Arc::clone(&worker).poll());
        worker.report().await;
    });
    // Threads in work are not waited for.
    std::process::exit(0);
}

impl Worker {
    async fn stream(self: Arc<Self>) {
        loop {
            let command = StreamJobs {
                job_type: &self.knobs.job_type,
                worker: "worker",
                timeout: self.knobs.timeout,
                fetch_variables: &[],
                tenant_ids: &[],
            };
            if let Ok(mut jobs) = self.streams.stream_jobs(&command, self.knobs.window_bytes).await {
                while let Some(Ok(job)) = jobs.next().await {
                    add(&self.counters.streamed, 1);
                    self.hand_over(job, false).await;
                }
            }
            tokio::time::sleep(STREAM_BACKOFF).await;
        }
    }

    /// Blocks whoever reads until there is a place.
    async fn hand_over(&self, job: Job, is_polled: bool) {
        let place = tokio::time::timeout(self.knobs.timeout, Arc::clone(&self.places).acquire_owned()).await;
        match place {
            Ok(place) => {
                let place = place.expect("it is never closed");
                self.queue.send(Work { job, is_polled, _place: place }).expect("the threads live as long");
            }
            Err(_) => add(&self.counters.dropped, 1),
        }
    }

    async fn poll(self: Arc<Self>) {
        let mut interval = POLL_INTERVAL;
        let again_at = (self.knobs.capacity as f64 * POLL_AGAIN_AT).round() as i64;
        let mut is_scheduled = true;
        loop {
            if is_scheduled {
                tokio::time::sleep(interval).await;
            } else {
                self.polled_job_ended.notified().await;
            }
            is_scheduled = false;
            let remaining = self.remaining.load(Ordering::Relaxed);
            if remaining > again_at {
                continue;
            }
            let request = ActivateJobs {
                job_type: &self.knobs.job_type,
                worker: "worker",
                timeout: self.knobs.timeout,
                jobs_max: (self.knobs.capacity as i64 - remaining) as u32,
                fetch_variables: &[],
                wait: Some(POLL_WAIT),
                tenant_ids: &[],
            };
            add(&self.counters.polls, 1);
            let Ok(jobs) = self.client.activate_jobs(&request).await else {
                interval = longer(interval);
                is_scheduled = true;
                continue;
            };
            let count = jobs.len();
            add(&self.counters.polled, count as u64);
            for job in jobs {
                self.hand_over(job, true).await;
            }
            let remaining = self.remaining.fetch_add(count as i64, Ordering::Relaxed) + count as i64;
            if count == 0 && self.knobs.streams {
                interval = longer(interval);
                is_scheduled = true;
            } else {
                interval = POLL_INTERVAL;
                is_scheduled = remaining <= 0;
            }
        }
    }

    /// One thread.
    fn work(&self, jobs: &Mutex<Receiver<Work>>, runtime: &Handle) {
        loop {
            let next = jobs.lock().recv();
            let Ok(work) = next else { return };
            std::thread::sleep(self.length(work.job.key));
            let done = runtime
                .block_on(self.client.complete_job(&CompleteJob { job_key: work.job.key, variables: None }));
            match &done {
                Ok(()) => add(&self.counters.completed, 1),
                Err(error) if error.is_not_found() => add(&self.counters.refused, 1),
                Err(_) => add(&self.counters.failed, 1),
            }
            if done.is_err() {
                let client = self.client.clone();
                let (job_key, retries) = (work.job.key, work.job.retries - 1);
                runtime.spawn(async move {
                    let (retry_backoff, variables) = (Duration::ZERO, None);
                    let command =
                        FailJob { job_key, retries, error_message: "refused", retry_backoff, variables };
                    _ = client.fail_job(&command).await;
                });
            }
            let is_polled = work.is_polled;
            if is_polled {
                self.remaining.fetch_sub(1, Ordering::Relaxed);
                self.polled_job_ended.notify_one();
            }
        }
    }

    /// How long a job takes: the same job always the same.
    fn length(&self, key: i64) -> Duration {
        let (shortest, longest) = self.knobs.work;
        let parts = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        shortest + longest.saturating_sub(shortest).mul_f64(parts as f64 / 65536.0)
    }

    async fn report(&self) {
        let mut ticks = tokio::time::interval(REPORT_PACE);
        loop {
            ticks.tick().await;
            let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let counters = &self.counters;
            let line = format!(
                "streamed={} polled={} polls={} completed={} refused={} failed={} dropped={}\n",
                count(&counters.streamed),
                count(&counters.polled),
                count(&counters.polls),
                count(&counters.completed),
                count(&counters.refused),
                count(&counters.failed),
                count(&counters.dropped),
            );
            if std::io::stdout().write_all(line.as_bytes()).is_err() || std::io::stdout().flush().is_err() {
                return;
            }
        }
    }
}

/// As the client's own backoff, without its jitter.
fn longer(interval: Duration) -> Duration {
    interval.mul_f64(POLL_BACKOFF).min(POLL_INTERVAL_MAX)
}
