//! A broker: opens what is durable, starts its partition, and answers gateways.

#![expect(missing_docs, reason = "names say what is held")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use broker_api::SubmitError;
use cluster::{Replica, SettingDifference};
use export::Hub;
use parking_lot::Mutex;
use partition::{
    Disk, DiskSpace, FlowControl, Health, Partition, PartitionStatus, SlowBatch, Worker, WriteLimit,
};
use protocol::{PartitionId, Record};
use replication::GroupFailure;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::backup_directory::BackupDirectory;
use crate::cluster_state::ClusterState;
use crate::expression::Evaluations;
use crate::lagging::Lagging;
use crate::opening::StartError;
use crate::options::Options;
use crate::readiness::Readiness;
use crate::routing::Turns;
use crate::successor::Successor;
use crate::together::{statuses_of_all, workers_of_all};

mod requests;
mod starting;

/// The name under which expressions find the variables of the cluster.
const CLUSTER_VARIABLES: &str = "camunda";
/// Interval at which metrics are published.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// Time-out of tasks at shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Node {
    options: Options,
    /// Partitions of this broker, the first one first.
    partitions: Vec<Arc<Partition>>,
    /// The partition that gets the next instance.
    turns: Turns,
    disk: Arc<Disk>,
    pub(crate) readiness: Arc<Readiness>,
    /// The other brokers, if there are any.
    pub(crate) cluster: Option<Arc<ClusterState>>,
    shutdown: CancellationToken,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) lagging: Lagging,
    evaluations: Evaluations,
    pub(crate) backups: Arc<BackupDirectory>,
}

impl Node {
    /// Opens the data directory, replays the log, and serves, alone.
    pub async fn start(options: Options) -> Result<Arc<Self>, StartError> {
        Box::pin(Self::start_in(options, None)).await
    }

    /// Opens the data directory, replays the log, and serves as one of the brokers of a cluster. The group elects a
    /// leader some time after this has returned.
    pub async fn start_replica(options: Options, replica: Replica) -> Result<Arc<Self>, StartError> {
        let data_dir = options.partition.data_dir.clone();
        let started = Box::pin(Self::start_in(options, Some(replica))).await;
        started.map_err(|error| error.give_up_damaged(&data_dir))
    }

    /// The partition of deployments and identity.
    pub(crate) fn first(&self) -> &Arc<Partition> {
        &self.partitions[0]
    }

    /// The partitions, in the order of their numbers.
    pub(crate) fn all(&self) -> &[Arc<Partition>] {
        &self.partitions
    }

    /// A partition by its number, which must exist.
    pub(crate) fn at(&self, number: PartitionId) -> &Arc<Partition> {
        let partition = &self.partitions[usize::from(number - self.first().number())];
        assert_eq!(partition.number(), number, "partitions stand by their numbers");
        partition
    }

    /// Number of the partition of deployments and identity.
    pub fn partition_number(&self) -> PartitionId {
        self.first().number()
    }

    /// Numbers of the partitions that this broker has replicas of.
    pub fn partition_numbers(&self) -> impl Iterator<Item = PartitionId> {
        self.partitions.iter().map(|partition| partition.number())
    }

    /// Answers requests that wait for the end of an instance, or for other work, since the broker is about to stop and
    /// neither is likely to come in time.
    pub fn leave(&self) {
        self.partitions.iter().for_each(|partition| partition.leave());
    }

    /// Whether this broker is about to stop, and leads no more.
    pub(crate) fn is_leaving(&self) -> bool {
        self.partitions.iter().any(|partition| partition.is_leaving())
    }

    /// Stops taking commands, finishes those that are there, writes state to disk, and stops.
    pub async fn shutdown(&self) {
        self.leave();
        if self.has_last_copy() {
            tracing::warn!("this broker has the last whole copy of the history: keep its disk");
        }
        for partition in &self.partitions {
            partition.close_demand();
            // Others may stop at the same time, so that nobody is left to take over.
            if let Some(cluster) = &self.cluster
                && partition.leads()
                && let Err(reason) = self.hand_over_here(cluster, partition, Successor::AnyInNeed).await
            {
                tracing::info!(partition = partition.number(), reason, "this broker stops as the leader");
            }
            partition.drain().await;
        }
        self.shutdown.cancel();
        // Entries that wait for a leader wait no more.
        if let Some(cluster) = &self.cluster {
            cluster.links.close();
        }
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, task).await;
        }
        for partition in &self.partitions {
            partition.shutdown().await;
        }
    }

    /// Whether the broker can serve.
    pub fn health(&self) -> Health {
        let mut all = self.partitions.iter().map(|partition| self.health_of(partition));
        let first = all.next().expect("there is one partition at least");
        all.fold(first, |whole, one| Health {
            partition: whole.partition.and(one.partition),
            disk: whole.disk,
            flush: whole.flush.and(one.flush),
        })
    }

    /// Whether the broker can serve, as far as it concerns a partition.
    pub(crate) fn health_of(&self, partition: &Partition) -> Health {
        let ready = || if self.cluster.is_some() { self.readiness.check() } else { Ok(()) };
        Health {
            // A state that is wrong is told first: it is why this broker does not follow its leader.
            partition: partition
                .check_state()
                .and_then(|()| partition.check_leader())
                .and_then(|()| ready())
                .and_then(|()| partition.check_commands()),
            disk: self.disk.no_room().map_or(Ok(()), Err),
            flush: partition.check_flush(),
        }
    }

    /// Whether the broker can serve, for each partition.
    pub fn partition_health(&self) -> BTreeMap<PartitionId, Health> {
        self.partitions.iter().map(|partition| (partition.number(), self.health_of(partition))).collect()
    }

    /// Resolves when the broker could serve for the first time in this life.
    pub async fn served(&self) {
        self.readiness.served().await;
    }

    /// Reasons why brokers cannot serve now, by broker number.
    pub fn reasons(&self) -> BTreeMap<u32, String> {
        let others = self.cluster.as_ref().map(|cluster| cluster.reasons()).unwrap_or_default();
        let own = self.health().reason().map(|reason| (self.number(), reason));
        others.into_iter().chain(own).collect()
    }

    /// Whether its disks have room for new work.
    pub(crate) fn has_room(&self) -> bool {
        self.disk.has_room()
    }

    /// Reason why the disks have no room for new work, if so.
    pub(crate) fn no_room(&self) -> Option<String> {
        self.disk.no_room()
    }

    /// Reason why the partition cannot go on in this life of the broker, if any.
    pub(crate) fn failure(&self) -> Option<GroupFailure> {
        let lacks = self.cluster.as_ref().and_then(|cluster| cluster.links.lacks());
        let lacks = lacks.map(|reason| GroupFailure {
            reason: format!("this replica went back in time: {reason}"),
            is_damage: true,
        });
        self.partitions.iter().find_map(|partition| partition.failure()).or(lacks)
    }

    /// The batch that has been applied for too long, if any.
    pub fn slow_batch(&self) -> Option<SlowBatch> {
        self.partitions.iter().find_map(|partition| partition.slow_batch())
    }

    /// Progress of the first partition.
    pub fn partition(&self) -> PartitionStatus {
        self.first().status()
    }

    /// The partitions by their numbers.
    pub fn partitions(&self) -> BTreeMap<PartitionId, Arc<Partition>> {
        self.partitions.iter().map(|partition| (partition.number(), Arc::clone(partition))).collect()
    }

    /// Time of the engine's clock, Unix milliseconds.
    pub fn clock_ms(&self) -> i64 {
        self.first().clock_ms()
    }

    /// Position of the last record of the state, and a hash of all its rows. For tests.
    #[doc(hidden)]
    pub fn state_hash(&self) -> Result<(u64, u64), state::StateError> {
        self.first().state_hash()
    }

    /// Has the state of this replica differ from that of others. For tests.
    #[doc(hidden)]
    pub fn plant_difference(&self) {
        self.first().digests().plant();
    }

    /// Has this replica take its state for another one than that of others. For tests.
    #[doc(hidden)]
    pub fn plant_wrong_digests(&self) {
        self.first().digests().plant_wrong();
    }

    /// Whether this broker leads the partition of deployments and identity.
    pub fn leads(&self) -> bool {
        self.first().leads()
    }

    /// The partitions that this broker leads.
    pub(crate) fn led(&self) -> Vec<Arc<Partition>> {
        self.partitions.iter().filter(|partition| partition.leads()).cloned().collect()
    }

    /// Workers that ask for jobs of the partitions that this broker leads. `None`: others hand out all jobs.
    pub fn workers(&self) -> Option<Vec<Worker>> {
        let led = self.led();
        (!led.is_empty()).then(|| workers_of_all(led.iter().map(|partition| partition.workers()).collect()))
    }

    /// Number of this broker.
    pub(crate) fn number(&self) -> u32 {
        self.options.partition.node_id
    }

    /// The disk of the data directory, once it was looked at.
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.disk.space()
    }

    /// Whether it is one of several brokers.
    pub fn is_in_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// Settings of other brokers that differ from those of this one, by the numbers of brokers.
    pub fn setting_differences(&self) -> BTreeMap<u32, Vec<SettingDifference>> {
        self.cluster.as_ref().map(|cluster| cluster.links.setting_differences()).unwrap_or_default()
    }

    /// Whether secondary storage belongs to this broker alone, also in a cluster.
    pub fn has_own_store(&self) -> bool {
        self.options.partition.export.copies().is_some()
    }

    /// The state, as records that make what there is, and its position. The partition waits meanwhile.
    pub fn describe(&self) -> Result<(u64, Vec<Record>), String> {
        if self.partitions.len() > 1 {
            return Err(
                "the states of several partitions (cluster.partitions) cannot be put together yet".to_owned()
            );
        }
        self.first().describe()
    }

    /// Whether this broker has a whole copy of the embedded store, and those that others have lack records.
    pub fn has_last_copy(&self) -> bool {
        self.options.store.as_ref().is_some_and(|store| store.is_last())
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Flow control of the partition.
    pub fn flow_control(&self) -> &Arc<FlowControl> {
        self.first().flow_control()
    }

    /// The write limit of the partition.
    pub fn write_limit(&self) -> &WriteLimit {
        self.first().write_limit()
    }

    /// Phase and status of exporting. `None` if there are no exporters.
    pub fn exporting(&self) -> Option<export::Status> {
        statuses_of_all(self.hubs().map(|(_, exports)| exports.status()).collect())
    }

    /// The exporters of each partition.
    pub fn hubs(&self) -> impl Iterator<Item = (PartitionId, &Arc<Hub>)> {
        self.partitions.iter().filter_map(|partition| Some((partition.number(), partition.exports()?)))
    }

    /// The exporters of the first partition at work; `None` if there are none.
    pub fn exports(&self) -> Option<&Arc<Hub>> {
        self.first().exports()
    }

    /// Whether processing is paused.
    pub fn is_processing_paused(&self) -> bool {
        self.partitions.iter().all(|partition| partition.is_processing_paused())
    }

    /// Writes state to disk as of now or later. Only the caller waits for that.
    pub async fn write_state(&self) -> Result<(), SubmitError> {
        for partition in &self.partitions {
            partition.write_state().await?;
        }
        Ok(())
    }

    /// Exporters that have exported once, but are not configured any more.
    pub fn former_exporters(&self) -> Vec<String> {
        let all: BTreeSet<String> =
            self.partitions.iter().flat_map(|partition| partition.former_exporters()).collect();
        all.into_iter().collect()
    }

    /// Forgets an exporter that is not configured any more, with its parked records. One with its ID begins as a
    /// new one.
    pub async fn forget_exporter(&self, id: &str) -> Result<(), SubmitError> {
        for partition in &self.partitions {
            partition.forget_exporter(id).await?;
        }
        Ok(())
    }
}

impl Drop for Node {
    /// Without a shutdown, dropping is like a crash: the log has everything that was acknowledged.
    fn drop(&mut self) {
        self.shutdown.cancel();
        if let Some(cluster) = &self.cluster {
            cluster.links.close();
        }
    }
}
