//! `baton work`: a job worker without code.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ::client::{Error, Job, JobHandler, JobWorker, Outcome, WorkerOptions};
use parking_lot::Mutex;
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::handler::{self, Handler};
use super::input;
use crate::cli::Work;
use crate::failure::Failure;
use crate::output;

/// How long a poll waits at the server for jobs.
const POLL_WAIT: Duration = Duration::from_secs(20);

pub(crate) async fn run(arguments: &Work) -> Result<ExitCode, Failure> {
    let result = input::variables(arguments.variables.as_deref())?;
    if arguments.timeout.is_zero() {
        return Err(Failure::usage("--timeout: a job must be this worker's for some time"));
    }
    let client = arguments.target.connect()?;
    // Later failures may pass; one at the beginning is of the command.
    client.topology().await.map_err(|error| Failure::request("reach the server", &error))?;
    let hands = Hands::new(arguments, result);
    let (stop, kill) = (hands.stop.clone(), hands.kill.clone());
    let signals = Signals::new(&arguments.job_type)?;
    let options = WorkerOptions {
        name: arguments.worker.name.clone(),
        capacity: arguments.parallel as usize,
        timeout: arguments.timeout,
        poll_wait: POLL_WAIT,
        fetch_variables: arguments.worker.fetch.clone(),
        tenant_ids: arguments.worker.tenants.clone(),
        jobs_max: arguments.count.map(|count| count as usize),
        renews: true,
        ..WorkerOptions::new(arguments.job_type.clone())
    };
    let told = Arc::clone(&hands.told);
    let worker = JobWorker::new(client, options, hands);
    tokio::select! {
        biased;
        () = worker.run(stop.clone()) => {}
        () = signals.heed(&stop, &kill) => unreachable!("signals are heeded until the worker ends"),
    }
    if let Some(failure) = told.lock().failure.take() {
        return Err(failure);
    }
    Ok(if kill.is_cancelled() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Signals that end the worker.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    job_type: String,
}

impl Signals {
    fn new(job_type: &str) -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::new(format!("cannot listen to signals: {error}")));
        let (interrupt, terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, job_type: job_type.to_owned() })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// The first signal stops the worker, the second kills handlers.
    async fn heed(mut self, stop: &CancellationToken, kill: &CancellationToken) {
        self.next().await;
        stop.cancel();
        output::note(format_args!(
            "stopping: jobs '{}' in work are finished; the next signal kills their handlers",
            self.job_type
        ));
        self.next().await;
        kill.cancel();
        std::future::pending::<()>().await;
    }
}

/// Events of the worker that are still to be told.
#[derive(Default)]
struct Told {
    /// Jobs whose outcome is not taken yet: a word, and what there is to say.
    outcomes: HashMap<i64, (&'static str, String)>,
    /// Why jobs could not be fetched last, so that it is told once.
    interruption: Option<String>,
    /// Whether it was told that jobs cannot be renewed.
    is_unrenewed: bool,
    failure: Option<Failure>,
}

/// Handles jobs by a command, or completes them as they are.
struct Hands {
    handler: Option<Handler>,
    result: Option<String>,
    backoff: Duration,
    json: bool,
    stop: CancellationToken,
    kill: CancellationToken,
    told: Arc<Mutex<Told>>,
}

impl Hands {
    fn new(arguments: &Work, result: Option<String>) -> Self {
        let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
        let handler = arguments.handler.as_ref().map(|command| Handler {
            command: command.clone(),
            time_limit: arguments.time_limit,
            kill: kill.clone(),
        });
        Self {
            handler,
            result,
            backoff: arguments.backoff,
            json: arguments.json,
            stop,
            kill,
            told: Arc::default(),
        }
    }

    async fn outcome(&self, job: &Job) -> Outcome {
        let Some(handler) = &self.handler else { return Outcome::Complete(self.result.clone()) };
        let end = Box::pin(handler.run(job)).await;
        handler::outcome(end, job.retries, self.backoff)
    }

    /// Tells what became of a job.
    fn tell(&self, job: &Job, word: &str, text: &str) {
        let line = if self.json {
            let mut line = json!({
                "jobKey": job.key.to_string(), "type": job.job_type, "elementId": job.element_id,
                "processInstanceKey": job.process_instance_key.to_string(), "outcome": word,
            });
            if !text.is_empty() {
                line["message"] = json!(text);
            }
            line.to_string()
        } else {
            let text = if text.is_empty() { String::new() } else { format!(": {}", text.replace('\n', " ")) };
            format!("{word} {} {} of instance {}{text}", job.key, job.element_id, job.process_instance_key)
        };
        // Work goes on whether anybody reads of it or not.
        if let Err(failure) = output::line(line) {
            output::report(&failure);
        }
    }
}

impl JobHandler for Hands {
    async fn handle(&self, job: &Job) -> Outcome {
        let outcome = self.outcome(job).await;
        let told = match &outcome {
            Outcome::Complete(_) => ("completed", String::new()),
            Outcome::Fail { retries, message, .. } => {
                ("failed", format!("{message} ({retries} retries left)"))
            }
            Outcome::Error { code, message, .. } if message.is_empty() => ("thrown", code.clone()),
            Outcome::Error { code, message, .. } => ("thrown", format!("{code}: {message}")),
            Outcome::Leave => ("left", String::new()),
        };
        self.told.lock().outcomes.insert(job.key, told);
        outcome
    }

    fn reported(&self, job: &Job, result: Result<(), &Error>) {
        let told = {
            let mut told = self.told.lock();
            told.interruption = None;
            told.outcomes.remove(&job.key)
        };
        let (word, text) = told.unwrap_or(("ended", String::new()));
        match result {
            Ok(()) => self.tell(job, word, &text),
            Err(error) => {
                self.tell(job, "refused", &format!("{word}, but the server did not take it: {error}"));
            }
        }
    }

    fn lost(&self, job: &Job, error: &Error) {
        self.told.lock().outcomes.remove(&job.key);
        self.tell(job, "lost", &format!("its handler was killed: {error}"));
    }

    fn not_renewed(&self, _: &Job, error: &Error) {
        let mut told = self.told.lock();
        if !std::mem::replace(&mut told.is_unrenewed, true) {
            output::note(format_args!(
                "note: jobs cannot be renewed, so that a handler must end within --timeout: {error}"
            ));
        }
    }

    fn interrupted(&self, error: &Error) {
        let failure = Failure::request("take jobs", error);
        let mut told = self.told.lock();
        if error.is_transient() {
            let text = error.to_string();
            if told.interruption.as_ref() != Some(&text) {
                output::note(format_args!("note: {}; it is tried again", failure.message()));
                told.interruption = Some(text);
            }
            return;
        }
        told.failure = Some(failure);
        self.stop.cancel();
    }
}
