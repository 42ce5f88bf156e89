//! A broker that answers as told and writes down what it was asked.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, PartitionInfo,
    Positions, Recorded, Requester, SubmitError, Timing, Topology,
};
use futures::future::{BoxFuture, FutureExt, pending, ready};
use protocol::{
    ActivatedJob, Command, CreateInstance, Document, InstanceCreated, JobKind, JobListenerEventType, Name,
    Query, QueryReply, Response,
};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// The time of jobs is never over.
pub(crate) const DEADLINE_MS: i64 = 4_102_444_800_000;
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct FakeBroker {
    /// Answers to come, first first; without one, a command never ends.
    answers: Mutex<VecDeque<Result<Response, SubmitError>>>,
    /// Jobs for the next activation; without, it waits as long as it may.
    jobs: Mutex<Option<Vec<ActivatedJob>>>,
    /// Jobs of the next stream.
    stream: Mutex<Option<mpsc::Receiver<ActivatedJob>>>,
    commands: Mutex<Vec<Command>>,
    asked: Mutex<Vec<(JobRequest, Option<Duration>)>>,
    result_timeouts: Mutex<Vec<Duration>>,
    yielded: Option<mpsc::Sender<Vec<u64>>>,
    /// Held by each open stream: its strong count says how many there are.
    pub(crate) open_streams: Arc<()>,
}

impl FakeBroker {
    pub(crate) fn answering(answers: impl IntoIterator<Item = Result<Response, SubmitError>>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() }
    }

    pub(crate) fn with_jobs(jobs: Vec<ActivatedJob>) -> Self {
        Self { jobs: Mutex::new(Some(jobs)), ..Self::default() }
    }

    pub(crate) fn streaming(jobs: mpsc::Receiver<ActivatedJob>) -> Self {
        Self { stream: Mutex::new(Some(jobs)), ..Self::default() }
    }

    /// The keys of jobs that are given back.
    pub(crate) fn watch_yields(&mut self) -> mpsc::Receiver<Vec<u64>> {
        let (sender, receiver) = mpsc::channel(16);
        self.yielded = Some(sender);
        receiver
    }

    pub(crate) fn commands(&self) -> Vec<Command> {
        self.commands.lock().clone()
    }

    pub(crate) fn asked(&self) -> Vec<(JobRequest, Option<Duration>)> {
        self.asked.lock().clone()
    }

    pub(crate) fn result_timeouts(&self) -> Vec<Duration> {
        self.result_timeouts.lock().clone()
    }
}

impl Broker for FakeBroker {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        if let (Command::YieldJobs { job_keys, .. }, Some(sender)) = (&command, &self.yielded) {
            sender.try_send(job_keys.clone()).unwrap();
        }
        self.commands.lock().push(command);
        match self.answers.lock().pop_front() {
            Some(answer) => ready(answer.map(|response| Answer {
                response,
                timing: Timing::default(),
                partition: 1,
                position: 42,
            }))
            .boxed(),
            None => pending().boxed(),
        }
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        _: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.result_timeouts.lock().push(timeout);
        self.submit(requester.unwrap_or_default().asks(Command::CreateInstance(command)))
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        self.asked.lock().push((request, wait));
        match (self.jobs.lock().take(), wait) {
            (Some(jobs), _) => {
                let mut positions = Positions::at(1, 42);
                positions.reach(3, 7);
                ready(Ok(Activation { jobs, positions })).boxed()
            }
            (None, Some(wait)) => async move {
                tokio::time::sleep(wait).await;
                Ok(Activation::default())
            }
            .boxed(),
            (None, None) => ready(Ok(Activation::default())).boxed(),
        }
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        self.asked.lock().push((request, None));
        let jobs = self.stream.lock().take();
        let jobs = jobs.ok_or_else(|| SubmitError::Unavailable("no stream is scripted".to_owned()))?;
        let open = Arc::clone(&self.open_streams);
        Ok(JobStream::new(ReceiverStream::new(jobs).map(move |job| {
            let _ = &open;
            job
        })))
    }

    fn read(&self, _: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        ready(Err(SubmitError::Unavailable(String::new()))).boxed()
    }

    fn grants_version(&self) -> u64 {
        0
    }

    fn hasten_exports(&self, _: &str) -> Recorded {
        Recorded::default()
    }

    fn evaluate_expression(
        &self,
        _: String,
        _: Document,
        _: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        pending().boxed()
    }

    fn topology(&self) -> Topology {
        Topology {
            cluster_id: "c".to_owned(),
            brokers: vec![BrokerInfo {
                node_id: 0,
                host: "localhost".to_owned(),
                port: 26500,
                partitions: vec![PartitionInfo { partition_id: 1, leader: true, healthy: true }],
            }],
            cluster_size: 1,
            partitions_count: 1,
            replication_factor: 1,
        }
    }

    fn max_message_bytes(&self) -> usize {
        MESSAGE_BYTES_MAX
    }
}

pub(crate) fn instance() -> InstanceCreated {
    InstanceCreated {
        process_definition_key: 11,
        process_id: Name::from("p"),
        version: 2,
        process_instance_key: 12,
        tenant_id: Name::default_tenant(),
        tags: vec![Name::from("t")],
        business_id: None,
    }
}

pub(crate) fn job(key: u64, payload_bytes: usize) -> ActivatedJob {
    let mut variables = Document::empty();
    if payload_bytes > 0 {
        variables
            .set(Name::from("p"), protocol::Json::from_valid(format!("\"{}\"", "x".repeat(payload_bytes))));
    }
    ActivatedJob {
        key,
        job_type: Name::from("work"),
        process_instance_key: 12,
        root_process_instance_key: 12,
        process_id: Name::from("p"),
        process_definition_version: 2,
        process_definition_key: 11,
        element_id: Name::from("task"),
        element_instance_key: 13,
        custom_headers_json: "{}".into(),
        worker: Name::from("w"),
        retries: 3,
        deadline_ms: DEADLINE_MS,
        variables,
        tenant_id: Name::default_tenant(),
        kind: JobKind::BpmnElement,
        listener_event_type: JobListenerEventType::Unspecified,
        user_task: None,
        tags: vec![],
        business_id: None,
        priority: 0,
        lease: None,
    }
}
