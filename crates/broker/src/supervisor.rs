//! A broker that begins again by itself when its partition cannot go on.

use std::sync::Arc;
use std::time::Duration;

use broker_api::{
    Activation, Answer, Broker, ExpressionResult, JobRequest, JobStream, Leadership, Recorded, Requester,
    SubmitError, Topology,
};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::{Mutex, RwLock};
use protocol::{ClusterChange, Command, CreateInstance, Document, Name, Query, QueryReply};
use replication::GroupFailure;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::node::Node;
use crate::opening::StartError;
use cluster::give_up_or_say;

/// Interval at which the supervisor checks the partition.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// First back-off before a restart, doubled after each start that fails or does not last.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Uptime after which the restart back-off resets.
const LASTING: Duration = Duration::from_secs(60);
/// How long requests of the former life may take to end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);
const LEAVE_LOOK: Duration = Duration::from_millis(10);

/// The lives of a broker in one process.
pub trait Lives: Send + Sync + 'static {
    /// Starts the broker, on the same data directory each time.
    fn begin(&self) -> BoxFuture<'_, Result<Arc<Node>, StartError>>;

    /// The life is over, and the next begins. Handles to the former one must be given up: they keep its files locked.
    fn end(&self, reason: &str);
}

/// The broker now, or the facts that outlast it.
enum Life {
    AtWork(Arc<Node>),
    Between {
        reason: String,
        topology: Topology,
        grants_version: u64,
        cluster_change: Option<ClusterChange>,
        leadership: Leadership,
    },
}

/// Keeps a broker at work: a partition that cannot go on, since its state cannot be read or differs from that of the
/// other replicas, ends its broker, which starts again on what is durable. As with another process, workers and clients
/// of the former life connect anew.
pub struct Supervisor {
    life: RwLock<Life>,
    max_message_bytes: usize,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Supervisor {
    /// Begins the first life. An error of its start is the caller's.
    pub async fn start(lives: impl Lives) -> Result<Arc<Self>, StartError> {
        let node = lives.begin().await?;
        let supervisor = Arc::new(Self {
            max_message_bytes: node.max_message_bytes(),
            life: RwLock::new(Life::AtWork(node)),
            stop: CancellationToken::new(),
            task: Mutex::default(),
        });
        let keep = supervise(Arc::clone(&supervisor), lives);
        let stop = supervisor.stop.clone();
        let task = tokio::spawn(async move {
            stop.run_until_cancelled(keep).await;
        });
        *supervisor.task.lock() = Some(task);
        Ok(supervisor)
    }

    /// The broker of now; an error between two lives.
    pub fn node(&self) -> Result<Arc<Node>, SubmitError> {
        match &*self.life.read() {
            Life::AtWork(node) => Ok(Arc::clone(node)),
            Life::Between { reason, .. } => Err(SubmitError::Unavailable(format!(
                "Expected to handle the request, but its partitions are started again: {reason}"
            ))),
        }
    }

    /// Resolves when the broker could serve for the first time.
    pub async fn served(&self) {
        loop {
            if let Ok(node) = self.node() {
                let served = node.served();
                // The life may end before that.
                if timeout(LOOK_INTERVAL, served).await.is_ok() {
                    return;
                }
            } else {
                sleep(LOOK_INTERVAL).await;
            }
        }
    }

    /// Answers requests that may wait for long, since the broker is about to stop.
    pub fn leave(&self) {
        if let Ok(node) = self.node() {
            node.leave();
        }
    }

    /// Ends the broker, and begins no other.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let task = self.task.lock().take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the supervisor of the broker failed");
        }
        if let Ok(node) = self.node() {
            node.shutdown().await;
        }
    }

    /// Ends a life; returns when nothing uses its files any more, or after a while.
    async fn end(&self, node: Arc<Node>, reason: String) {
        node.shutdown().await;
        let leadership = if node.is_in_cluster() { Leadership::Follows } else { Leadership::Alone };
        *self.life.write() = Life::Between {
            reason,
            topology: without_partitions(node.topology()),
            grants_version: node.grants_version(),
            cluster_change: node.cluster_change(),
            leadership,
        };
        let node = Arc::downgrade(&{ node });
        let until = Instant::now() + LEAVE_TIMEOUT;
        while node.strong_count() > 0 && Instant::now() < until {
            sleep(LEAVE_LOOK).await;
        }
    }

    /// Notes a new reason why the next life has not begun.
    fn wait_on(&self, new_reason: String) {
        match &mut *self.life.write() {
            Life::Between { reason, .. } => *reason = new_reason,
            Life::AtWork(_) => unreachable!("one life begins after the other"),
        }
    }

    fn begin(&self, node: Arc<Node>) {
        let former = std::mem::replace(&mut *self.life.write(), Life::AtWork(node));
        assert!(matches!(former, Life::Between { .. }), "one life begins after the other");
    }
}

/// Fails, since a broker between two lives has no part in its partitions.
fn without_partitions(mut topology: Topology) -> Topology {
    topology.brokers.truncate(1);
    for partition in topology.brokers.iter_mut().flat_map(|broker| &mut broker.partitions) {
        partition.leader = false;
        partition.healthy = false;
    }
    topology
}

/// Begins the next life whenever one has failed, for ever.
async fn supervise(supervisor: Arc<Supervisor>, lives: impl Lives) {
    let mut pause = PAUSE_MIN;
    loop {
        let began = Instant::now();
        let (node, GroupFailure { reason, is_damage }) = loop {
            sleep(LOOK_INTERVAL).await;
            let node = supervisor.node().expect("a life has begun, and nobody else ends it");
            if let Some(failure) = node.failure() {
                break (node, failure);
            }
        };
        if is_damage && node.is_in_cluster() {
            // The others have what it lacks.
            give_up_or_say(&node.options().partition.data_dir);
        }
        if began.elapsed() > LASTING {
            pause = PAUSE_MIN;
        }
        tracing::warn!(reason, "the partitions of this broker are started again");
        lives.end(&reason);
        supervisor.end(node, reason).await;
        let node = loop {
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
            match lives.begin().await {
                Ok(node) => break node,
                Err(error) => {
                    let reason = error.to_string();
                    tracing::warn!(
                        reason,
                        ?pause,
                        "the partitions of this broker do not start; it is tried again"
                    );
                    lives.end(&reason);
                    supervisor.wait_on(reason);
                }
            }
        };
        tracing::info!("the partitions of this broker are at work again");
        supervisor.begin(node);
    }
}

impl Broker for Supervisor {
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        async move { self.node()?.submit(command).await }.boxed()
    }

    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>> {
        async move { self.node()?.create_with_result(requester, command, fetch_variables, timeout).await }
            .boxed()
    }

    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>> {
        async move { self.node()?.activate_jobs(request, wait).await }.boxed()
    }

    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError> {
        self.node()?.stream_jobs(request)
    }

    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>> {
        async move { self.node()?.read(query).await }.boxed()
    }

    fn grants_version(&self) -> u64 {
        match &*self.life.read() {
            Life::AtWork(node) => node.grants_version(),
            Life::Between { grants_version, .. } => *grants_version,
        }
    }

    fn hasten_exports(&self, exporter: &str) -> Recorded {
        match &*self.life.read() {
            Life::AtWork(node) => node.hasten_exports(exporter),
            Life::Between { .. } => Recorded::default(),
        }
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), SubmitError>> {
        async move { self.node()?.catch_up().await }.boxed()
    }

    fn evaluate_expression(
        &self,
        expression: String,
        variables: Document,
        tenant_id: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>> {
        async move { self.node()?.evaluate_expression(expression, variables, tenant_id).await }.boxed()
    }

    fn topology(&self) -> Topology {
        match &*self.life.read() {
            Life::AtWork(node) => node.topology(),
            Life::Between { topology, .. } => topology.clone(),
        }
    }

    fn cluster_change(&self) -> Option<ClusterChange> {
        match &*self.life.read() {
            Life::AtWork(node) => node.cluster_change(),
            Life::Between { cluster_change, .. } => *cluster_change,
        }
    }

    fn leadership(&self) -> Leadership {
        match &*self.life.read() {
            Life::AtWork(node) => node.leadership(),
            Life::Between { leadership, .. } => *leadership,
        }
    }

    fn is_ready(&self) -> bool {
        match &*self.life.read() {
            Life::AtWork(node) => node.is_ready(),
            Life::Between { .. } => false,
        }
    }

    fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }
}
