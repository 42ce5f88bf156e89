//! The broker's interface to gateways.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use futures::future::BoxFuture;
use protocol::{
    ActivatedJob, Caller, ClusterChange, Command, CreateInstance, Document, Idempotency, Name, PartitionId,
    Query, QueryReply, Rejection, Response,
};

/// The version of the compatible API that this broker speaks.
pub const API_VERSION: &str = protocol::COMPATIBLE_VERSION;

/// The sender of a command.
#[derive(Debug, Clone, Default)]
pub struct Requester {
    /// Its principal, if known.
    pub caller: Option<Caller>,
    /// Its idempotency key, if it gave one.
    pub idempotency: Option<Idempotency>,
}

impl Requester {
    /// A command of this sender.
    #[must_use]
    pub fn asks(self, command: Command) -> Command {
        command.asked_by(self.caller).once(self.idempotency)
    }
}

/// A broker as gateways see it.
pub trait Broker: Send + Sync + 'static {
    /// Runs one command and answers when it is committed and applied, and the listeners that have a say in it are done.
    /// Waits for a place when the partition is busy and the overflow policy says so. Dropping the future gives up the
    /// answer, not the command.
    fn submit(&self, command: Command) -> BoxFuture<'_, Result<Answer, SubmitError>>;

    /// Creates an instance for somebody and answers at its end, with the variables named (empty: all).
    /// [`SubmitError::Timeout`] after `timeout`; the instance goes on.
    fn create_with_result(
        &self,
        requester: Option<Requester>,
        command: CreateInstance,
        fetch_variables: Vec<Name>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Answer, SubmitError>>;

    /// Activates up to `max_jobs` jobs; with `wait`, the answer is held back until there is at least one or the time
    /// is over (then it is empty). Dropping the future gives up the demand; jobs already activated are yielded.
    fn activate_jobs(
        &self,
        request: JobRequest,
        wait: Option<Duration>,
    ) -> BoxFuture<'_, Result<Activation, SubmitError>>;

    /// Opens a stream of jobs. Jobs are activated for it only as far as its buffer has room. Dropping it ends the
    /// demand; jobs in its buffer are yielded. `max_jobs` of the request is ignored.
    fn stream_jobs(&self, request: JobRequest) -> Result<JobStream, SubmitError>;

    /// Answers from the state as of the last batch applied. A read after the answer to a command sees its changes.
    fn read(&self, query: Query) -> BoxFuture<'_, Result<QueryReply, SubmitError>>;

    /// Version of the grants and the users; changes with every grant. [`protocol::Grants::valid_from`] is compared with
    /// it. Asked with every request, so it must be cheap.
    fn grants_version(&self) -> u64;

    /// Has an exporter hand on what it has not, without waiting for more, since somebody is about to search what it
    /// exports.
    fn hasten_exports(&self, exporter: &str) -> Recorded;

    /// Waits until this broker has everything that any broker has acknowledged before. An error: nobody tells what that
    /// is.
    fn catch_up(&self) -> BoxFuture<'_, Result<(), SubmitError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Evaluates an expression (with or without its leading `=`) outside of any process instance, in bounded time.
    /// It sees the cluster variables of the tenant.
    fn evaluate_expression(
        &self,
        expression: String,
        variables: Document,
        tenant_id: Name,
    ) -> BoxFuture<'_, Result<ExpressionResult, SubmitError>>;

    /// Brokers and partitions of the cluster.
    fn topology(&self) -> Topology;

    /// The latest change of the cluster, as far as this broker knows.
    fn cluster_change(&self) -> Option<ClusterChange> {
        None
    }

    /// The part of this broker in its cluster: work that is done once for all is the leader's.
    fn leadership(&self) -> Leadership {
        Leadership::Alone
    }

    /// Whether this broker can serve now.
    fn is_ready(&self) -> bool {
        true
    }

    /// The limit of one message or document, in bytes.
    fn max_message_bytes(&self) -> usize;
}

/// The part of a broker in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leadership {
    /// There are no other brokers.
    Alone,
    /// It does the work of the leader.
    Leads,
    /// Another broker does, or none now.
    Follows,
}

/// An accepted command.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The engine's response.
    pub response: Response,
    /// How long each stage took.
    pub timing: Timing,
    /// The partition that has run the command.
    pub partition: PartitionId,
    /// Position of its last record when it was applied: whoever shows this position shows what the command did. 0 when
    /// there are no records.
    pub position: u64,
}

impl Answer {
    /// The position, as that of the partition.
    pub fn positions(&self) -> Positions {
        Positions::at(self.partition, self.position)
    }
}

/// Jobs that were activated for one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activation {
    /// The jobs.
    pub jobs: Vec<ActivatedJob>,
    /// As [`Answer::position`], for each partition that jobs came from.
    pub positions: Positions,
}

/// How far partitions are: the position of a record of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions(Vec<(PartitionId, u64)>);

impl Positions {
    /// The position of one partition; 0 is none.
    pub fn at(partition: PartitionId, position: u64) -> Self {
        let mut positions = Self::default();
        positions.reach(partition, position);
        positions
    }

    /// A partition is as far as this at least.
    pub fn reach(&mut self, partition: PartitionId, position: u64) {
        match self.0.binary_search_by_key(&partition, |(known, _)| *known) {
            Ok(place) => self.0[place].1 = self.0[place].1.max(position),
            Err(place) if position > 0 => self.0.insert(place, (partition, position)),
            Err(_) => {}
        }
    }

    /// All of them, in the order of their partitions.
    pub fn iter(&self) -> impl Iterator<Item = (PartitionId, u64)> {
        self.0.iter().copied()
    }

    /// Whether no partition has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How far records are, and how well an exporter follows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The last record of each partition: everything that was answered is before it.
    pub positions: Positions,
    /// Age of the oldest record that the exporter has not acknowledged.
    pub lag: Duration,
    /// Whether the exporter is stalled: it fails, is switched off or paused.
    pub is_stalled: bool,
}

/// Where the time of one command went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// From arrival until proposed to the log.
    pub queued: Duration,
    /// From proposed until committed (written, synced, agreed).
    pub commit: Duration,
    /// From committed until applied.
    pub apply: Duration,
}

impl Timing {
    /// All of them, in their order.
    pub fn stages(&self) -> [(&'static str, Duration); 3] {
        [("queue", self.queued), ("commit", self.commit), ("apply", self.apply)]
    }
}

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The engine refused it; nothing was changed.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The partition takes no more now; the text says which limit.
    #[error("{0}")]
    ResourceExhausted(String),
    /// A disk has no more room but for its reserve; the text says which one.
    #[error("{0}")]
    DiskFull(String),
    /// The command is larger than any may be; the text says what of it, its size and the limit. Trying again is no use.
    #[error("{0}")]
    TooLarge(String),
    /// The partition cannot serve now (starting, stopping, no leader, disk failed).
    #[error("{0}")]
    Unavailable(String),
    /// No answer in time; the command may still take effect.
    #[error("{0}")]
    Timeout(String),
    /// A fault of this broker.
    #[error("{0}")]
    Internal(String),
}

/// Demand for jobs of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRequest {
    /// Job type.
    pub job_type: Name,
    /// Name of the worker.
    pub worker: Name,
    /// How long the worker may keep a job, in milliseconds.
    pub timeout_ms: i64,
    /// How many jobs at the most.
    pub max_jobs: u32,
    /// Names of the variables to hand out; empty means all.
    pub fetch_variables: Vec<Name>,
    /// Tenants whose jobs may be handed out; never empty.
    pub tenant_ids: Vec<Name>,
    /// The caller, if known.
    pub caller: Option<Caller>,
    /// Whether each activation has a token.
    pub with_lease: bool,
}

/// Jobs pushed to a worker.
pub struct JobStream(Pin<Box<dyn Stream<Item = ActivatedJob> + Send>>);

impl JobStream {
    /// Wraps a stream.
    pub fn new(stream: impl Stream<Item = ActivatedJob> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }
}

impl Stream for JobStream {
    type Item = ActivatedJob;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ActivatedJob>> {
        self.0.as_mut().poll_next(cx)
    }
}

/// The value of a stand-alone expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionResult {
    /// The result as JSON.
    pub result_json: String,
    /// Warnings of the evaluation.
    pub warnings: Vec<String>,
}

/// The cluster, as far as it is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// ID of the cluster.
    pub cluster_id: String,
    /// Brokers, this one first.
    pub brokers: Vec<BrokerInfo>,
    /// How many brokers there should be.
    pub cluster_size: u32,
    /// How many partitions there are.
    pub partitions_count: u32,
    /// How many replicas each partition has.
    pub replication_factor: u32,
}

/// One broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerInfo {
    /// Number of the broker, from 0.
    pub node_id: u32,
    /// Host name for clients.
    pub host: String,
    /// gRPC port for clients.
    pub port: u16,
    /// Its partitions.
    pub partitions: Vec<PartitionInfo>,
}

/// One partition on one broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Number of the partition, from 1.
    pub partition_id: PartitionId,
    /// Whether it leads.
    pub leader: bool,
    /// Whether it works.
    pub healthy: bool,
}
