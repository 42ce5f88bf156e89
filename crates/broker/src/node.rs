//! A broker: opens what is durable, starts its partition, and answers gateways.

#![expect(missing_docs, reason = "names say what is held")]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker_api::SubmitError;
use engine::Engine;
use export::Hub;
use parking_lot::Mutex;
use protocol::{Command, FIRST_PARTITION, Name, Rejection};
use replication::{Group, GroupFailure, LogStore, ProposeError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::answers::{PendingRequest, stopping};
use crate::apply_watch::SlowBatch;
use crate::backups::BackupDirectory;
use crate::cluster::Replica;
use crate::demand::Worker;
use crate::disk::{Disk, DiskSpace};
use crate::expression::Evaluations;
use crate::flow_control::{Class, FlowControl};
use crate::machine::PartitionState;
use crate::opening::StartError;
use crate::options::Options;
use crate::reads::Reads;
use crate::route::{Router, check_leader};
use crate::write_limit::WriteLimit;
use crate::{exporting, pause};

mod published;
mod requests;
mod starting;

use published::Published;
pub(crate) use requests::class;

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
    pub(crate) router: Option<Arc<Router>>,
    pub(crate) engine: Arc<Mutex<Engine>>,
    requests: mpsc::Sender<PendingRequest>,
    shutdown: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    evaluations: Evaluations,
    reads: Reads,
    former_exporters: Mutex<Vec<String>>,
    pub(crate) backups: Arc<BackupDirectory>,
    published: Published,
}

impl Node {
    /// Opens the data directory, replays the log, and serves, alone.
    pub async fn start(options: Options) -> Result<Arc<Self>, StartError> {
        Box::pin(Self::start_in(options, None)).await
    }

    /// The same as one of the brokers of a cluster. It has a leader some time after this has returned.
    pub async fn start_replica(options: Options, replica: Replica) -> Result<Arc<Self>, StartError> {
        let data_dir = options.data_dir.clone();
        let started = Box::pin(Self::start_in(options, Some(replica))).await;
        started.map_err(|error| error.give_up_damaged(&data_dir))
    }

    /// Stops taking commands, finishes those that are there, writes state to disk, and stops.
    pub async fn shutdown(&self) {
        // Workers go first, so that what they had not read goes back with the last entry.
        self.shared.demand.close(&stopping());
        self.shared.flush_now.store(true, Ordering::Release);
        // Others may stop at the same time, so that nobody is left to take over.
        if let Some(router) = &self.router
            && self.leads()
            && let Err(reason) = self.hand_over_here(router, None).await
        {
            tracing::info!(partition = 1, reason, "this broker stops as the leader");
        }
        // The last entry; it flushes. Without it a restart only replays more.
        // In a cluster others may have stopped already, so that nothing gets through.
        let last = if self.is_processing_paused() { pause::nothing() } else { Command::Tick };
        let patience = if self.router.is_some() { CLUSTER_DRAIN_TIMEOUT } else { DRAIN_TIMEOUT };
        let _ = tokio::time::timeout(patience, self.run_own(last)).await;
        self.shutdown.cancel();
        // Entries that wait for a leader wait no more.
        if let Some(router) = &self.router {
            router.links.close();
        }
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, task).await;
        }
        self.reads.stop();
        self.group.shutdown().await;
        if let Some(exports) = self.shared.exports.clone() {
            exporting::stop(exports).await;
        }
    }

    /// Whether the broker can serve.
    pub fn health(&self) -> Health {
        let partition = match self.log.failure() {
            Some(failure) => Err(format!("the log cannot be written: {failure}")),
            None => match &self.router {
                Some(router) => check_leader(&self.group, &router.links),
                None if self.group.is_leader() => Ok(()),
                None => Err("partition 1 has no leader".to_owned()),
            },
        };
        let partition = self.shared.digests.difference().map_or(partition, Err);
        let partition = self.slow_batch().map_or(partition, |slow| Err(slow.describe()));
        let flush = self.shared.flush_failure.lock().clone();
        Health {
            partition,
            disk: self.disk.check(Class::New).map_err(|error| error.to_string()),
            flush: flush.map_or(Ok(()), Err),
        }
    }

    /// Why the partition cannot go on in this life of the broker, if it cannot.
    pub(crate) fn failure(&self) -> Option<GroupFailure> {
        self.group.failure()
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

    /// Has the state of this replica differ from that of others. For tests.
    #[doc(hidden)]
    pub fn plant_difference(&self) {
        self.shared.digests.plant();
    }

    /// Has this replica take its state for another one than that of others. For tests.
    #[doc(hidden)]
    pub fn plant_wrong_digests(&self) {
        self.shared.digests.plant_wrong();
    }

    /// Whether it leads its partition.
    pub fn leads(&self) -> bool {
        self.shared.leading.leads()
    }

    /// Everybody who asks for jobs at this broker. `None`: another broker hands jobs out.
    pub fn workers(&self) -> Option<Vec<Worker>> {
        self.leads().then(|| self.shared.demand.workers())
    }

    /// The disk of the data directory, once it was looked at.
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.disk.space()
    }

    /// Whether it is one of several brokers.
    pub fn is_in_cluster(&self) -> bool {
        self.router.is_some()
    }

    /// Whether secondary storage is this broker's alone, also in a cluster.
    pub fn has_own_store(&self) -> bool {
        self.options.export.copies().is_some()
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

    /// Flow control of the partition.
    pub fn flow_control(&self) -> &Arc<FlowControl> {
        &self.flow_control
    }

    /// The write limit of the partition.
    pub fn write_limit(&self) -> &WriteLimit {
        &self.write_limit
    }

    /// How exporting is; `None` if there are no exporters.
    pub fn exporting(&self) -> Option<export::Status> {
        self.shared.exports.as_ref().map(|exports| exports.status())
    }

    /// The exporters at work; `None` if there are none.
    pub fn exports(&self) -> Option<&Arc<Hub>> {
        self.shared.exports.as_ref()
    }

    /// Position up to which the records were handed to exporters.
    pub(crate) fn handed_on(&self) -> u64 {
        self.shared.handed_on.load(Ordering::Acquire)
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
