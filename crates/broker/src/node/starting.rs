//! The start of a broker: from what is durable to tasks at work.

use std::sync::{Arc, Weak};

use cluster::{Identity, Links, Replica, ReplicaNumber, Vote, check_alone, give_up_or_say};
use data_directory::{Restored, log_directory};
use engine::Engine;
use export::{Assigned, Configured, Hub, TargetOwner};
use parking_lot::Mutex;
use partition::{
    ClusterTime, Disk, LocalPositions, Others, Partition, PartitionOptions, RecordTarget, ReplayedPartition,
    Surroundings,
};
use protocol::PartitionId;
use replication::{Group, GroupOptions, LogStore};
use tokio_util::sync::CancellationToken;

use super::{Node, PUBLISH_INTERVAL};
use crate::asked::attend;
use crate::backup_directory::BackupDirectory;
use crate::cluster_state::ClusterState;
use crate::cluster_status::keep_statuses;
use crate::expression::Evaluations;
use crate::lagging::Lagging;
use crate::opening::{StartError, open};
use crate::options::Options;
use crate::others::LinkedBrokers;
use crate::readiness::Readiness;
use crate::routing::Turns;
use crate::shared_parking::ParkedInState;
use crate::{
    catching_up, channels, comparison, members, presenting, shared_exports, store_copies, store_queries,
};

impl Node {
    pub(super) async fn start_in(
        options: Options,
        mut replica: Option<Replica>,
    ) -> Result<Arc<Self>, StartError> {
        let data_dir = options.partition.data_dir.clone();
        if let Some(replica) = &mut replica {
            cluster::readmit(&options.in_cluster(), replica).await?;
        }
        let (identity, engines) = open(&options).await?;
        let (links, replica) = enter(&options, &identity, replica).await?;
        let restored = Restored::read(&data_dir)?.map(|restored| restored.index);
        let (disk, log) =
            (disk(&options), LogStore::open(&log_directory(&data_dir), options.partition.log.clone())?);
        let start = Start {
            options: &options,
            identity: &identity,
            replica,
            links: links.as_ref(),
            disk: &disk,
            restored,
        };
        let shutdown = CancellationToken::new();
        let replayed = Box::pin(start.replay(engines, &log, &shutdown)).await?;
        Restored::remove(&data_dir)?;
        let numbers = || replayed.iter().map(ReplayedPartition::number);
        let cluster =
            links.map(|links| ClusterState::open(links, replica, &data_dir, numbers())).transpose()?;
        let mut partitions = Vec::with_capacity(replayed.len());
        for replayed in replayed {
            let others = cluster.as_ref().map(|cluster| join(cluster, &replayed));
            partitions.push(Partition::begin(replayed, others).await);
        }
        let node = Arc::new(Self {
            backups: Arc::new(BackupDirectory::new(options.backups.clone())),
            evaluations: Evaluations::new(options.max_evaluations_at_once, options.partition.work),
            options,
            turns: Turns::default(),
            partitions,
            disk,
            readiness: Arc::new(Readiness::new(cluster.is_some())),
            cluster,
            shutdown,
            tasks: Mutex::default(),
            lagging: Lagging::default(),
        });
        node.measure_disk();
        node.begin_tasks();
        if node.cluster.is_none() {
            for partition in &node.partitions {
                partition.begin_alone().await?;
            }
        }
        Ok(node)
    }

    /// Measures the disks, and logs once when there is no room any more.
    fn measure_disk(&self) {
        match self.disk.measure() {
            Some(false) => {
                let reason = self.disk.no_room().unwrap_or_default();
                let consequence = match self.cluster {
                    Some(_) => "it hands over while another broker has room, and stands for no election",
                    None => "commands that begin work are refused",
                };
                tracing::warn!(reason, "there is no room on a disk: {consequence}");
            }
            Some(true) => tracing::info!("there is room on the disks again"),
            None => {}
        }
    }

    /// Starts the tasks that run beside requests.
    fn begin_tasks(self: &Arc<Self>) {
        let stop = || self.shutdown.clone();
        let mut tasks = self.tasks.lock();
        tasks.push(tokio::spawn(supervise(Arc::downgrade(self))));
        tasks.extend(channels::begin(self, &self.shutdown));
        let Some(cluster) = &self.cluster else { return };
        for partition in &self.partitions {
            if let Some(exports) = partition.exports() {
                exports.park_with(ParkedInState::new(partition, cluster.links.closing()));
            }
        }
        if let Some(queries) = &self.options.store {
            queries.attend(cluster, &self.readiness);
            tasks.push(tokio::spawn(store_queries::watch(Arc::clone(queries), stop())));
        }
        attend(self);
        tasks.push(tokio::spawn(keep_statuses(Arc::downgrade(self), stop())));
        tasks.push(tokio::spawn(catching_up::catch_up(Arc::downgrade(self), stop())));
        let groups = self.all().iter().map(|partition| (partition.number(), partition.group().clone()));
        tasks.push(tokio::spawn(presenting::present(Arc::clone(cluster), groups.collect(), stop())));
    }
}

/// Has others reach the group of a replica from now on, and gives the way to them.
fn join(cluster: &Arc<ClusterState>, replayed: &ReplayedPartition) -> Arc<dyn Others> {
    comparison::judge_with(replayed.digests(), &cluster.links);
    let group = u64::from(replayed.number());
    cluster.links.groups.insert(group, cluster.replica.number(), replayed.group().clone());
    Arc::new(LinkedBrokers { links: Arc::clone(&cluster.links), partition: replayed.number() })
}

/// The parts of a start that all partitions have in common.
struct Start<'a> {
    options: &'a Options,
    identity: &'a Identity,
    replica: ReplicaNumber,
    links: Option<&'a Arc<Links>>,
    disk: &'a Arc<Disk>,
    /// The index of the state that a backup was restored to.
    restored: Option<u64>,
}

impl Start<'_> {
    /// Applies what of the log the states lack, of all partitions at once.
    async fn replay(
        &self,
        engines: Vec<Engine>,
        log: &LogStore,
        shutdown: &CancellationToken,
    ) -> Result<Vec<ReplayedPartition>, StartError> {
        let mut replaying = Vec::with_capacity(engines.len());
        for (options, engine) in self.options.partitions().zip(engines) {
            let surroundings = self.surroundings(options, &engine)?;
            replaying.push(Partition::replay(
                options.clone(),
                engine,
                log.clone(),
                surroundings,
                shutdown.clone(),
            ));
        }
        let (mut replayed, mut failure) = (Vec::with_capacity(replaying.len()), None);
        for outcome in futures::future::join_all(replaying).await {
            match outcome {
                Ok(partition) => {
                    if let Err(error) =
                        check_voters(partition.group(), self.replica, self.links.map(|links| &**links)).await
                    {
                        failure.get_or_insert(error);
                    }
                    replayed.push(partition);
                }
                Err(error) => drop(failure.get_or_insert(error.into())),
            }
        }
        let Some(failure) = failure else { return Ok(replayed) };
        // The next life waits for the files.
        for partition in replayed {
            partition.group().shutdown().await;
        }
        Err(failure)
    }

    /// The surroundings of a partition in this broker.
    fn surroundings(
        &self,
        partition: &PartitionOptions,
        engine: &Engine,
    ) -> Result<Surroundings, StartError> {
        let Self { options, links, .. } = *self;
        let local = links.map(|_| local_positions(options, partition.number)).transpose()?.map(Arc::new);
        let exports = exports(partition, engine, local.as_deref(), links)?;
        let data_dir = partition.data_dir.clone();
        Ok(Surroundings {
            random: self.identity.random(),
            replica: self.replica.number(),
            group: group_options(partition, self.replica, links.map(|links| &**links), self.restored),
            records: RecordTarget {
                exports,
                local_positions: local,
                is_recorded: partition.export.is_enabled() || options.store.is_some(),
            },
            cluster_time: links.map(|links| {
                let clock = Arc::clone(&links.clock);
                ClusterTime { latest_ms: Arc::new(move || clock.latest_ms()), limit_ms: cluster::LIMIT_MS }
            }),
            give_up: Box::new(move || give_up_or_say(&data_dir)),
            disk: Arc::clone(self.disk),
        })
    }
}

/// The voters of the log must be those that the broker is configured with.
async fn check_voters(
    group: &Group,
    replica: ReplicaNumber,
    links: Option<&Links>,
) -> Result<(), StartError> {
    let Some(links) = links else { return Ok(check_alone(group, replica)?) };
    Ok(members::check_members(&group.logged_members().await, links.brokers())?)
}

/// The disks that must have room.
fn disk(options: &Options) -> Arc<Disk> {
    let directories = [options.partition.data_dir.clone(), log_directory(&options.partition.data_dir)];
    let directories = directories.into_iter().chain(options.disk.further.clone()).collect();
    Arc::new(Disk::new(options.partition.node_id, directories, options.disk.clone()))
}

/// Opens the connections to the other brokers of a cluster, and obtains the number of this replica.
async fn enter(
    options: &Options,
    identity: &Identity,
    replica: Option<Replica>,
) -> Result<(Option<Arc<Links>>, ReplicaNumber), StartError> {
    let Some(replica) = replica else { return Ok((None, ReplicaNumber::first(options.partition.node_id))) };
    let vote = Vote::open(
        &options.partition.data_dir,
        options.partition.node_id,
        log_directory(&options.partition.data_dir).exists(),
    )?;
    let links = Arc::new(Links::open(replica, identity, &vote, &options.partition.data_dir, &options.peers)?);
    if let Some(copies) = options.partition.export.copies() {
        store_copies::fetch_with(copies, &links);
    }
    vote.obtain(&links, &log_directory(&options.partition.data_dir)).await?;
    Ok((Some(links), vote.replica()))
}

/// The positions in a partition of exporters whose targets this broker of a cluster has copies of.
fn local_positions(options: &Options, partition: PartitionId) -> std::io::Result<LocalPositions> {
    let directory = options.partition.data_dir.join("export");
    std::fs::create_dir_all(&directory)?;
    let local = LocalPositions::open(&directory, partition)?;
    if options.store.is_some() && options.partition.export.copies().is_none() {
        local.begin_gap()?;
    }
    Ok(local)
}

/// Starts the exporters that are configured. In a cluster, each broker has its own positions of those with a target of
/// its own.
fn exports(
    options: &PartitionOptions,
    engine: &Engine,
    local: Option<&LocalPositions>,
    links: Option<&Arc<Links>>,
) -> Result<Option<Arc<Hub>>, StartError> {
    let mut exporters = Vec::new();
    for Configured { exporter, target } in options.export.exporters(&options.data_dir, options.number) {
        if let Some(local) = local.filter(|_| target == TargetOwner::Copied) {
            local.note_gap(exporter.id(), engine.position())?;
        }
        let is_shared = target == TargetOwner::Shared;
        let acknowledged = match local {
            Some(local) if !is_shared => local.get(exporter.id()),
            _ => engine.tables().exporters.get(&Arc::from(exporter.id()))?.map_or(0, |position| *position),
        };
        exporters.push(Assigned { exporter, acknowledged, is_shared: is_shared && local.is_some() });
    }
    if exporters.is_empty() {
        return Ok(None);
    }
    let directory = export::Options::spill_directory(&options.data_dir, options.number);
    let stream = options.export.stream.clone();
    let hub = Hub::open(stream, &directory, options.number, exporters, engine.position())?;
    if let Some(links) = links {
        shared_exports::fetch_with(&hub, options.number, links);
    }
    Ok(Some(Arc::new(hub)))
}

/// A group of this broker alone, or of all brokers of a cluster.
fn group_options(
    options: &PartitionOptions,
    replica: ReplicaNumber,
    links: Option<&Links>,
    restored: Option<u64>,
) -> GroupOptions {
    let Some(links) = links else { return GroupOptions { restored, ..GroupOptions::default() } };
    GroupOptions {
        voters: links.voters(),
        // The leader has added it already.
        joins: replica.generation > 0,
        // Until its clock was compared with the others'.
        stands_for_election: false,
        // Until the others have told that it has all that it acknowledged.
        quarantined: true,
        restored,
        log_kept_bytes_max: options.log_kept_bytes,
        transport: Arc::clone(&links.peers) as _,
        ..GroupOptions::default()
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
            let is_dead = node.failure().is_some();
            let ahead_ms = node.cluster.as_ref().map(|cluster| cluster.links.clock.ahead_ms());
            for partition in &node.partitions {
                partition.expire_demand();
                partition.publish(&node.health_of(partition), is_dead, ahead_ms);
            }
        } else {
            node.measure_disk();
        }
    }
}
