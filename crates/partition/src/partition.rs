//! One partition at work: what is durable of it, its group, and what its parts share.

use std::sync::Arc;
use std::time::Duration;

use broker_api::SubmitError;
use engine::Engine;
use export::Hub;
use parking_lot::Mutex;
use protocol::{Batch, BatchOrigin, ClusterChange, Command, Name, PartitionId, Record, Rejection};
use replication::{Group, GroupFailure, LogStore, Payload, ProposeError, Role};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::answers::{PendingRequest, stopping};
use crate::apply_watch::SlowBatch;
use crate::demand::Worker;
use crate::disk::Disk;
use crate::divergence::Digests;
use crate::exporting;
use crate::flow_control::FlowControl;
use crate::hashes::WantedHash;
use crate::options::PartitionOptions;
use crate::partition_state::PartitionState;
use crate::published::Published;
use crate::reads::Reads;
use crate::route::{Router, check_leader};
use crate::write_limit::WriteLimit;

/// Time-out of the last entries at shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Time-out of the last entries at shutdown of a broker in a cluster, where others may have stopped already.
const CLUSTER_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Time-out of an entry that marks a place in the log.
const MARK_TIME: Duration = Duration::from_secs(5);

/// A command that changes nothing.
pub(crate) fn nothing() -> Command {
    Command::YieldJobs { job_keys: Vec::new(), deadlines_ms: None }
}

/// Whether a broker can serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether the partition leads and its log can be written.
    pub partition: Result<(), String>,
    /// Whether there is room on the disk.
    pub disk: Result<(), String>,
    /// Whether state reaches the disk.
    pub flush: Result<(), String>,
}

impl Health {
    /// Reason why the broker cannot serve, if any.
    pub fn reason(self) -> Option<String> {
        [self.partition, self.disk, self.flush].into_iter().find_map(Result::err)
    }
}

/// Progress of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "names say what is held")]
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

/// A partition. It works from [`Partition::begin`] on.
pub struct Partition {
    pub(crate) options: PartitionOptions,
    pub(crate) group: Group,
    pub(crate) log: LogStore,
    pub(crate) shared: Arc<PartitionState>,
    pub(crate) flow_control: Arc<FlowControl>,
    pub(crate) write_limit: Arc<WriteLimit>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) router: Option<Arc<Router>>,
    pub(crate) engine: Arc<Mutex<Engine>>,
    pub(crate) requests: mpsc::Sender<PendingRequest>,
    pub(crate) reads: Reads,
    pub(crate) published: Published,
    /// Cancelled when the broker is about to stop: requests that may wait for long are answered.
    pub(crate) leaving: CancellationToken,
    pub(crate) shutdown: CancellationToken,
    pub(crate) tasks: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) former_exporters: Mutex<Vec<String>>,
}

/// A partition that has replayed its log and does not serve yet.
pub struct ReplayedPartition {
    pub(crate) options: PartitionOptions,
    pub(crate) group: Group,
    pub(crate) log: LogStore,
    pub(crate) shared: Arc<PartitionState>,
    pub(crate) engine: Arc<Mutex<Engine>>,
    pub(crate) reads: Reads,
    pub(crate) disk: Arc<Disk>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) watch: JoinHandle<()>,
    pub(crate) former_exporters: Vec<String>,
}

impl ReplayedPartition {
    /// Its number.
    pub fn number(&self) -> PartitionId {
        self.options.number
    }

    /// The group of the partition.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Digests of the state after recent entries.
    pub fn digests(&self) -> &Digests {
        &self.shared.digests
    }
}

impl Partition {
    /// Answers requests that wait for the end of an instance, or for other work, since the broker is about to stop and
    /// neither is likely to come in time.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Whether the broker is about to stop.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_cancelled()
    }

    /// Ends polls and streams, so that unread jobs go back with the last entry.
    pub fn close_demand(&self) {
        self.shared.demand.close(&stopping());
        self.shared.flush.order();
    }

    /// Brings the last entry into the log, which flushes. Without it a restart only replays more.
    pub async fn drain(&self) {
        // In a cluster others may have stopped already, so that nothing gets through.
        let last = if self.is_processing_paused() { nothing() } else { Command::Tick };
        let patience = if self.router.is_some() { CLUSTER_DRAIN_TIMEOUT } else { DRAIN_TIMEOUT };
        let _ = timeout(patience, self.run_own(last)).await;
    }

    /// Stops the partition. The token of the start is cancelled then, and others reach this broker no more.
    pub async fn shutdown(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            let _ = timeout(DRAIN_TIMEOUT, task).await;
        }
        self.reads.stop();
        self.group.shutdown().await;
        if let Some(exports) = self.exports().cloned() {
            exporting::stop(exports).await;
        }
    }

    /// Its number.
    pub fn number(&self) -> PartitionId {
        self.options.number
    }

    /// How it is configured.
    pub fn options(&self) -> &PartitionOptions {
        &self.options
    }

    /// The replicas of its log.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The state, between two batches.
    pub fn engine(&self) -> &Arc<Mutex<Engine>> {
        &self.engine
    }

    /// Checks that the group has a leader that can commit entries, and that its log can be written.
    pub fn check_leader(&self) -> Result<(), String> {
        match (self.log.failure(), &self.router) {
            (Some(failure), _) => Err(format!("the log cannot be written: {failure}")),
            (None, Some(router)) => check_leader(&self.group, &*router.others),
            (None, None) if self.group.is_leader() => Ok(()),
            (None, None) => Err(format!("partition {} has no leader", self.number())),
        }
    }

    /// Checks that the leader, which is another broker, takes commands.
    pub fn check_commands(&self) -> Result<(), String> {
        let role = *self.group.role().borrow();
        self.router.as_ref().and_then(|router| router.others.leader_refuses(role)).map_or(Ok(()), Err)
    }

    /// Checks that entries are applied, and that the state is that of the other replicas.
    pub fn check_state(&self) -> Result<(), String> {
        let slow = self.slow_batch().map(|slow| slow.describe());
        slow.or_else(|| self.shared.digests.difference()).map_or(Ok(()), Err)
    }

    /// Checks that flushes reach the disk.
    pub fn check_flush(&self) -> Result<(), String> {
        self.shared.flush.failure().map_or(Ok(()), Err)
    }

    /// Reason why the partition cannot go on in this life of the broker, if any.
    pub fn failure(&self) -> Option<GroupFailure> {
        self.group.failure()
    }

    /// The batch that has been applied for too long, if any.
    pub fn slow_batch(&self) -> Option<SlowBatch> {
        self.options.apply_watch.slow()
    }

    /// Progress of the partition.
    pub fn status(&self) -> PartitionStatus {
        let group = self.group.metrics();
        PartitionStatus {
            leader: self.group.is_leader(),
            position: self.shared.applied.position(),
            durable_index: self.shared.flush.durable_index(),
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

    /// Digests of the state after recent entries.
    pub fn digests(&self) -> &Digests {
        &self.shared.digests
    }

    /// The hash of the state that another broker waits for.
    pub fn wanted_hash(&self) -> &WantedHash {
        &self.shared.wanted_hash
    }

    /// A number for an entry, never given before.
    pub fn next_entry(&self) -> u64 {
        self.shared.entered.next()
    }

    /// Appends an entry with a number that changes nothing, if this broker leads.
    pub async fn mark(&self, number: u64) -> Result<(), String> {
        let Role::Leader { term } = *self.group.role().borrow() else {
            return Err("this broker does not lead any more".to_owned());
        };
        let mut batch = Batch {
            engine_version: 0,
            timestamp_ms: 0,
            commands: vec![Command::Tick],
            demand: vec![],
            origin: Some(BatchOrigin { number, term }),
            digest: None,
        };
        self.shared.stamp(&mut batch);
        let proposed = self.group.propose(Payload::new(batch.encode().into()));
        let proposed = timeout(MARK_TIME, proposed).await;
        let proposed = proposed.map_err(|_| "a majority of the brokers does not answer".to_owned())?;
        proposed.map(drop).map_err(|error| error.to_string())
    }

    /// Appends an entry of another broker, at the leader.
    pub async fn append(&self, mut batch: Batch) -> Result<(), ProposeError> {
        assert!(batch.origin.is_some(), "an entry of another broker tells where its answers go");
        self.shared.stamp(&mut batch);
        self.group.propose(Payload::new(batch.encode().into())).await.map(drop)
    }

    /// Whether this broker leads it.
    pub fn leads(&self) -> bool {
        self.shared.leading.leads()
    }

    /// Whether this broker leads the partition, and the first entries of the leader are applied.
    pub fn has_begun_to_lead(&self) -> bool {
        self.shared.leading.has_begun()
    }

    /// Workers that ask for jobs at this broker.
    pub fn workers(&self) -> Vec<Worker> {
        self.shared.demand.workers()
    }

    /// Forgets requests for jobs whose workers no longer wait.
    pub fn expire_demand(&self) {
        self.shared.demand.expire(self.clock_ms());
    }

    /// The state, as records that make what there is, and its position. The partition waits meanwhile.
    pub fn describe(&self) -> Result<(u64, Vec<Record>), String> {
        let mut engine = self.engine.lock();
        let records = engine.describe().map_err(|error| error.to_string())?;
        Ok((engine.position(), records))
    }

    /// Flow control.
    pub fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }

    /// The write limit.
    pub fn write_limit(&self) -> &WriteLimit {
        &self.write_limit
    }

    /// The exporters at work; `None` if there are none.
    pub fn exports(&self) -> Option<&Arc<Hub>> {
        self.shared.records.exports()
    }

    /// Position up to which the records were handed to exporters.
    pub fn handed_on(&self) -> u64 {
        self.shared.records.handed_on()
    }

    /// Version of the grants; changes with every grant.
    pub fn grants_version(&self) -> u64 {
        self.shared.applied.grants_version()
    }

    /// The change of the cluster that is under way, or was the last one.
    pub fn cluster_change(&self) -> Option<ClusterChange> {
        self.shared.applied.cluster_change()
    }

    /// Exporters that have exported once, but are not configured any more.
    pub fn former_exporters(&self) -> Vec<String> {
        self.former_exporters.lock().clone()
    }

    /// Forgets an exporter that is not configured any more, with its parked records. One with its ID begins as a
    /// new one.
    pub async fn forget_exporter(&self, id: &str) -> Result<(), SubmitError> {
        let configured = self.exports().map(|exports| exports.status().exporters).unwrap_or_default();
        if configured.iter().any(|exporter| exporter.id == id) {
            let reason =
                format!("Expected to forget the exporter '{id}', but it is configured: disable it instead");
            return Err(Rejection::invalid_argument(reason).into());
        }
        self.run_own(Command::ForgetExporter { exporter: Name::from(id) }).await?;
        let directory = export::Options::spill_directory(&self.options.data_dir, self.number());
        exporting::forget(self.exports().cloned(), directory, id.to_owned()).await?;
        self.former_exporters.lock().retain(|former| former != id);
        Ok(())
    }
}

impl Drop for Partition {
    /// Without a shutdown, dropping is like a crash: the log has everything that was acknowledged.
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
