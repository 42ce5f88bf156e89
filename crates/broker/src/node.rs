//! A broker: opens what is durable, starts its partition, and answers gateways.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::{Counters, Engine};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{
    ActivatedJob, AwaitResult, Command, CreateInstance, Document, FIRST_PARTITION, Name, Rejection,
};
use replication::{Group, GroupOptions, LogError, LogStore};
use state::{StateError, Store};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::answers::{LateAnswers, Request, Waiter};
use crate::api::{
    Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, PartitionInfo, SubmitError, Topology,
};
use crate::clock::Due;
use crate::demand::DemandRegistry;
use crate::disk::Disk;
use crate::flow_control::{Class, FlowControl};
use crate::flusher::Flusher;
use crate::machine::{Machine, Shared};
use crate::metric_definitions::{Figures, Metrics, publish};
use crate::options::Options;
use crate::proposer::Proposer;
use crate::{expression, jobs};

/// Commands between flow control and the proposer; flow control admits fewer.
const REQUEST_QUEUE: usize = 8192;
/// How often figures are published.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// How long shutdown waits for the last entries.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a broker could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error("data directory '{path}': {source}")]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// State cannot be opened.
    #[error("state: {0}")]
    State(#[from] StateError),
    /// The log cannot be opened.
    #[error("log: {0}")]
    Log(#[from] LogError),
    /// The partition cannot be started.
    #[error("partition 1: {0}")]
    Partition(#[from] replication::StartError),
    /// A thread cannot be started.
    #[error("thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// Whether the broker can serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether the partition leads and its log can be written.
    pub partition: Result<(), String>,
    /// Whether there is room on the disk.
    pub disk: Result<(), String>,
    /// Whether state reaches the disk.
    pub flush: Result<(), String>,
}

/// How far the partition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionStatus {
    /// Whether it leads.
    pub leader: bool,
    /// Position of the last record.
    pub position: u64,
    /// Log index up to which state is on disk.
    pub durable_index: u64,
    /// Last log index committed.
    pub committed_index: u64,
}

/// A running broker.
pub struct Node {
    options: Options,
    group: Group,
    log: LogStore,
    shared: Arc<Shared>,
    flow_control: Arc<FlowControl>,
    disk: Arc<Disk>,
    requests: mpsc::Sender<Request>,
    shutdown: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Node {
    /// Opens the data directory, replays the log, and serves.
    pub async fn start(options: Options) -> Result<Arc<Self>, StartError> {
        let state_dir = options.data_dir.join("state");
        std::fs::create_dir_all(&state_dir)
            .map_err(|source| StartError::DataDir { path: options.data_dir.clone(), source })?;
        let store_options = state::Options {
            page_cache_bytes: options.state.page_cache_bytes,
            clean_cache_bytes: options.state.value_cache_bytes,
        };
        let path = state_dir.join("partition-1.redb");
        let opened = tokio::task::spawn_blocking(move || Store::open(&path, store_options)).await;
        let store = opened.map_err(|error| std::io::Error::other(error.to_string()))??;
        let engine_options = engine::Options {
            partition_id: FIRST_PARTITION,
            max_delivery_bytes: options.max_message_bytes,
            bpmn: options.bpmn.clone(),
            ..engine::Options::default()
        };
        let engine = Engine::open(&store, engine_options)?;
        let shared = Arc::new(Shared {
            demand: Arc::new(DemandRegistry::new(options.jobs.max_demand_per_batch)),
            late: LateAnswers::new(),
            due: Due::new(),
            metrics: Metrics::new(),
            durable: watch::channel(engine.tables().applied_index()).0,
            flush_now: AtomicBool::new(false),
            unflushed: AtomicBool::new(false),
            position: AtomicU64::new(engine.position()),
            counters: Mutex::new(Counters::default()),
            flush_failure: Mutex::new(None),
        });
        let machine = Machine::new(engine, Arc::clone(&shared), Flusher::start()?, options.state.clone());
        let log = LogStore::open(&options.data_dir.join("log"), options.log.clone())?;
        let (group_id, node_id) = (u64::from(FIRST_PARTITION), u64::from(options.node_id));
        let group = Box::pin(Group::start(group_id, node_id, &log, machine, GroupOptions::default())).await?;
        let (requests, queue) = mpsc::channel(REQUEST_QUEUE);
        let shutdown = CancellationToken::new();
        let disk = Arc::new(Disk::new(options.disk.min_free_bytes));
        disk.look(&options.data_dir);
        let proposer = Proposer {
            group: group.clone(),
            shared: Arc::clone(&shared),
            requests: queue,
            options: options.ingress.clone(),
            flush_interval: options.state.flush_interval,
            shutdown: shutdown.clone(),
            last_proposed: Instant::now(),
        };
        let node = Arc::new(Self {
            flow_control: FlowControl::new(options.flow_control.clone()),
            options,
            group,
            log,
            shared,
            disk,
            requests,
            shutdown,
            tasks: Mutex::default(),
        });
        // State may hold timers that are due and steps that are left over: one tick finds out.
        let tasks = vec![
            tokio::spawn(proposer.run()),
            tokio::spawn(purge(Arc::clone(&node))),
            tokio::spawn(look_after(Arc::clone(&node))),
        ];
        *node.tasks.lock().unwrap_or_else(PoisonError::into_inner) = tasks;
        node.run(Command::Tick, Class::Begun)
            .await
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(node)
    }

    /// Stops taking commands, finishes those that are there, writes state to disk, and stops.
    pub async fn shutdown(&self) {
        self.shared.flush_now.store(true, Ordering::Release);
        // The last entry; it flushes. Without it a restart only replays more.
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, self.run(Command::Tick, Class::Begun)).await;
        self.shutdown.cancel();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, task).await;
        }
        self.group.shutdown().await;
    }

    async fn run(&self, command: Command, class: Class) -> Result<Answer, SubmitError> {
        let arrived = Instant::now();
        let permit = self.flow_control.admit(class).await?;
        let (reply, answer) = oneshot::channel();
        let request = Request { command, waiter: Waiter { reply, arrived, _permit: permit } };
        self.requests.send(request).await.map_err(|_| stopping())?;
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }

    async fn run_with_result(
        &self,
        mut command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> Result<Answer, SubmitError> {
        self.disk.check()?;
        let (request_id, answer) = self.shared.late.register();
        let _forget = Forget { late: &self.shared.late, request_id };
        command.await_result = Some(AwaitResult { request_id, fetch_variables });
        let arrived = Instant::now();
        let wait = async {
            let accepted = self.run(Command::CreateInstance(command), Class::New).await?;
            match answer.await {
                Ok(Ok(response)) => Ok(Answer { response, timing: accepted.timing }),
                Ok(Err(rejection)) => Err(SubmitError::Rejected(rejection)),
                Err(_) => Err(stopping()),
            }
        };
        tokio::time::timeout(timeout, wait).await.unwrap_or_else(|_| {
            Err(SubmitError::Timeout(format!(
                "Expected the process instance to complete within {} ms, but it did not; it goes on",
                arrived.elapsed().as_millis()
            )))
        })
    }

    /// Whether the broker can serve.
    pub fn health(&self) -> Health {
        let partition = match self.log.failure() {
            Some(failure) => Err(format!("the log cannot be written: {failure}")),
            None if self.group.is_leader() => Ok(()),
            None => Err("partition 1 has no leader".to_owned()),
        };
        let flush = self.shared.flush_failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Health {
            partition,
            disk: self.disk.check().map_err(|error| error.to_string()),
            flush: flush.map_or(Ok(()), Err),
        }
    }

    /// How far the partition is.
    pub fn partition(&self) -> PartitionStatus {
        PartitionStatus {
            leader: self.group.is_leader(),
            position: self.shared.position.load(Ordering::Acquire),
            durable_index: *self.shared.durable.borrow(),
            committed_index: self.group.metrics().committed_index,
        }
    }

    /// Flow control of the partition.
    pub fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }

    fn publish(&self) {
        let counters = self.shared.counters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (pushed, push_failed) = self.shared.demand.counts();
        let group = self.group.metrics();
        publish(&Figures {
            counters: &counters,
            flow_control: self.flow_control.status(),
            streams: self.shared.demand.streams(),
            pushed,
            push_failed,
            position: self.shared.position.load(Ordering::Acquire),
            committed_index: group.committed_index,
            appended_index: group.last_log_index,
            durable_index: *self.shared.durable.borrow(),
            healthy: self.health().partition.is_ok(),
        });
    }
}

/// Removes the log as far as state is on disk.
async fn purge(node: Arc<Node>) {
    let mut durable = node.shared.durable.subscribe();
    loop {
        tokio::select! {
            changed = durable.changed() => if changed.is_err() { return },
            () = node.shutdown.cancelled() => return,
        }
        let upto = *durable.borrow_and_update();
        node.group.purge(upto).await;
    }
}

/// Publishes figures and looks at the disk.
async fn look_after(node: Arc<Node>) {
    let mut publishing = tokio::time::interval(PUBLISH_INTERVAL);
    let mut looking = tokio::time::interval(node.options.disk.check_interval);
    loop {
        tokio::select! {
            _ = publishing.tick() => node.publish(),
            _ = looking.tick() => node.disk.look(&node.options.data_dir),
            () = node.shutdown.cancelled() => return,
        }
    }
}

struct Forget<'a> {
    late: &'a LateAnswers,
    request_id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.late.forget(self.request_id);
    }
}

fn stopping() -> SubmitError {
    SubmitError::Unavailable("Expected to handle the command, but the broker is stopping".to_owned())
}

fn class(command: &Command) -> Class {
    match command {
        Command::Deploy(_)
        | Command::CreateInstance(_)
        | Command::PublishMessage(_)
        | Command::CorrelateMessage(_)
        | Command::SetVariables(_) => Class::New,
        _ => Class::Begun,
    }
}

impl Broker for Node {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        async move {
            self.disk.check()?;
            if matches!(command, Command::Clock(_)) && !self.options.controlled_clock {
                return Err(Rejection::invalid_argument(
                    "Expected to control the clock, but it is not controllable: set 'clock.controlled' to true",
                )
                .into());
            }
            let class = class(&command);
            self.run(command, class).await
        }
        .boxed()
    }

    fn create_with_result(
        &self,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.run_with_result(command, fetch_variables, timeout).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Vec<ActivatedJob>, SubmitError>> {
        let registry = Arc::clone(&self.shared.demand);
        async move {
            tokio::select! {
                jobs = jobs::poll(registry, request, wait) => Ok(jobs),
                () = self.shutdown.cancelled() => Err(stopping()),
            }
        }
        .boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        if self.shutdown.is_cancelled() {
            return Err(stopping());
        }
        Ok(jobs::stream(Arc::clone(&self.shared.demand), request, self.options.jobs.stream_buffer))
    }

    fn evaluate_expression(
        &self,
        expression: String,
        variables: Document,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        expression::evaluate(expression, variables, self.options.expression_timeout).boxed()
    }

    fn topology(&self) -> Topology {
        Topology {
            cluster_id: self.options.cluster_id.clone(),
            brokers: vec![BrokerInfo {
                node_id: self.options.node_id,
                host: self.options.advertised_host.clone(),
                port: self.options.advertised_port,
                partitions: vec![PartitionInfo {
                    partition_id: FIRST_PARTITION,
                    leader: self.group.is_leader(),
                    healthy: self.health().partition.is_ok(),
                }],
            }],
            cluster_size: 1,
            partitions_count: 1,
            replication_factor: 1,
        }
    }

    fn max_message_bytes(&self) -> usize {
        self.options.max_message_bytes
    }
}
