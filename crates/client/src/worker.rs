//! A job worker: takes jobs by polling or by stream, works at most `capacity` at a time, and reports each result.
//!
//! Memory is bounded by design: a job is taken only while there is room for it, all jobs in work live in one task, and
//! a report that meets an overloaded server is tried again with growing pauses until the job's deadline, never queued.
//! A streaming worker polls too, but rarely: jobs created while no stream was open would wait for ever otherwise.

#![expect(missing_docs, reason = "names say what is held")]

use std::{
    future::{Future, ready},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use parking_lot::Mutex;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    ActivateJobs, Client, CompleteJob, Error, FailJob, GrpcClient, Job, JobStream, StreamJobs, ThrowError,
    UpdateJob,
};

/// Pauses between tries grow from the first by half again and again to the last.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_LAST: Duration = Duration::from_secs(5);
/// Renewals of a job's time limit are at least so far apart.
const RENEWAL_PAUSE_MIN: Duration = Duration::from_millis(100);
/// A streaming worker asks for forgotten jobs this often.
const STREAM_POLL_INTERVAL: Duration = Duration::from_secs(10);
/// Room on the wire per job that a stream may hold, bytes; a stream's window is this times the capacity, within limits.
const STREAM_WINDOW_BYTES_PER_JOB: u32 = 1024;
const STREAM_WINDOW_BYTES: std::ops::RangeInclusive<u32> = 16 * 1024..=1024 * 1024;

/// How a worker gets its jobs.
#[derive(Clone)]
pub enum Transport {
    /// Long polling with the worker's own client.
    Poll,
    /// A gRPC stream, opened with this client, beside rare polls with the worker's own.
    Stream(GrpcClient),
}

/// Settings of a [`JobWorker`].
#[derive(Clone)]
pub struct WorkerOptions {
    pub job_type: String,
    /// Name of the worker, for people who look.
    pub name: String,
    /// Jobs in work at a time, at least one.
    pub capacity: usize,
    /// How long a job belongs to this worker.
    pub timeout: Duration,
    /// How long a poll waits at the server for a job.
    pub poll_wait: Duration,
    /// Pause between taking a job and working it, as if the work took that long.
    pub delay: Duration,
    /// Variables to fetch; empty means all.
    pub fetch_variables: Vec<String>,
    /// Tenants to take jobs of; empty means the default one.
    pub tenant_ids: Vec<String>,
    /// Jobs after which the worker ends by itself; for polling workers.
    pub jobs_max: Option<usize>,
    /// Whether a job that takes long gets its time limit anew while it is in work.
    pub renews: bool,
    pub transport: Transport,
}

impl WorkerOptions {
    /// A polling worker for `job_type` with the customary settings.
    pub fn new(job_type: impl Into<String>) -> Self {
        Self {
            job_type: job_type.into(),
            name: "baton".to_owned(),
            capacity: 32,
            timeout: Duration::from_mins(5),
            poll_wait: Duration::from_secs(10),
            delay: Duration::ZERO,
            fetch_variables: Vec::new(),
            tenant_ids: Vec::new(),
            jobs_max: None,
            renews: false,
            transport: Transport::Poll,
        }
    }
}

/// Outcome of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with result variables (JSON text).
    Complete(Option<String>),
    Fail {
        /// Tries left; zero raises an incident.
        retries: i32,
        message: String,
        /// Pause before the next try.
        backoff: Duration,
    },
    /// A business error for the process to catch.
    Error {
        /// Code that error events catch.
        code: String,
        message: String,
        /// Variables for the catching event (JSON text).
        variables: Option<String>,
    },
    /// Nothing to report; the job times out unless somebody else reports.
    Leave,
}

pub trait JobHandler: Send + Sync + 'static {
    fn handle(&self, job: &Job) -> impl Future<Output = Outcome> + Send;

    /// The server has taken the outcome, or has refused it for good.
    fn reported(&self, job: &Job, result: Result<(), &Error>) {
        let _ = (job, result);
    }

    /// The job is no longer there, or no longer this worker's: its handling was given up.
    fn lost(&self, job: &Job, error: &Error) {
        tracing::debug!(job.key, %error, "a job is gone");
    }

    /// The time limit of jobs cannot be set anew: their handling goes on, and must end within the limit.
    fn not_renewed(&self, job: &Job, error: &Error) {
        tracing::debug!(job.key, %error, "a job is not renewed");
    }

    /// Jobs could not be fetched; the worker tries again by itself.
    fn interrupted(&self, error: &Error) {
        tracing::debug!(%error, "fetching jobs failed");
    }
}

/// Any function from job to outcome is a handler.
impl<F> JobHandler for F
where
    F: Fn(&Job) -> Outcome + Send + Sync + 'static,
{
    fn handle(&self, job: &Job) -> impl Future<Output = Outcome> + Send {
        ready(self(job))
    }
}

/// A worker before it starts.
pub struct JobWorker<H> {
    client: Client,
    options: WorkerOptions,
    handler: Arc<H>,
}

#[derive(Debug)]
pub struct WorkerHandle {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl WorkerHandle {
    /// Takes no more jobs, finishes and reports those in work, and ends.
    pub async fn stop(self) {
        self.stop.cancel();
        // A panic of the handler has been printed; there is nothing more to wait for.
        let _ = self.task.await;
    }
}

impl<H: JobHandler> JobWorker<H> {
    /// A worker that polls and reports with `client`.
    pub fn new(client: Client, options: WorkerOptions, handler: H) -> Self {
        Self { client, options, handler: Arc::new(handler) }
    }

    /// Runs in the background until stopped.
    pub fn start(self) -> WorkerHandle {
        let stop = CancellationToken::new();
        let task = tokio::spawn(self.run(stop.clone()));
        WorkerHandle { stop, task }
    }

    /// Runs until `stop` is cancelled and the jobs in work are reported.
    pub async fn run(self, stop: CancellationToken) {
        let capacity = self.options.capacity.max(1);
        let mut in_work = FuturesUnordered::new();
        let mut source = Source::new(&self.client, &self.options);
        let mut left = self.options.jobs_max.unwrap_or(usize::MAX);
        while left > 0 {
            // A poll that was under way may have brought more than there is room for.
            let room = capacity.saturating_sub(in_work.len()).min(left);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(()) = in_work.next() => {}
                jobs = source.next(room, capacity.min(left)), if room > 0 => match jobs {
                    Ok(jobs) => {
                        left = left.saturating_sub(jobs.len());
                        for job in jobs {
                            in_work.push(self.work(job));
                        }
                    }
                    Err(error) => self.handler.interrupted(&error),
                },
            }
        }
        drop(source);
        while in_work.next().await.is_some() {}
    }

    async fn work(&self, job: Job) {
        if !self.options.delay.is_zero() {
            tokio::time::sleep(self.options.delay).await;
        }
        // The server may have given an expired job to somebody else: working it would do the work twice.
        if job.time_left().is_zero() {
            return;
        }
        let deadline = Mutex::new(Instant::now() + job.time_left());
        let outcome = tokio::select! {
            biased;
            outcome = self.handler.handle(&job) => outcome,
            error = self.renew(&job, &deadline), if self.options.renews => {
                return self.handler.lost(&job, &error);
            }
        };
        let deadline = *deadline.lock();
        let result = self.report(&job, &outcome, deadline).await;
        self.handler.reported(&job, result.as_ref().map(|&()| ()));
    }

    /// Gives the job its time limit anew, again and again, until it is gone.
    async fn renew(&self, job: &Job, deadline: &Mutex<Instant>) -> Error {
        let update = UpdateJob { job_key: job.key, retries: None, timeout: Some(self.options.timeout) };
        loop {
            let left = deadline.lock().saturating_duration_since(Instant::now());
            tokio::time::sleep((left / 2).max(RENEWAL_PAUSE_MIN)).await;
            let asked = Instant::now();
            match self.client.update_job(&update).await {
                Ok(()) => *deadline.lock() = asked + self.options.timeout,
                Err(error) if error.is_transient() => {}
                Err(error) if error.is_not_found() || error.is_conflict() => return error,
                // Not allowed, for instance: that says nothing of the job.
                Err(error) => {
                    self.handler.not_renewed(job, &error);
                    return std::future::pending().await;
                }
            }
        }
    }

    /// Reports until the server takes it, refuses it for good, or the job is no longer ours.
    async fn report(&self, job: &Job, outcome: &Outcome, deadline: Instant) -> Result<(), Error> {
        let mut backoff = Backoff::default();
        loop {
            match self.report_once(job.key, outcome).await {
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    tokio::time::sleep(backoff.next()).await;
                }
                result => return result,
            }
        }
    }

    async fn report_once(&self, job_key: i64, outcome: &Outcome) -> Result<(), Error> {
        match outcome {
            Outcome::Complete(variables) => {
                self.client.complete_job(&CompleteJob { job_key, variables: variables.as_deref() }).await
            }
            Outcome::Fail { retries, message, backoff } => {
                let (retries, retry_backoff) = (*retries, *backoff);
                let command =
                    FailJob { job_key, retries, error_message: message, retry_backoff, variables: None };
                self.client.fail_job(&command).await
            }
            Outcome::Error { code, message, variables } => {
                let variables = variables.as_deref();
                let command = ThrowError { job_key, error_code: code, error_message: message, variables };
                self.client.throw_error(&command).await
            }
            Outcome::Leave => Ok(()),
        }
    }
}

struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(BACKOFF_FIRST)
    }
}

impl Backoff {
    fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 3 / 2).min(BACKOFF_LAST);
        pause
    }
}

type Polling<'a> = futures::future::BoxFuture<'a, Result<Vec<Job>, Error>>;
type Opening<'a> = futures::future::BoxFuture<'a, Result<JobStream, Error>>;

/// Where jobs come from: at most one poll under way, and at most one stream.
struct Source<'a> {
    client: &'a Client,
    options: &'a WorkerOptions,
    poll: Option<Polling<'a>>,
    poll_not_before: Instant,
    /// The poll under way began before the stream was open: jobs may have fallen in between.
    poll_again: bool,
    poll_backoff: Backoff,
    stream: Streamed<'a>,
    stream_backoff: Backoff,
}

enum Streamed<'a> {
    Unwanted,
    Opening(Opening<'a>),
    Open(Box<JobStream>),
    Pausing(Instant),
}

impl<'a> Source<'a> {
    fn new(client: &'a Client, options: &'a WorkerOptions) -> Self {
        Self {
            client,
            options,
            poll: None,
            // Polling before the stream is open could miss jobs that come in between.
            poll_not_before: match options.transport {
                Transport::Poll => Instant::now(),
                Transport::Stream(_) => Instant::now() + STREAM_POLL_INTERVAL,
            },
            poll_again: false,
            poll_backoff: Backoff::default(),
            stream: match options.transport {
                Transport::Poll => Streamed::Unwanted,
                Transport::Stream(_) => Streamed::Pausing(Instant::now()),
            },
            stream_backoff: Backoff::default(),
        }
    }

    /// The next jobs, at most `room` of them plus what a poll that is under way brings (it asked while there was room).
    ///
    /// Can be dropped and called again at any time without losing jobs.
    async fn next(&mut self, room: usize, capacity: usize) -> Result<Vec<Job>, Error> {
        loop {
            let streaming = !matches!(self.stream, Streamed::Unwanted);
            if self.poll.is_none()
                && !streaming
                && room * 10 >= capacity * 3
                && Instant::now() >= self.poll_not_before
            {
                self.poll = Some(poll(self.client, self.options, room, self.options.poll_wait).boxed());
            }
            if self.poll.is_none() && streaming && Instant::now() >= self.poll_not_before {
                self.poll = Some(poll(self.client, self.options, room, Duration::ZERO).boxed());
            }
            let polling = self.poll.is_some();
            let poll_later = !polling && (streaming || self.poll_not_before > Instant::now());
            tokio::select! {
                result = async { self.poll.as_mut().expect("checked by the condition").await }, if polling => {
                    self.poll = None;
                    return self.polled(result);
                }
                event = self.stream.next(self.options), if streaming => {
                    if let Some(result) = self.streamed(event) {
                        return result;
                    }
                }
                () = tokio::time::sleep_until(self.poll_not_before), if poll_later => {}
                // There is room, but not enough for a poll: the caller comes again when a job is done.
                () = futures::future::pending(), if !polling && !streaming && !poll_later => {}
            }
        }
    }

    fn polled(&mut self, result: Result<Vec<Job>, Error>) -> Result<Vec<Job>, Error> {
        let pause = match (&result, &self.stream) {
            (Err(_), _) => self.poll_backoff.next(),
            (Ok(_), Streamed::Unwanted) => Duration::ZERO,
            // Existing jobs are fetched at once, then the stream takes over.
            (Ok(jobs), _) if !jobs.is_empty() || self.poll_again => Duration::ZERO,
            (Ok(_), _) => STREAM_POLL_INTERVAL,
        };
        if result.is_ok() {
            self.poll_backoff = Backoff::default();
        }
        self.poll_again = false;
        self.poll_not_before = Instant::now() + pause;
        result
    }

    fn streamed(&mut self, event: StreamEvent) -> Option<Result<Vec<Job>, Error>> {
        match event {
            StreamEvent::Opened => {
                self.stream_backoff = Backoff::default();
                self.poll_again = self.poll.is_some();
                self.poll_not_before = Instant::now();
                None
            }
            StreamEvent::Job(job) => Some(Ok(vec![job])),
            StreamEvent::Broken(error) => {
                let now = Instant::now();
                self.stream = Streamed::Pausing(now + self.stream_backoff.next());
                // Without a stream the polls are all there is.
                self.poll_not_before = self.poll_not_before.min(now + self.poll_backoff.next());
                error.map(Err)
            }
        }
    }
}

enum StreamEvent {
    Opened,
    Job(Job),
    /// Without an error when the server has ended the stream in order.
    Broken(Option<Error>),
}

impl<'a> Streamed<'a> {
    async fn next(&mut self, options: &'a WorkerOptions) -> StreamEvent {
        loop {
            match self {
                Self::Unwanted => return futures::future::pending().await,
                Self::Pausing(until) => {
                    tokio::time::sleep_until(*until).await;
                    let Transport::Stream(client) = &options.transport else {
                        return StreamEvent::Broken(None);
                    };
                    *self = Self::Opening(open(client, options).boxed());
                }
                Self::Opening(opening) => match opening.await {
                    Ok(stream) => {
                        *self = Self::Open(Box::new(stream));
                        return StreamEvent::Opened;
                    }
                    Err(error) => return StreamEvent::Broken(Some(error)),
                },
                Self::Open(stream) => {
                    return match stream.next().await {
                        Some(Ok(job)) => StreamEvent::Job(job),
                        Some(Err(error)) => StreamEvent::Broken(Some(error)),
                        None => StreamEvent::Broken(None),
                    };
                }
            }
        }
    }
}

async fn open(client: &GrpcClient, options: &WorkerOptions) -> Result<JobStream, Error> {
    let fetch_variables = borrowed(&options.fetch_variables);
    let tenant_ids = borrowed(&options.tenant_ids);
    let command = StreamJobs {
        job_type: &options.job_type,
        worker: &options.name,
        timeout: options.timeout,
        fetch_variables: &fetch_variables,
        tenant_ids: &tenant_ids,
    };
    let wanted =
        STREAM_WINDOW_BYTES_PER_JOB.saturating_mul(u32::try_from(options.capacity).unwrap_or(u32::MAX));
    client.stream_jobs(&command, wanted.clamp(*STREAM_WINDOW_BYTES.start(), *STREAM_WINDOW_BYTES.end())).await
}

async fn poll(
    client: &Client,
    options: &WorkerOptions,
    room: usize,
    wait: Duration,
) -> Result<Vec<Job>, Error> {
    let fetch_variables = borrowed(&options.fetch_variables);
    let tenant_ids = borrowed(&options.tenant_ids);
    let command = ActivateJobs {
        job_type: &options.job_type,
        worker: &options.name,
        timeout: options.timeout,
        jobs_max: u32::try_from(room).unwrap_or(u32::MAX),
        fetch_variables: &fetch_variables,
        wait: Some(wait),
        tenant_ids: &tenant_ids,
    };
    client.activate_jobs(&command).await
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
