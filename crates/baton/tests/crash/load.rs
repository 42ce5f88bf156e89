//! The requests: creations, publications and workers until the server dies, and the checks after it has come back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{
    ActivateJobs, Client, CompleteJob, CreateInstance, Error, GrpcClient, GrpcOptions, Job, PublishMessage,
    Resource, RestClient, RestOptions, StreamJobs,
};
use futures::StreamExt;
use futures::stream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ledger::{self, Ledger};
use crate::random::Random;

/// The job types of the process: two side by side, then the last.
pub(crate) const TYPES: [&str; 3] = ["left", "right", "last"];
/// The largest payload of an instance.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 16 * 1024;
/// Creations in flight over each protocol.
const CREATORS: usize = 8;
/// How long a job belongs to a worker. Longer than any answer takes, short enough to see it again soon after a crash.
const JOB_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a cluster may be without a leader.
const CREATION_MAX: Duration = Duration::from_secs(60);
/// Before the next request when the server is full.
const FULL_PAUSE: Duration = Duration::from_millis(100);
/// One job in so many is left to time out.
const LEFT_ONE_IN: u64 = 5;
/// Checks in flight.
const CHECKERS: usize = 64;
/// Room of a job stream, bytes.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Long enough for the end of every test.
const MESSAGE_TIME_TO_LIVE: Duration = Duration::from_hours(24);

const MODEL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="crash">
  <bpmn:process id="crash" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:parallelGateway id="fork" />
    <bpmn:serviceTask id="left"><bpmn:extensionElements><zeebe:taskDefinition type="left" /></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:serviceTask id="right"><bpmn:extensionElements><zeebe:taskDefinition type="right" /></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:parallelGateway id="join" />
    <bpmn:serviceTask id="last"><bpmn:extensionElements><zeebe:taskDefinition type="last" /></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:endEvent id="end" />
    <bpmn:sequenceFlow id="f1" sourceRef="start" targetRef="fork" />
    <bpmn:sequenceFlow id="f2" sourceRef="fork" targetRef="left" />
    <bpmn:sequenceFlow id="f3" sourceRef="fork" targetRef="right" />
    <bpmn:sequenceFlow id="f4" sourceRef="left" targetRef="join" />
    <bpmn:sequenceFlow id="f5" sourceRef="right" targetRef="join" />
    <bpmn:sequenceFlow id="f6" sourceRef="join" targetRef="last" />
    <bpmn:sequenceFlow id="f7" sourceRef="last" targetRef="end" />
  </bpmn:process>
</bpmn:definitions>"#;

pub(crate) async fn deploy(client: &Client) {
    client.deploy(&[Resource { name: "crash.bpmn", content: MODEL.as_bytes() }], None).await.unwrap();
}

/// A client of a REST port.
pub(crate) fn rest(address: &str) -> Client {
    let options = RestOptions { address: format!("http://{address}"), ..RestOptions::default() };
    Client::Rest(RestClient::new(options).unwrap())
}

/// Requests without pause, until the server is gone.
pub(crate) struct Load {
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Load {
    /// Each creator pauses for `pace` after a creation.
    pub(crate) fn start(
        rest_port: &str,
        grpc_port: &str,
        ledger: &Arc<Ledger>,
        random: &mut Random,
        pace: Duration,
    ) -> Self {
        let rest = rest(rest_port);
        let options = GrpcOptions { address: format!("http://{grpc_port}"), ..GrpcOptions::default() };
        let grpc = GrpcClient::new(options).unwrap();
        let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
        for client in [rest.clone(), Client::Grpc(grpc.clone())] {
            for _ in 0..CREATORS {
                tasks.spawn(create(client.clone(), Arc::clone(ledger), stop.clone(), pace));
            }
            tasks.spawn(publish(client.clone(), Arc::clone(ledger), stop.clone()));
            for job_type in TYPES {
                let (ledger, stop) = (Arc::clone(ledger), stop.clone());
                tasks.spawn(work(client.clone(), job_type, ledger, random.fork(), stop));
            }
        }
        tasks.spawn(work_stream(grpc, rest, Arc::clone(ledger), random.fork(), stop.clone()));
        Self { tasks, stop }
    }

    /// Lets a server that lives have the rest of the requests.
    #[allow(dead_code, reason = "the crash test kills its server")]
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until all have noticed that the server is gone, or that they are to stop.
    pub(crate) async fn end(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}

/// Whether the server can have carried out a request that failed with this.
fn unknown(error: &Error) -> bool {
    matches!(
        error.kind().as_str(),
        "BROKEN_CONNECTION"
            | "TIMEOUT"
            | "CONNECT"
            | "UNAVAILABLE"
            | "UNKNOWN"
            | "CANCELLED"
            | "INTERNAL"
            | "DEADLINE_EXCEEDED"
    )
}

/// Whether the server took no request for want of room, as while its disk is slow.
fn full(error: &Error) -> bool {
    error.kind() == "RESOURCE_EXHAUSTED"
}

async fn create(client: Client, ledger: Arc<Ledger>, stop: CancellationToken, pace: Duration) {
    while !stop.is_cancelled() {
        let number = ledger.number();
        let variables = ledger::variables(number);
        let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest("crash") };
        match client.create_instance(&command).await {
            Ok(instance) => ledger.created(number, instance.key),
            Err(error) if full(&error) => pause(FULL_PAUSE).await,
            Err(error) if unknown(&error) => return ledger.unanswered(),
            Err(error) => return ledger.contradiction(format!("a creation was refused: {error}")),
        }
        pause(pace).await;
    }
}

/// Creates one instance, again and again until it is acknowledged, and tells how long that took.
#[allow(dead_code, reason = "the crash test has no other broker to ask")]
pub(crate) async fn create_one(client: &Client, ledger: &Ledger) -> Duration {
    let began = Instant::now();
    loop {
        let number = ledger.number();
        let variables = ledger::variables(number);
        let command = CreateInstance { variables: Some(&variables), ..CreateInstance::latest("crash") };
        match client.create_instance(&command).await {
            Ok(instance) => {
                ledger.created(number, instance.key);
                return began.elapsed();
            }
            Err(error) if full(&error) && began.elapsed() < CREATION_MAX => pause(FULL_PAUSE).await,
            Err(error) if unknown(&error) && began.elapsed() < CREATION_MAX => ledger.unanswered(),
            Err(error) => panic!("no other broker takes over: {error}"),
        }
    }
}

async fn pause(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

async fn publish(client: Client, ledger: Arc<Ledger>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let id = format!("message-{}", ledger.number());
        match client.publish_message(&message(&id)).await {
            Ok(_) => ledger.published(id),
            Err(error) if full(&error) => pause(FULL_PAUSE).await,
            Err(error) if unknown(&error) => return ledger.unanswered(),
            Err(error) => return ledger.contradiction(format!("a message was refused: {error}")),
        }
        // Few are enough; they are kept until the end.
        pause(Duration::from_millis(5)).await;
    }
}

/// A message that nobody waits for; the server refuses its ID while it keeps it.
fn message(id: &str) -> PublishMessage<'_> {
    PublishMessage {
        name: "crash",
        correlation_key: id,
        time_to_live: MESSAGE_TIME_TO_LIVE,
        message_id: Some(id),
        variables: None,
        tenant_id: None,
    }
}

fn activation(job_type: &str, wait: Duration) -> ActivateJobs<'_> {
    ActivateJobs {
        job_type,
        worker: "crash",
        timeout: JOB_TIMEOUT,
        jobs_max: 16,
        fetch_variables: &[],
        wait: Some(wait),
        tenant_ids: &[],
    }
}

async fn work(
    client: Client,
    job_type: &'static str,
    ledger: Arc<Ledger>,
    mut random: Random,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        let asked = Instant::now();
        let jobs = match client.activate_jobs(&activation(job_type, Duration::from_millis(500))).await {
            Ok(jobs) => jobs,
            Err(error) if full(&error) => {
                pause(FULL_PAUSE).await;
                continue;
            }
            Err(error) if unknown(&error) => return,
            Err(error) => return ledger.contradiction(format!("an activation was refused: {error}")),
        };
        for job in jobs {
            let take = ledger.activated(&job, asked) && random.below(LEFT_ONE_IN) > 0;
            if take && !complete(&client, &job, &ledger).await {
                return;
            }
        }
    }
}

async fn work_stream(
    grpc: GrpcClient,
    client: Client,
    ledger: Arc<Ledger>,
    mut random: Random,
    stop: CancellationToken,
) {
    let request = StreamJobs {
        job_type: TYPES[2],
        worker: "crash",
        timeout: JOB_TIMEOUT,
        fetch_variables: &[],
        tenant_ids: &[],
    };
    let asked = Instant::now();
    let Ok(mut jobs) = grpc.stream_jobs(&request, STREAM_WINDOW_BYTES).await else { return };
    while let Some(Some(Ok(job))) = stop.run_until_cancelled(jobs.next()).await {
        let take = ledger.activated(&job, asked) && random.below(LEFT_ONE_IN) > 0;
        if take && !complete(&client, &job, &ledger).await {
            return;
        }
    }
}

/// Completes a job; false once the server is gone.
async fn complete(client: &Client, job: &Job, ledger: &Ledger) -> bool {
    let variables = format!(r#"{{"{}":true}}"#, job.job_type);
    match client.complete_job(&CompleteJob { job_key: job.key, variables: Some(&variables) }).await {
        Ok(()) => ledger.completed(job.key),
        // Another worker has had it after its time limit.
        Err(error) if error.is_not_found() => ledger.gone(job.key),
        // It comes back after its time limit.
        Err(error) if full(&error) => pause(FULL_PAUSE).await,
        Err(error) if unknown(&error) => {
            ledger.perhaps_completed(job.key);
            return false;
        }
        Err(error) => ledger.contradiction(format!("job {} could not be completed: {error}", job.key)),
    }
    true
}

/// Acknowledged changes must hold: completed jobs and ended instances are gone, messages are still there.
pub(crate) async fn check_sample(client: &Client, ledger: &Ledger, size: usize, random: &mut Random) {
    let sample = ledger.sample(size, random);
    let expect_gone = |what: &'static str, key: i64, result: Result<(), Error>| match result {
        Err(error) if error.is_not_found() => {}
        other => ledger.contradiction(format!("{what} {key} should be gone, but: {other:?}")),
    };
    stream::iter(sample.completed_jobs)
        .for_each_concurrent(CHECKERS, async |key| {
            let result = client.complete_job(&CompleteJob { job_key: key, variables: None }).await;
            expect_gone("completed job", key, result);
        })
        .await;
    stream::iter(sample.ended_instances)
        .for_each_concurrent(CHECKERS, async |key| {
            expect_gone("ended instance", key, client.cancel_instance(key).await);
        })
        .await;
    stream::iter(sample.messages)
        .for_each_concurrent(CHECKERS, async |id| match client.publish_message(&message(&id)).await {
            Err(error) if error.kind() == "ALREADY_EXISTS" => {}
            other => ledger.contradiction(format!("message '{id}' should be there, but: {other:?}")),
        })
        .await;
    ledger.assert_sound();
}

/// Works off everything that is open.
pub(crate) async fn drain(client: &Client, ledger: &Ledger) {
    // Long enough for jobs that were handed out before the crash to come back.
    let patience = JOB_TIMEOUT + Duration::from_secs(1);
    loop {
        let wait = Duration::from_millis(500);
        let worked = TYPES.map(|job_type| work_off(client, job_type, wait, ledger));
        let worked: usize = futures::future::join_all(worked).await.into_iter().sum();
        ledger.assert_sound();
        if worked == 0 {
            let late = TYPES.map(|job_type| work_off(client, job_type, patience, ledger));
            if futures::future::join_all(late).await.into_iter().all(|worked| worked == 0) {
                return;
            }
        }
    }
}

/// Completes jobs of a type until there is none for a while. Returns how many there were.
async fn work_off(client: &Client, job_type: &'static str, wait: Duration, ledger: &Ledger) -> usize {
    let mut worked = 0;
    loop {
        let asked = Instant::now();
        let command = ActivateJobs { jobs_max: CHECKERS as u32, ..activation(job_type, wait) };
        let jobs = client.activate_jobs(&command).await.unwrap();
        if jobs.is_empty() {
            return worked;
        }
        worked += jobs.len();
        stream::iter(jobs)
            .for_each_concurrent(None, async |job| {
                if ledger.activated(&job, asked) {
                    assert!(complete(client, &job, ledger).await, "the server is gone");
                }
            })
            .await;
    }
}

/// Nothing is left to do.
pub(crate) async fn expect_no_jobs(client: &Client, ledger: &Ledger) {
    for job_type in TYPES {
        let jobs = client.activate_jobs(&activation(job_type, Duration::ZERO)).await.unwrap();
        for job in jobs {
            ledger.contradiction(format!("job {} came back after everything was done", job.key));
        }
    }
}
