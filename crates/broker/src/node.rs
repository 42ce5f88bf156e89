//! A broker: opens what is durable, starts its partition, and answers gateways.

#![expect(missing_docs, reason = "names say what is held")]

use parking_lot::Mutex;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use broker_api::{
    Activation, Answer, Broker, BrokerInfo, ExpressionResult, JobRequest, JobStream, PartitionInfo,
    Positions, Recorded, SubmitError, Topology,
};
use engine::{Engine, Outcome};
use export::{Assigned, Hastened, Hub};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{
    AwaitResult, Caller, Command, CreateInstance, Document, FIRST_PARTITION, Key, Name, Query, QueryReply,
    Rejection, RejectionType, Response,
};
use replication::{Group, GroupOptions, LogStore, ProposeError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::answers::{LateAnswers, PendingRequest, Waiter, stopping};
use crate::apply_watch::{self, SlowBatch};
use crate::bootstrap::Vote;
use crate::cluster::{Links, Replica};
use crate::data_directory::log_directory;
use crate::disk::Disk;
use crate::expression::Evaluations;
use crate::flow_control::{Class, FlowControl};
use crate::flusher::Flusher;
use crate::leading::{Leading, follow_role};
use crate::machine::{PartitionMachine, PartitionState};
use crate::metric_definitions::{Figures, publish, refused};
use crate::opening::{StartError, open, partition_state};
use crate::options::Options;
use crate::proposer::{Proposer, payload};
use crate::reads::Reads;
use crate::route::{Router, role_text};
use crate::set_aside::Orders;
use crate::write_limit::WriteLimit;
use crate::{configured, exporting, jobs, pause};

/// Commands between flow control and the proposer; flow control admits fewer.
const REQUEST_QUEUE: usize = 8192;
/// The name under which expressions find the variables of the cluster.
const CLUSTER_VARIABLES: &str = "camunda";
/// How often figures are published.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// How long shutdown waits for the last entries.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The same in a cluster.
const CLUSTER_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

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
    pub leader: bool,
    /// Position of the last record.
    pub position: u64,
    /// Log index up to which state is on disk.
    pub durable_index: u64,
    /// Last log index committed.
    pub committed_index: u64,
    /// Last log index that is gone from the log.
    pub purged_index: u64,
}

pub struct Node {
    options: Options,
    group: Group,
    log: LogStore,
    pub(crate) shared: Arc<PartitionState>,
    flow_control: Arc<FlowControl>,
    write_limit: Arc<WriteLimit>,
    disk: Arc<Disk>,
    router: Option<Arc<Router>>,
    pub(crate) engine: Arc<Mutex<Engine>>,
    requests: mpsc::Sender<PendingRequest>,
    shutdown: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    evaluations: Evaluations,
    reads: Reads,
    former_exporters: Mutex<Vec<String>>,
}

impl Node {
    /// Opens the data directory, replays the log, and serves, alone.
    pub async fn start(options: Options) -> Result<Arc<Self>, StartError> {
        Box::pin(Self::start_in(options, None)).await
    }

    /// The same as one of the brokers of a cluster. It has a leader some time after this has returned.
    pub async fn start_replica(options: Options, replica: Replica) -> Result<Arc<Self>, StartError> {
        Box::pin(Self::start_in(options, Some(replica))).await
    }

    async fn start_in(options: Options, replica: Option<Replica>) -> Result<Arc<Self>, StartError> {
        let (identity, engine) = open(&options).await?;
        let snapshots = options.data_dir.join("snapshots");
        let mut node_id = u64::from(options.node_id);
        let mut links = None;
        if let Some(replica) = replica {
            let vote =
                Vote::open(&options.data_dir, options.node_id, log_directory(&options.data_dir).exists())?;
            let open = Arc::new(Links::open(replica, &identity, &vote, &snapshots)?);
            vote.obtain(&open).await?;
            node_id = vote.replica();
            links = Some(open);
        }
        let set_aside = Orders::open(&options.data_dir, engine.tables().applied_index())?;
        let exports = exports(&options, &engine)?;
        let former_exporters = exporting::former(&engine, exports.as_deref())?;
        let leading = if links.is_some() { Leading::default() } else { Leading::alone() };
        let shared = Arc::new(partition_state(&options, &identity, &engine, exports.clone(), leading));
        let flusher = Flusher::start(exports)?;
        let engine = Arc::new(Mutex::new(engine));
        let reads = Reads::start(Arc::clone(&engine))?;
        let machine = PartitionMachine::new(&engine, &shared, flusher, options.state.clone())
            .configured(&options, set_aside);
        let shutdown = CancellationToken::new();
        // Ended with this future, too, when the start is given up.
        let watching = shutdown.clone().drop_guard();
        let watch =
            tokio::spawn(options.apply_watch.clone().keep(options.data_dir.clone(), shutdown.clone()));
        let log = LogStore::open(&log_directory(&options.data_dir), options.log.clone())?;
        let group_id = u64::from(FIRST_PARTITION);
        let group =
            Box::pin(Group::start(group_id, node_id, &log, machine, group_options(links.as_deref()))).await?;
        // Everything in the log is applied: no batch that was too slow once is any more.
        apply_watch::forget(options.data_dir.clone()).await;
        let (requests, queue) = mpsc::channel(REQUEST_QUEUE);
        let evaluations = Evaluations::new(options.max_evaluations_at_once, options.work);
        let disk = Arc::new(Disk::new(options.disk.min_free_bytes));
        disk.measure(&options.data_dir);
        let write_limit = Arc::new(exporting::write_limit(&options));
        let router = links.map(|links| {
            links.groups.insert(group_id, group.clone());
            Router::new(group.clone(), links, Arc::clone(&shared), shutdown.clone())
        });
        let proposer = Proposer {
            group: group.clone(),
            router: router.clone(),
            engine: Arc::clone(&engine),
            shared: Arc::clone(&shared),
            write_limit: Arc::clone(&write_limit),
            slice_wait: None,
            requests: queue,
            options: options.ingress.clone(),
            flush_interval: options.state.flush_interval,
            shutdown: shutdown.clone(),
            last_proposed: Instant::now(),
        };
        let node = Arc::new(Self {
            flow_control: FlowControl::new(options.flow_control.clone()),
            write_limit,
            options,
            group,
            log,
            shared,
            disk,
            router,
            engine,
            requests,
            shutdown,
            tasks: Mutex::default(),
            evaluations,
            reads,
            former_exporters: Mutex::new(former_exporters),
        });
        watching.disarm();
        let durable = node.shared.durable.subscribe();
        let mut tasks = vec![
            watch,
            tokio::spawn(proposer.run()),
            tokio::spawn(supervise(Arc::downgrade(&node))),
            tokio::spawn(purge(node.group.clone(), durable, node.shutdown.clone())),
        ];
        if let Some(exports) = &node.shared.exports {
            let (exports, shutdown) = (Arc::clone(exports), node.shutdown.clone());
            tasks.push(tokio::spawn(exporting::acknowledge(Arc::downgrade(&node), exports, shutdown)));
        }
        if let Some(router) = &node.router {
            router.links.attend(&node);
            let stop = || node.shutdown.clone();
            tasks.push(tokio::spawn(follow_role(Arc::downgrade(&node), node.group.role(), stop())));
            tasks.push(tokio::spawn(Arc::clone(&router.links).keep_statuses(stop())));
        }
        *node.tasks.lock() = tasks;
        if node.router.is_some() {
            return Ok(node);
        }
        // State may hold timers that are due and steps that are left over: one tick finds out.
        let failed = |error: SubmitError| std::io::Error::other(error.to_string());
        node.run_own(Command::Tick).await.map_err(failed)?;
        // The log is replayed now.
        let configured = configured::commands(&node.engine.lock(), &node.options)?;
        for command in configured {
            node.run_own(command).await.map_err(failed)?;
        }
        Ok(node)
    }

    /// Stops taking commands, finishes those that are there, writes state to disk, and stops.
    pub async fn shutdown(&self) {
        // Workers go first, so that what they had not read goes back with the last entry.
        self.shared.demand.close(&stopping());
        self.shared.flush_now.store(true, Ordering::Release);
        // The last entry; it flushes. Without it a restart only replays more.
        // In a cluster others may have stopped already, so that nothing gets through.
        let last = if self.is_processing_paused() { pause::nothing() } else { Command::Tick };
        let patience = if self.router.is_some() { CLUSTER_DRAIN_TIMEOUT } else { DRAIN_TIMEOUT };
        if self.leads() {
            let _ = tokio::time::timeout(patience, self.run_own(last)).await;
        }
        self.shutdown.cancel();
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, task).await;
        }
        if let Some(router) = &self.router {
            router.links.close();
        }
        self.reads.stop();
        self.group.shutdown().await;
        if let Some(exports) = self.shared.exports.clone() {
            exporting::stop(exports).await;
        }
    }

    async fn run(&self, command: Command, class: Class) -> Result<Answer, SubmitError> {
        self.pass(command, class, false).await
    }

    /// Runs a command of the broker itself: while processing is paused, too.
    pub(crate) async fn run_own(&self, command: Command) -> Result<Answer, SubmitError> {
        self.pass(command, Class::Begun, true).await
    }

    async fn pass(&self, command: Command, class: Class, is_own: bool) -> Result<Answer, SubmitError> {
        let arrived = Instant::now();
        if class == Class::New {
            self.write_limit.admit(|| self.shared.written()).await.inspect_err(|_| refused("write limit"))?;
        }
        let permit = self.flow_control.admit(class).await.inspect_err(|_| refused("flow control"))?;
        let (reply, answer) = oneshot::channel();
        let request = PendingRequest { command, waiter: Waiter { reply, arrived, permit }, is_own };
        self.requests.send(request).await.map_err(|_| stopping())?;
        answer.await.unwrap_or_else(|_| Err(stopping()))
    }

    async fn run_with_result(
        &self,
        caller: Option<Caller>,
        mut command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> Result<Answer, SubmitError> {
        self.check(Class::New)?;
        self.check_bytes(("variables", command.variables.json_len()))?;
        let (request_id, answer) = self.shared.late.register();
        let _forget = Forget { late: &self.shared.late, request_id };
        command.unique_business_id = self.options.unique_business_ids;
        command.await_result = Some(AwaitResult { request_id, fetch_variables });
        let arrived = Instant::now();
        let wait = async {
            let accepted = self.run(Command::CreateInstance(command).asked_by(caller), Class::New).await?;
            self.late(accepted, answer).await
        };
        tokio::time::timeout(timeout, wait).await.unwrap_or_else(|_| {
            Err(SubmitError::Timeout(format!(
                "Expected the process instance to complete within {} ms, but it did not; the instance continues",
                arrived.elapsed().as_millis()
            )))
        })
    }

    /// An answer that comes later than its command is applied.
    async fn late(
        &self,
        accepted: Answer,
        answer: oneshot::Receiver<Outcome>,
    ) -> Result<Answer, SubmitError> {
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            () = self.shutdown.cancelled() => return Err(stopping()),
        };
        let response = answer.map_err(|_| stopping())?.map_err(SubmitError::Rejected)?;
        let position = self.shared.recorded.load(Ordering::Acquire);
        Ok(Answer { response, timing: accepted.timing, position })
    }

    /// Whether the broker can serve.
    pub fn health(&self) -> Health {
        let partition = match self.log.failure() {
            Some(failure) => Err(format!("the log cannot be written: {failure}")),
            None => match &self.router {
                Some(router) => role_text(&self.group.role(), &router.links),
                None if self.group.is_leader() => Ok(()),
                None => Err("partition 1 has no leader".to_owned()),
            },
        };
        let partition = self.slow_batch().map_or(partition, |slow| Err(slow.describe()));
        let flush = self.shared.flush_failure.lock().clone();
        Health {
            partition,
            disk: self.disk.check(Class::New).map_err(|error| error.to_string()),
            flush: flush.map_or(Ok(()), Err),
        }
    }

    /// Whether a batch has been applied for too long.
    pub fn slow_batch(&self) -> Option<SlowBatch> {
        self.options.apply_watch.slow()
    }

    /// How far the partition is.
    pub fn partition(&self) -> PartitionStatus {
        let group = self.group.metrics();
        PartitionStatus {
            leader: self.group.is_leader(),
            position: self.shared.position.load(Ordering::Acquire),
            durable_index: self.shared.durable_index(),
            committed_index: group.committed_index,
            purged_index: group.purged_index,
        }
    }

    /// Time of the engine's clock, Unix milliseconds.
    pub fn clock_ms(&self) -> i64 {
        self.shared.due.now_ms()
    }

    /// Position of the last record of the state, and a hash of all its rows. For tests.
    #[doc(hidden)]
    pub fn state_hash(&self) -> Result<(u64, u64), state::StateError> {
        let engine = self.engine.lock();
        Ok((engine.position(), engine.tables().state_hash()?))
    }

    /// Whether it leads its partition.
    pub fn leads(&self) -> bool {
        self.shared.leading.leads()
    }

    /// Whether it is one of several brokers.
    pub fn is_in_cluster(&self) -> bool {
        self.router.is_some()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// The log index that a read must have applied, if this broker leads.
    pub(crate) async fn read_index_here(&self) -> Result<u64, ProposeError> {
        self.group.read_index().await
    }

    /// Answers from state that has everything acknowledged before.
    async fn read_now(&self, query: Query) -> Result<QueryReply, SubmitError> {
        if let Some(router) = &self.router {
            router.catch_up().await?;
        }
        self.reads.read(query).await
    }

    /// Flow control of the partition.
    pub fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }

    /// The write limit of the partition.
    pub fn write_limit(&self) -> &WriteLimit {
        &self.write_limit
    }

    /// Whether there is room for commands of a class: on the disk, and for their records.
    pub(crate) fn check(&self, class: Class) -> Result<(), SubmitError> {
        self.disk.check(class).inspect_err(|_| refused("disk"))?;
        if class == Class::New && self.shared.overlay_full.load(Ordering::Acquire) {
            refused("memory");
            return Err(SubmitError::ResourceExhausted(
                "Expected to handle the command, but state cannot be written to disk and memory takes no more of it"
                    .to_owned(),
            ));
        }
        let exports = self.shared.exports.as_ref().map_or(Ok(()), |exports| exporting::check(exports, class));
        exports.inspect_err(|_| refused("exporters"))
    }

    /// Whether the payload of a command is no larger than a message may be.
    fn check_bytes(&self, (field, bytes): (&str, usize)) -> Result<(), SubmitError> {
        let limit = self.options.max_message_bytes;
        if bytes <= limit {
            return Ok(());
        }
        Err(SubmitError::TooLarge(format!(
            "{field}: expected at most {limit} bytes, the limit of limits.max_message_bytes, but found {bytes}"
        )))
    }

    /// How exporting is; `None` if there are no exporters.
    pub fn exporting(&self) -> Option<export::Status> {
        self.shared.exports.as_ref().map(|exports| exports.status())
    }

    /// The exporters at work; `None` if there are none.
    pub fn exports(&self) -> Option<&Arc<Hub>> {
        self.shared.exports.as_ref()
    }

    /// Exporters that have exported once, but are not configured any more.
    pub fn former_exporters(&self) -> Vec<String> {
        self.former_exporters.lock().clone()
    }

    /// Forgets an exporter that is not configured any more, with its parked records. One with its ID begins as a
    /// new one.
    pub async fn forget_exporter(&self, id: &str) -> Result<(), SubmitError> {
        let configured = self.exporting().map(|status| status.exporters).unwrap_or_default();
        if configured.iter().any(|exporter| exporter.id == id) {
            let reason =
                format!("Expected to forget the exporter '{id}', but it is configured: disable it instead");
            return Err(Rejection::invalid_argument(reason).into());
        }
        self.run_own(Command::ForgetExporter { exporter: Name::from(id) }).await?;
        let directory = export::Options::spill_directory(&self.options.data_dir, FIRST_PARTITION);
        exporting::forget(self.shared.exports.clone(), directory, id.to_owned()).await?;
        self.former_exporters.lock().retain(|former| former != id);
        Ok(())
    }

    /// Pauses or resumes exporting; kept over restarts. Without exporters nothing happens.
    pub async fn set_exporting(&self, phase: export::Phase) -> std::io::Result<()> {
        match self.shared.exports.clone() {
            Some(exports) => exporting::set_phase(exports, phase).await,
            None => Ok(()),
        }
    }

    /// An answer for a job was refused.
    fn answer_refused(&self, job_key: Key, kind: RejectionType) {
        if matches!(kind, RejectionType::NotFound | RejectionType::InvalidState) {
            self.shared.demand.answer_refused(job_key, kind == RejectionType::NotFound);
        }
    }

    fn publish(&self) {
        if let Some(exports) = &self.shared.exports {
            exports.publish();
            self.write_limit.observe(exporting::exported(exports));
        }
        let counters = self.shared.counters.lock().clone();
        let rows = self.shared.rows.lock().clone();
        let (pushed, push_failed) = self.shared.demand.counts();
        let group = self.group.metrics();
        publish(&Figures {
            counters: &counters,
            rows: &rows,
            flow_control: self.flow_control.status(),
            write_limit: self.write_limit.status(),
            free_disk_bytes: self.disk.free_bytes(),
            streams: self.shared.demand.streams(),
            pushed,
            push_failed,
            job_types: &self.shared.demand.job_types(),
            position: self.shared.position.load(Ordering::Acquire),
            committed_index: group.committed_index,
            appended_index: group.last_log_index,
            purged_index: group.purged_index,
            durable_index: self.shared.durable_index(),
            healthy: self.health().partition.is_ok(),
        });
    }
}

/// Starts the exporters that are configured.
fn exports(options: &Options, engine: &Engine) -> Result<Option<Arc<Hub>>, StartError> {
    let mut exporters = Vec::new();
    for exporter in options.export.exporters(&options.data_dir, FIRST_PARTITION) {
        let acknowledged = engine.tables().exporters.get(&Arc::from(exporter.id()))?;
        exporters.push(Assigned { exporter, acknowledged: acknowledged.map_or(0, |position| *position) });
    }
    if exporters.is_empty() {
        return Ok(None);
    }
    let directory = export::Options::spill_directory(&options.data_dir, FIRST_PARTITION);
    let hub = Hub::open(options.export.stream.clone(), &directory, FIRST_PARTITION, exporters)?;
    Ok(Some(Arc::new(hub)))
}

/// A group of this broker alone, or of all brokers of a cluster.
fn group_options(links: Option<&Links>) -> GroupOptions {
    let Some(links) = links else { return GroupOptions::default() };
    GroupOptions {
        voters: links.voters(),
        transport: Arc::clone(&links.peers) as _,
        ..GroupOptions::default()
    }
}

/// Removes the log as far as state is on disk.
async fn purge(group: Group, mut durable: watch::Receiver<u64>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            changed = durable.changed() => if changed.is_err() { return },
            () = shutdown.cancelled() => return,
        }
        let upto = *durable.borrow_and_update();
        group.purge(upto).await;
    }
}

/// Publishes figures and looks at the disk. Does not keep the node alive.
async fn supervise(node: Weak<Node>) {
    let Some((check_interval, shutdown)) =
        node.upgrade().map(|node| (node.options.disk.check_interval, node.shutdown.clone()))
    else {
        return;
    };
    let mut publishing = tokio::time::interval(PUBLISH_INTERVAL);
    let mut looking = tokio::time::interval(check_interval);
    loop {
        let publish = tokio::select! {
            _ = publishing.tick() => true,
            _ = looking.tick() => false,
            () = shutdown.cancelled() => return,
        };
        let Some(node) = node.upgrade() else { return };
        if publish {
            node.shared.demand.expire(node.clock_ms());
            node.publish();
        } else {
            node.disk.measure(&node.options.data_dir);
        }
    }
}

impl Drop for Node {
    /// Without a shutdown this is as a crash: whatever was acknowledged is in the log.
    fn drop(&mut self) {
        self.shutdown.cancel();
        if let Some(router) = &self.router {
            router.links.close();
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

pub(crate) fn class(command: &Command) -> Class {
    match command.asked() {
        Command::Deploy(_)
        | Command::CreateInstance(_)
        | Command::PublishMessage(_)
        | Command::CorrelateMessage(_)
        | Command::ClusterVariable(_)
        | Command::Identity(_)
        | Command::BroadcastSignal(_)
        | Command::EvaluateConditionals(_)
        | Command::SetVariables(_) => Class::New,
        _ => Class::Begun,
    }
}

impl Broker for Node {
    fn submit(&self, mut command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        async move {
            let class = class(&command);
            self.check(class)?;
            self.check_bytes(payload(&command))?;
            if let Command::CreateInstance(create) = command.asked_mut() {
                create.unique_business_id = self.options.unique_business_ids;
            }
            if matches!(command.asked(), Command::Clock(_)) && !self.options.controlled_clock {
                return Err(Rejection::invalid_argument(
                    "Expected to control the clock, but it is not controllable: set 'clock.controlled' to true",
                )
                .into());
            }
            let job_key = command.answered_job();
            let Some(slot) = command.request_id_mut() else {
                let answer = self.run(command, class).await;
                if let (Some(key), Err(SubmitError::Rejected(rejection))) = (job_key, &answer) {
                    self.answer_refused(key, rejection.kind);
                }
                return answer;
            };
            let (request_id, answer) = self.shared.late.register();
            let _forget = Forget { late: &self.shared.late, request_id };
            *slot = Some(request_id);
            let accepted = self.run(command, class).await?;
            if accepted.response != Response::Pending {
                return Ok(accepted);
            }
            self.late(accepted, answer).await
        }
        .boxed()
    }

    fn create_with_result(
        &self,
        caller: Option<Caller>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        self.run_with_result(caller, command, fetch_variables, timeout).boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        jobs::poll(Arc::clone(&self.shared.demand), request, wait).boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        jobs::stream(Arc::clone(&self.shared.demand), request, self.options.jobs.stream_buffer)
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        self.read_now(query).boxed()
    }

    fn grants_version(&self) -> u64 {
        self.shared.grants_version.load(Ordering::Acquire)
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        let hastened = self.shared.exports.as_ref().and_then(|exports| exports.hasten(exporter));
        hastened.map_or_else(Recorded::default, |Hastened { position, lag, is_stalled }| Recorded {
            positions: Positions::at(FIRST_PARTITION, position),
            lag,
            is_stalled,
        })
    }

    fn evaluate_expression(
        &self,
        expression: String,
        mut variables: Document,
        tenant_id: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        async move {
            // The context that expressions inside of instances have under this name, too.
            if expression.contains(CLUSTER_VARIABLES) && variables.get(CLUSTER_VARIABLES).is_none() {
                let reply = self.read_now(Query::ClusterContext { tenant_id }).await?;
                if let QueryReply::ClusterContext(context) = reply {
                    variables.set(CLUSTER_VARIABLES.into(), context);
                }
            }
            let timeout = self.options.expression_timeout;
            self.evaluations.evaluate(expression, variables, self.clock_ms(), timeout).await
        }
        .boxed()
    }

    fn topology(&self) -> Topology {
        let mut brokers = vec![BrokerInfo {
            node_id: self.options.node_id,
            host: self.options.advertised_host.clone(),
            port: self.options.advertised_port,
            partitions: vec![PartitionInfo {
                partition_id: FIRST_PARTITION,
                leader: self.group.is_leader(),
                healthy: self.health().partition.is_ok(),
            }],
        }];
        let links = self.router.as_ref().map(|router| &router.links);
        brokers.extend(links.map(|links| links.others()).unwrap_or_default());
        let cluster_size = links.map_or(1, |links| links.cluster_size());
        Topology {
            cluster_id: self.options.cluster_id.clone(),
            brokers,
            cluster_size,
            partitions_count: 1,
            replication_factor: cluster_size,
        }
    }

    fn max_message_bytes(&self) -> usize {
        self.options.max_message_bytes
    }
}
