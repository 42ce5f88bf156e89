//! The broker behind the gateways. The only place that knows which one it is.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use broker::{Lives, RestoreOrder, SettingDifference, StartError, Supervisor};
use broker_api::{Broker, SubmitError};
use export::Phase;
use futures::future::{BoxFuture, FutureExt, ready};
use gateway::management::{
    BackupStatus, BannedInstance, ChangeStatus, ClusterStatus, Component, ComponentState, DifferenceStatus,
    DiskStatus, ExporterStatus, HistoryBackupStatus, MemberStatus, OperationError, Operations, ParkedRecord,
    PartitionStatus, PlannedChange, PlannedOperation, Replayed, ReplicaState, ReplicaStatus, RestoreStatus,
    Slot, StateComparison, WorkerStatus,
};
use parking_lot::Mutex;
use protocol::{
    BannedInstanceView, Clock, Command, Key, PartitionId, Query, QueryReply, RejectionType, Response,
};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::backups::{self, HistoryBackups};
use super::history::History;
use super::restoring::Restores;
use super::storage::{Feed, sqlite_options};
use super::{access, exporters, flow_control, options, partitions, restoring};
use crate::config::Config;
use crate::failure::Failure;

/// The part that a broker takes in its cluster, if it is not alone.
pub(super) struct ClusterPart {
    /// Brokers by their numbers, unless the seeds are asked for them.
    brokers: Option<BTreeMap<u32, String>>,
    seeds: Vec<String>,
    /// The port for the other brokers, until the first life of this one has it.
    attachment: Mutex<Option<broker::Attachment>>,
    address: SocketAddr,
    proof: PeerProof,
}

/// The means by which brokers prove to each other that they are of the cluster.
struct PeerProof {
    certificates: Option<broker::Certificates>,
    secret: Option<broker::PeerSecret>,
}

impl PeerProof {
    fn set(&self, options: &mut broker::Options) {
        options.peers.certificates.clone_from(&self.certificates);
        options.peers.secret.clone_from(&self.secret);
    }
}

/// The part of this broker; its certificates are watched until `stop`.
pub(super) fn cluster_part(
    config: &Config,
    listener: Option<TcpListener>,
    stop: &CancellationToken,
) -> Result<Option<ClusterPart>, Failure> {
    let Some(listener) = listener else { return Ok(None) };
    let proof = PeerProof {
        certificates: access::peer_certificates(config, stop)?,
        secret: config.secret_of_peers().map_err(Failure::usage)?,
    };
    if !config.has_proof_of_peers() {
        tracing::warn!(
            listen = config.peers.listen.as_str(),
            "brokers believe whoever connects to this port: any program of this machine may act as one of them, read everything and \
             change it; set peers.secret_file or peers.tls for all brokers"
        );
    }
    let seeds = config.cluster.join.0.clone();
    let address = listener.local_addr().map_err(Failure::new)?;
    let attachment = Mutex::new(Some(listener.into()));
    Ok(Some(ClusterPart { brokers: config.brokers().cloned(), seeds, attachment, address, proof }))
}

impl ClusterPart {
    /// The numbers of all brokers. Asks the seeds for them if need be.
    pub(super) async fn numbers(&mut self, config: &Config, grpc_port: u16) -> Result<Vec<u32>, Failure> {
        if self.brokers.is_none() {
            let mut options = options::broker(config, grpc_port);
            self.proof.set(&mut options);
            let attachment = self.attachment.get_mut().as_ref().expect("no life has begun");
            let found = broker::find_brokers(&options, &self.seeds, Arc::clone(&attachment.network)).await;
            self.brokers = Some(found.map_err(cannot_start)?);
        }
        Ok(self.brokers.iter().flatten().map(|(broker, _)| *broker).collect())
    }

    async fn start(&self, mut options: broker::Options) -> Result<Arc<broker::Node>, StartError> {
        let attachment = self.attach().await?;
        self.proof.set(&mut options);
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
    history: History,
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
            let history = self.history.clone();
            let broker = Arc::clone(&node);
            self.slot.set(Arc::new(Node { broker, history_backups, restores, history }));
            Ok(node)
        }
        .boxed()
    }

    fn end(&self, reason: &str) {
        self.slot.clear(Component {
            name: partitions::name(self.options.partition.number),
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
    (slot, history): (&Slot, History),
    again: CancellationToken,
) -> Result<Arc<Supervisor>, Failure> {
    let mut options = options::broker(config, grpc_port);
    options.partition.export.others.extend(feed.exporter);
    options.partition.export.unwanted_elsewhere = feed.unwanted_elsewhere;
    options.store = feed.queries;
    let options = options.with_partitions(config.cluster.spread.partitions);
    let watches: Vec<_> = options.partitions().map(|partition| partition.apply_watch.clone()).collect();
    // The log is applied before the broker runs.
    slot.watch(move || watches.iter().find_map(broker::ApplyWatch::slow).map(|slow| partitions::dead(&slow)));
    let history_backups = Arc::new(HistoryBackups::new(config, sqlite_options(config)));
    let restores = Restores::new(config, options.partition.node_id, again);
    let slot = slot.clone();
    let lives = NodeLives { options, cluster_part, slot, history_backups, restores, history };
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

/// How the states of a partition compare.
fn comparison(compared: &broker::Comparison) -> StateComparison {
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
    StateComparison { equal, replicas }
}

/// A running broker, as the management port sees it.
struct Node {
    broker: Arc<broker::Node>,
    history_backups: Arc<HistoryBackups>,
    restores: Arc<Restores>,
    history: History,
}

impl Operations for Node {
    fn health(&self) -> Vec<Component> {
        let health = self.broker.health();
        let component = |name: &str, state: Result<(), String>| Component {
            name: name.to_owned(),
            state: if state.is_ok() { ComponentState::Healthy } else { ComponentState::Unhealthy },
            detail: state.err().unwrap_or_default(),
        };
        let mut components = partitions::components(&self.broker);
        components.extend([component("disk", health.disk), component("state", health.flush)]);
        components.extend(self.history.components(&self.broker));
        components
    }

    fn flow_control(&self) -> Value {
        flow_control::show(&self.broker)
    }

    fn set_flow_control(&self, change: Value) -> Result<Value, OperationError> {
        flow_control::change(&self.broker, &change)?;
        Ok(self.flow_control())
    }

    fn partitions(&self) -> BTreeMap<PartitionId, PartitionStatus> {
        partitions::statuses(&self.broker)
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

    fn begin_history(&self) -> BoxFuture<'_, Result<(), OperationError>> {
        let (history, broker) = (self.history.clone(), Arc::clone(&self.broker));
        async move {
            // It reads the whole state.
            let begun = tokio::task::spawn_blocking(move || history.begin(&broker)).await;
            let begun = begun.map_err(|error| OperationError::Failed(error.to_string()))?;
            begun.map_err(OperationError::Conflict)
        }
        .boxed()
    }

    fn cluster(&self) -> ClusterStatus {
        let (topology, reasons) = (self.broker.topology(), self.broker.reasons());
        let member = |id: u32| {
            let seen = topology.brokers.iter().find(|broker| broker.node_id == id);
            let of = |holds: bool, yes: &'static str, no: &'static str| if holds { yes } else { no };
            let status = |number: PartitionId| {
                let partitions = seen.into_iter().flat_map(|broker| &broker.partitions);
                let replica = partitions.into_iter().find(|replica| replica.partition_id == number);
                ReplicaStatus {
                    id: number,
                    state: "ACTIVE",
                    role: replica.map(|replica| of(replica.leader, "LEADER", "FOLLOWER")),
                    health: replica.map(|replica| of(replica.healthy, "HEALTHY", "UNHEALTHY")),
                }
            };
            let partitions = self.broker.partition_numbers().map(status).collect();
            let reason = reasons.get(&id).cloned();
            MemberStatus { id, state: "ACTIVE", reachable: seen.is_some(), reason, partitions }
        };
        let brokers = self.broker.members().into_iter().map(member).collect();
        let differences = self.broker.setting_differences().into_iter().flat_map(|(broker, of)| {
            of.into_iter().map(move |SettingDifference { setting, here, there }| DifferenceStatus {
                broker,
                setting,
                here,
                there,
            })
        });
        let change = self.broker.cluster_change();
        let (last_change, pending_change) = ChangeStatus::of(change);
        let version = change.and_then(|change| change.last_completed()).unwrap_or_default();
        ClusterStatus {
            cluster_id: topology.cluster_id.clone(),
            version,
            last_change,
            pending_change,
            brokers,
            voters: self.broker.voters().into_iter().collect(),
            differences: differences.collect(),
        }
    }

    fn purge(&self, dry_run: bool) -> BoxFuture<'_, Result<PlannedChange, OperationError>> {
        async move {
            if self.restores.status()?.is_some_and(|restore| restore.state == "IN_PROGRESS") {
                return Err(OperationError::Conflict("a restore has begun".to_owned()));
            }
            let brokers = self.cluster().brokers;
            let change = self.broker.cluster_change();
            if let Some(change) = change.filter(|change| change.completed_ms.is_none()) {
                return Err(OperationError::Conflict(format!("the change {} goes on", change.id)));
            }
            let change_id = if dry_run {
                change.map_or(0, |change| change.id) + 1
            } else {
                match self.broker.submit(Command::Purge { after: None }).await.map_err(failed)?.response {
                    Response::ChangeBegun { change_id } => change_id,
                    other => return Err(OperationError::Failed(format!("the engine answered {other:?}"))),
                }
            };
            let planned_changes = PlannedOperation::of_purge(&brokers, self.broker.partition_number());
            let (current_topology, expected_topology) = (brokers.clone(), brokers);
            Ok(PlannedChange { change_id, current_topology, planned_changes, expected_topology })
        }
        .boxed()
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

    fn hand_over(
        &self,
        to: Option<u32>,
    ) -> BoxFuture<'_, Result<BTreeMap<PartitionId, u32>, OperationError>> {
        async move {
            let done = match to {
                Some(_) => self.broker.hand_over(to).await,
                None => self.broker.rebalance().await,
            };
            done.map_err(failed)
        }
        .boxed()
    }

    fn compare_states(
        &self,
    ) -> BoxFuture<'_, Result<BTreeMap<PartitionId, StateComparison>, OperationError>> {
        async move {
            let compared = self.broker.compare_states().await.map_err(OperationError::Failed)?;
            Ok(compared.iter().map(|(partition, compared)| (*partition, comparison(compared))).collect())
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
            Ok(all
                .into_iter()
                .map(|backup| backups::status(self.broker.partition_number(), backup))
                .collect())
        }
        .boxed()
    }

    fn delete_backup(&self, id: u64) -> BoxFuture<'_, Result<(), OperationError>> {
        async move { self.broker.delete_backup(id).await.map_err(backups::failed) }.boxed()
    }

    fn held_backups(&self) -> BoxFuture<'_, Result<Vec<BackupStatus>, OperationError>> {
        async move {
            let held = self.broker.held_backups().await.map_err(backups::failed)?;
            Ok(held
                .into_iter()
                .map(|backup| backups::status(self.broker.partition_number(), backup))
                .collect())
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
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::InvalidState => {
            OperationError::Conflict(rejection.reason)
        }
        SubmitError::Unavailable(reason) => OperationError::Unavailable(reason),
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::NotFound => {
            OperationError::NotFound(rejection.reason)
        }
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::InvalidArgument => {
            OperationError::Invalid(rejection.reason)
        }
        SubmitError::Rejected(rejection) if rejection.kind == RejectionType::Forbidden => {
            OperationError::Forbidden(rejection.reason)
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
