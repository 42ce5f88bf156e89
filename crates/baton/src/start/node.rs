//! The broker behind the gateways. The only place that knows which one it is.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use broker::{Lives, RestoreOrder, SlowBatch, StartError, Supervisor};
use broker_api::{Broker, SubmitError};
use export::Phase;
use futures::future::{BoxFuture, FutureExt, ready};
use gateway::management::{
    BackupStatus, BannedInstance, ClusterStatus, Component, ComponentState, DiskStatus, ExporterStatus,
    HistoryBackupStatus, MemberStatus, OperationError, Operations, ParkedRecord, PartitionStatus, Replayed,
    ReplicaState, ReplicaStatus, RestoreStatus, Slot, StateComparison, WorkerStatus,
};
use parking_lot::Mutex;
use protocol::{
    BannedInstanceView, Clock, Command, FIRST_PARTITION, Key, PartitionId, Query, QueryReply, RejectionType,
};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::backups::{self, HistoryBackups};
use super::restoring::Restores;
use super::storage::{Feed, sqlite_options};
use super::{access, exporters, flow_control, options, restoring};
use crate::config::Config;
use crate::failure::Failure;

/// The name of the partition among the parts of the broker.
const PARTITION: &str = "partition-1";

/// The phase of processing; of a broker that does not answer it is not known.
fn phase_of(paused: Option<bool>) -> &'static str {
    match paused {
        Some(true) => "PAUSED",
        Some(false) => "PROCESSING",
        None => "UNKNOWN",
    }
}

/// The partition stands still.
fn dead(slow: &SlowBatch) -> Component {
    Component { name: PARTITION.to_owned(), state: ComponentState::Dead, detail: slow.describe() }
}

/// The part that a broker takes in its cluster, if it is not alone.
pub(super) struct ClusterPart {
    /// Brokers by their numbers, unless the seeds are asked for them.
    brokers: Option<BTreeMap<u32, String>>,
    seeds: Vec<String>,
    /// The port for the other brokers, until the first life of this one has it.
    attachment: Mutex<Option<broker::Attachment>>,
    address: SocketAddr,
    certificates: Option<broker::Certificates>,
}

/// The part of this broker; its certificates are watched until `stop`.
pub(super) fn cluster_part(
    config: &Config,
    listener: Option<TcpListener>,
    stop: &CancellationToken,
) -> Result<Option<ClusterPart>, Failure> {
    let Some(listener) = listener else { return Ok(None) };
    let certificates = access::peer_certificates(config, stop)?;
    let seeds = config.cluster.join.0.clone();
    let address = listener.local_addr().map_err(Failure::new)?;
    let attachment = Mutex::new(Some(listener.into()));
    Ok(Some(ClusterPart { brokers: config.brokers().cloned(), seeds, attachment, address, certificates }))
}

impl ClusterPart {
    /// The numbers of all brokers. Asks the seeds for them if need be.
    pub(super) async fn numbers(&mut self, config: &Config, grpc_port: u16) -> Result<Vec<u32>, Failure> {
        if self.brokers.is_none() {
            let mut options = options::broker(config, grpc_port);
            options.peers.certificates.clone_from(&self.certificates);
            let attachment = self.attachment.get_mut().as_ref().expect("no life has begun");
            let found = broker::find_brokers(&options, &self.seeds, Arc::clone(&attachment.network)).await;
            self.brokers = Some(found.map_err(cannot_start)?);
        }
        Ok(self.brokers.iter().flatten().map(|(broker, _)| *broker).collect())
    }

    async fn start(&self, mut options: broker::Options) -> Result<Arc<broker::Node>, StartError> {
        let attachment = self.attach().await?;
        options.peers.certificates.clone_from(&self.certificates);
        let brokers = self.brokers.clone().expect("the numbers of brokers were asked for");
        broker::Node::start_replica(options, broker::Replica { brokers, attachment }).await
    }

    async fn attach(&self) -> std::io::Result<broker::Attachment> {
        let first = self.attachment.lock().take();
        match first {
            Some(attachment) => Ok(attachment),
            None => TcpListener::bind(self.address).await.map(Into::into),
        }
    }
}

/// The lives of the broker, which the management port is told of.
struct NodeLives {
    options: broker::Options,
    cluster_part: Option<ClusterPart>,
    slot: Slot,
    history_backups: Arc<HistoryBackups>,
    restores: Arc<Restores>,
}

impl Lives for NodeLives {
    fn begin(&self) -> BoxFuture<'_, Result<Arc<broker::Node>, StartError>> {
        async move {
            let options = self.options.clone();
            let node = match &self.cluster_part {
                Some(part) => Box::pin(part.start(options)).await,
                None => Box::pin(broker::Node::start(options)).await,
            }?;
            let history_backups = Arc::clone(&self.history_backups);
            let restores = Arc::clone(&self.restores);
            self.slot.set(Arc::new(Node { broker: Arc::clone(&node), history_backups, restores }));
            Ok(node)
        }
        .boxed()
    }

    fn end(&self, reason: &str) {
        self.slot.clear(Component {
            name: PARTITION.to_owned(),
            state: ComponentState::Unhealthy,
            detail: format!("it is started again: {reason}"),
        });
    }
}

/// Starts the broker, and keeps it at work; `grpc_port` is what clients find in the topology.
pub(super) async fn start(
    config: &Config,
    grpc_port: u16,
    feed: Feed,
    cluster_part: Option<ClusterPart>,
    slot: &Slot,
    again: CancellationToken,
) -> Result<Arc<Supervisor>, Failure> {
    let mut options = options::broker(config, grpc_port);
    let watch = options.apply_watch.clone();
    // The log is applied before the broker runs.
    slot.watch(move || watch.slow().map(|slow| dead(&slow)));
    options.export.others.extend(feed.exporter);
    options.export.unwanted_elsewhere = feed.unwanted_elsewhere;
    options.store = feed.queries;
    let history_backups = Arc::new(HistoryBackups::new(config, sqlite_options(config)));
    let restores = Restores::new(config, options.node_id, again);
    let lives = NodeLives { options, cluster_part, slot: slot.clone(), history_backups, restores };
    Box::pin(Supervisor::start(lives)).await.map_err(cannot_start)
}

fn cannot_start(error: StartError) -> Failure {
    if error.is_in_use() {
        return Failure::new(format!("the data directory is in use, another server has it open: {error}"))
            .hint("stop that server first, or choose another directory with --data-dir");
    }
    let failure = Failure::new(format!("cannot start the broker: {error}"));
    match error {
        StartError::DataDir { .. } => failure.hint("choose a directory that can be written with --data-dir"),
        _ => failure,
    }
}

/// Tells whether this broker removes old history now: it has a store of its own, or leads.
pub(super) fn sweeps(broker: &Arc<Supervisor>) -> impl Fn() -> bool + use<> {
    let broker = Arc::downgrade(broker);
    move || {
        let node = broker.upgrade().and_then(|broker| broker.node().ok());
        node.is_some_and(|node| node.has_own_store() || node.leads())
    }
}

/// A running broker, as the management port sees it.
struct Node {
    broker: Arc<broker::Node>,
    history_backups: Arc<HistoryBackups>,
    restores: Arc<Restores>,
}

impl Operations for Node {
    fn health(&self) -> Vec<Component> {
        let health = self.broker.health();
        let component = |name: &str, state: Result<(), String>| Component {
            name: name.to_owned(),
            state: if state.is_ok() { ComponentState::Healthy } else { ComponentState::Unhealthy },
            detail: state.err().unwrap_or_default(),
        };
        vec![
            self.broker
                .slow_batch()
                .map_or_else(|| component(PARTITION, health.partition), |slow| dead(&slow)),
            component("disk", health.disk),
            component("state", health.flush),
        ]
    }

    fn flow_control(&self) -> Value {
        flow_control::show(&self.broker)
    }

    fn set_flow_control(&self, change: Value) -> Result<Value, OperationError> {
        flow_control::change(&self.broker, &change)?;
        Ok(self.flow_control())
    }

    fn partitions(&self) -> BTreeMap<PartitionId, PartitionStatus> {
        let partition = self.broker.partition();
        let exporting = self.broker.exporting();
        let status = PartitionStatus {
            role: if partition.leader { "LEADER" } else { "FOLLOWER" },
            processed_position: partition.position,
            snapshot_id: Some(partition.durable_index.to_string()),
            stream_processor_phase: phase_of(Some(self.broker.is_processing_paused())),
            stream_processor_phases: self.broker.paused_brokers().map(|brokers| {
                brokers.into_iter().map(|(broker, paused)| (broker, phase_of(paused))).collect()
            }),
            exporter_phase: self.broker.exporting_phase().map_or("CLOSED", Phase::as_str),
            exported_position: exporting
                .map_or(0, |status| status.acknowledged_position)
                .min(partition.position),
            health: match self.broker.health().partition {
                Ok(()) => "HEALTHY",
                Err(_) if self.broker.slow_batch().is_some() => "DEAD",
                Err(_) => "UNHEALTHY",
            },
            clock_ms: self.broker.clock_ms(),
        };
        BTreeMap::from([(FIRST_PARTITION, status)])
    }

    fn exporters(&self) -> Vec<ExporterStatus> {
        exporters::list(&self.broker)
    }

    fn switch_exporter(
        &self,
        id: String,
        enabled: bool,
        initialize_from: Option<String>,
    ) -> BoxFuture<'_, Result<(), OperationError>> {
        exporters::switch(&self.broker, id, enabled, initialize_from).boxed()
    }

    fn remove_exporter(&self, id: String) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.forget_exporter(&id).await.map_err(failed) }.boxed()
    }

    fn parked_records(
        &self,
        exporter_id: String,
    ) -> BoxFuture<'_, Result<Vec<ParkedRecord>, OperationError>> {
        exporters::parked(&self.broker, exporter_id).boxed()
    }

    fn replay_parked(&self, exporter_id: String) -> BoxFuture<'_, Result<Replayed, OperationError>> {
        exporters::replay(&self.broker, exporter_id).boxed()
    }

    fn pause_exporting(&self, soft: bool) -> BoxFuture<'_, Result<(), OperationError>> {
        self.set_exporting(if soft { Phase::SoftPaused } else { Phase::Paused }).boxed()
    }

    fn pause_processing(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.pause_processing().await.map_err(failed) }.boxed()
    }

    fn resume_processing(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.resume_processing().await.map_err(failed) }.boxed()
    }

    fn write_state(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.write_state().await.map_err(failed) }.boxed()
    }

    fn cluster(&self) -> ClusterStatus {
        let topology = self.broker.topology();
        let member = |id: u32| {
            let seen = topology.brokers.iter().find(|broker| broker.node_id == id);
            let replica = seen.and_then(|broker| broker.partitions.first());
            let of = |holds: bool, yes: &'static str, no: &'static str| if holds { yes } else { no };
            let partitions = vec![ReplicaStatus {
                id: FIRST_PARTITION,
                state: "ACTIVE",
                role: replica.map(|replica| of(replica.leader, "LEADER", "FOLLOWER")),
                health: replica.map(|replica| of(replica.healthy, "HEALTHY", "UNHEALTHY")),
            }];
            MemberStatus { id, state: "ACTIVE", reachable: seen.is_some(), partitions }
        };
        let brokers = self.broker.members().into_iter().map(member).collect();
        ClusterStatus { cluster_id: topology.cluster_id.clone(), brokers }
    }

    fn workers(&self) -> Option<Vec<WorkerStatus>> {
        let workers = self.broker.workers()?;
        let status = |worker: broker::Worker| WorkerStatus {
            job_type: worker.job_type.to_string(),
            worker: worker.name.to_string(),
            is_stream: worker.is_stream,
            tenant_ids: worker.tenant_ids.iter().map(ToString::to_string).collect(),
            holds: worker.holds,
            free_places: worker.free_places,
        };
        Some(workers.into_iter().map(status).collect())
    }

    fn disk(&self) -> Option<DiskStatus> {
        let broker::DiskSpace { free_bytes, total_bytes, reserved_bytes } = self.broker.disk_space()?;
        Some(DiskStatus { free_bytes, total_bytes, reserved_bytes })
    }

    fn hand_over(&self, to: Option<u32>) -> BoxFuture<'_, Result<u32, OperationError>> {
        async move { self.broker.hand_over(to).await.map_err(failed) }.boxed()
    }

    fn compare_states(&self) -> BoxFuture<'_, Result<StateComparison, OperationError>> {
        async move {
            let compared = self.broker.compare_states().await.map_err(OperationError::Failed)?;
            let replica = |(broker, found): (&u32, &Result<broker::StateHash, String>)| {
                let state = ReplicaState {
                    index: found.as_ref().ok().map(|found| found.index),
                    hash: found.as_ref().ok().map(|found| format!("{:016x}", found.hash)),
                    failure: found.as_ref().err().cloned(),
                    differs: compared.differing.contains(broker),
                };
                (*broker, state)
            };
            let replicas: BTreeMap<u32, ReplicaState> = compared.hashes.iter().map(replica).collect();
            let first = replicas.values().next().and_then(|state| state.hash.clone());
            let equal = first.is_some() && replicas.values().all(|state| state.hash == first);
            Ok(StateComparison { equal, replicas })
        }
        .boxed()
    }

    fn banned_instances(
        &self,
        after: Key,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<BannedInstance>, OperationError>> {
        async move {
            match self.broker.read(Query::BannedInstances { after, limit }).await.map_err(failed)? {
                QueryReply::BannedInstances(found) => Ok(found.into_iter().map(banned).collect()),
                other => Err(OperationError::Failed(format!("an answer of another kind: {other:?}"))),
            }
        }
        .boxed()
    }

    fn release_instance(&self, process_instance_key: Key) -> BoxFuture<'_, Result<(), OperationError>> {
        self.run(Command::Unban { process_instance_key }).boxed()
    }

    fn cancel_instance(&self, process_instance_key: Key) -> BoxFuture<'_, Result<(), OperationError>> {
        async move {
            let query = Query::CallHierarchy { process_instance_key };
            let root_key = match self.broker.read(query).await.map_err(failed)? {
                QueryReply::CallHierarchy(hierarchy) => {
                    hierarchy.first().map(|root| root.process_instance_key)
                }
                _ => None,
            };
            let process_instance_key = root_key.unwrap_or(process_instance_key);
            self.run(Command::CancelInstance { process_instance_key, operation_reference: None }).await
        }
        .boxed()
    }

    fn clock_ms(&self) -> i64 {
        self.broker.clock_ms()
    }

    fn set_clock(&self, clock: Clock) -> BoxFuture<'_, Result<(), OperationError>> {
        self.run(Command::Clock(clock)).boxed()
    }

    fn resume_exporting(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        self.set_exporting(Phase::Exporting).boxed()
    }

    fn take_backup(&self, id: Option<u64>) -> BoxFuture<'_, Result<u64, OperationError>> {
        async move { self.broker.take_backup(id).await.map_err(backups::failed) }.boxed()
    }

    fn backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>> {
        async move {
            let all = self.broker.backups().await.map_err(backups::failed)?;
            Ok(all.into_iter().map(backups::status).collect())
        }
        .boxed()
    }

    fn delete_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.delete_backup(id).await.map_err(backups::failed) }.boxed()
    }

    fn held_backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>> {
        async move {
            let held = self.broker.held_backups().await.map_err(backups::failed)?;
            Ok(held.into_iter().map(backups::status).collect())
        }
        .boxed()
    }

    fn forget_backups(&self, forget: bool) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.forget_backups(forget).await.map_err(backups::failed) }.boxed()
    }

    fn take_history_backup(&self, id: u64) -> BoxFuture<'_, Result<Vec<String>, OperationError>> {
        Arc::clone(&self.history_backups).take(id, Arc::clone(&self.broker)).boxed()
    }

    fn history_backups(&self) -> BoxFuture<'_, Result<Vec<HistoryBackupStatus>, OperationError>> {
        Arc::clone(&self.history_backups).list().boxed()
    }

    fn delete_history_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        Arc::clone(&self.history_backups).delete(id).boxed()
    }

    fn restore(
        &self,
        change_id: String,
        backup_id: u64,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<u32, OperationError>> {
        let order = RestoreOrder::new(change_id, backup_id, restoring::now_ms());
        let (members, is_paused) = (self.broker.members().len(), self.broker.is_processing_paused());
        ready(self.restores.order(&order, members, is_paused, dry_run)).boxed()
    }

    fn restore_status(&self) -> Result<Option<RestoreStatus>, OperationError> {
        self.restores.status()
    }
}

impl Node {
    async fn run(&self, command: Command) -> Result<(), OperationError> {
        self.broker.submit(command).await.map(drop).map_err(failed)
    }

    async fn set_exporting(&self, phase: Phase) -> Result<(), OperationError> {
        self.broker.set_exporting(phase).await.map_err(|error| OperationError::Failed(error.to_string()))
    }
}

fn failed(error: SubmitError) -> OperationError {
    match error {
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::NotFound => {
            OperationError::NotFound(rejection.reason)
        }
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::InvalidArgument => {
            OperationError::Invalid(rejection.reason)
        }
        other => OperationError::Failed(other.to_string()),
    }
}

fn banned(view: BannedInstanceView) -> BannedInstance {
    BannedInstance {
        process_instance_key: view.key.to_string(),
        root_process_instance_key: view.root_process_instance_key.to_string(),
        process_definition_id: view.process_id.to_string(),
        process_definition_key: view.process_definition_key.to_string(),
        process_definition_version: view.version,
        tenant_id: view.tenant_id.to_string(),
        reason: view.reason.to_string(),
        banned_at_ms: view.since_ms,
    }
}
