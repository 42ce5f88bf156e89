//! The start of a broker: from what is durable to tasks at work.

use std::sync::{Arc, Weak};
use std::time::Instant;

use broker_api::SubmitError;
use engine::Engine;
use export::{Assigned, Configured, Hub, TargetOwner};
use parking_lot::Mutex;
use protocol::{Command, FIRST_PARTITION};
use replication::{Group, GroupOptions, LogStore};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::published::Published;
use super::{Node, PUBLISH_INTERVAL, REQUEST_QUEUE};
use crate::answers::PendingRequest;
use crate::backups::BackupDirectory;
use crate::bootstrap::Vote;
use crate::cluster::{Links, Replica};
use crate::data_directory::log_directory;
use crate::disk::Disk;
use crate::exporting::LocalPositions;
use crate::expression::Evaluations;
use crate::flow_control::FlowControl;
use crate::flusher::Flusher;
use crate::identity::Identity;
use crate::leading::follow_role;
use crate::machine::PartitionMachine;
use crate::opening::{StartError, open, partition_state};
use crate::options::Options;
use crate::proposer::Proposer;
use crate::reads::Reads;
use crate::replica_number::ReplicaNumber;
use crate::route::Router;
use crate::set_aside::Orders;
use crate::shared_parking::ParkedInState;
use crate::{
    admission, apply_watch, configured, exporting, metric_definitions, shared_exports, store_copies,
    store_queries,
};

impl Node {
    pub(super) async fn start_in(
        options: Options,
        replica: Option<Replica>,
    ) -> Result<Arc<Self>, StartError> {
        if let Some(replica) = &replica {
            admission::readmit(&options, replica).await?;
        }
        let (identity, engine) = open(&options).await?;
        let (links, replica) = enter(&options, &identity, replica).await?;
        let set_aside = Orders::open(&options.data_dir, engine.tables().applied_index())?;
        let local = links.as_ref().map(|links| local_positions(&options, links)).transpose()?.map(Arc::new);
        let exports = exports(&options, &engine, local.as_deref(), links.as_ref())?;
        let former_exporters = exporting::former(&engine, exports.as_deref())?;
        let clock = links.as_ref().map(|links| Arc::clone(&links.clock));
        let owner = (replica, identity.life);
        let shared = Arc::new(partition_state(&options, owner, &engine, exports.clone(), local, clock));
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
        let group_options = group_options(&options, replica, links.as_deref());
        let group = Box::pin(start_group(replica, &log, machine, group_options)).await?;
        // Everything in the log is applied: no batch that was too slow once is any more.
        apply_watch::forget(options.data_dir.clone()).await;
        let (requests, queue) = mpsc::channel(REQUEST_QUEUE);
        let disk = Arc::new(Disk::new(options.disk.min_free_bytes));
        disk.measure(&options.data_dir);
        let write_limit = Arc::new(exporting::write_limit(&options));
        let router = links.map(|links| Router::new(&group, replica, links, &shared, &shutdown));
        let node = Arc::new(Self {
            flow_control: FlowControl::new(options.flow_control.clone()),
            write_limit,
            backups: Arc::new(BackupDirectory::new(options.backups.clone())),
            evaluations: Evaluations::new(options.max_evaluations_at_once, options.work),
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
            reads,
            former_exporters: Mutex::new(former_exporters),
            published: Published::default(),
        });
        watching.disarm();
        let task = tokio::spawn(supervise(Arc::downgrade(&node)));
        node.tasks.lock().extend([watch, tokio::spawn(node.proposer(queue).run()), task]);
        node.begin_tasks();
        if node.router.is_none() {
            node.begin_alone().await?;
        }
        Ok(node)
    }

    fn proposer(&self, requests: mpsc::Receiver<PendingRequest>) -> Proposer {
        Proposer {
            group: self.group.clone(),
            router: self.router.clone(),
            engine: Arc::clone(&self.engine),
            shared: Arc::clone(&self.shared),
            write_limit: Arc::clone(&self.write_limit),
            slice_wait: None,
            requests,
            options: self.options.ingress.clone(),
            flush_interval: self.options.state.flush_interval,
            shutdown: self.shutdown.clone(),
            last_proposed: Instant::now(),
        }
    }

    /// Begins the work that goes on beside requests.
    fn begin_tasks(self: &Arc<Self>) {
        let stop = || self.shutdown.clone();
        let mut tasks = self.tasks.lock();
        tasks.push(tokio::spawn(purge(self.group.clone(), self.shared.durable.subscribe(), stop())));
        if let Some(exports) = self.shared.exports.clone() {
            if let Some(router) = &self.router {
                exports.park_with(ParkedInState::new(self, router.links.closing()));
            }
            if let Some(local) = self.shared.local_positions.clone() {
                tasks.push(tokio::spawn(exporting::note(local, Arc::clone(&exports), stop())));
            }
            tasks.push(tokio::spawn(shared_exports::acknowledge(Arc::downgrade(self), exports, stop())));
        }
        if let Some(router) = &self.router {
            store_queries::attend(self);
            router.links.attend(self);
            tasks.push(tokio::spawn(follow_role(Arc::downgrade(self), self.group.role(), stop())));
            tasks.push(tokio::spawn(Arc::clone(&router.links).keep_statuses(stop())));
        }
    }

    /// Passes the commands that a leader begins with. The log is replayed now.
    async fn begin_alone(&self) -> Result<(), StartError> {
        let began = Instant::now();
        // State may hold timers that are due and steps that are left over: one tick finds out.
        let failed = |error: SubmitError| std::io::Error::other(error.to_string());
        self.run_own(Command::Tick).await.map_err(failed)?;
        let configured = configured::commands(&self.engine.lock(), &self.options)?;
        for command in configured {
            self.run_own(command).await.map_err(failed)?;
        }
        metric_definitions::leads_after(began.elapsed());
        Ok(())
    }
}

/// Opens the connections to the other brokers of a cluster, and obtains the number of this replica.
async fn enter(
    options: &Options,
    identity: &Identity,
    replica: Option<Replica>,
) -> Result<(Option<Arc<Links>>, ReplicaNumber), StartError> {
    let Some(replica) = replica else { return Ok((None, ReplicaNumber::first(options.node_id))) };
    let vote = Vote::open(&options.data_dir, options.node_id, log_directory(&options.data_dir).exists())?;
    let links = Arc::new(Links::open(replica, identity, &vote, &options.data_dir, &options.peers)?);
    vote.obtain(&links, &log_directory(&options.data_dir)).await?;
    Ok((Some(links), vote.replica()))
}

/// The positions of exporters whose targets this broker of a cluster has copies of.
fn local_positions(options: &Options, links: &Arc<Links>) -> std::io::Result<LocalPositions> {
    if let Some(copies) = options.export.copies() {
        store_copies::fetch_with(copies, links);
    }
    let directory = options.data_dir.join("export");
    std::fs::create_dir_all(&directory)?;
    let local = LocalPositions::open(&directory)?;
    if options.store.is_some() && options.export.copies().is_none() {
        local.begin_gap()?;
    }
    Ok(local)
}

/// Starts the exporters that are configured. In a cluster, each broker has its own positions of those with a target of
/// its own.
fn exports(
    options: &Options,
    engine: &Engine,
    local: Option<&LocalPositions>,
    links: Option<&Arc<Links>>,
) -> Result<Option<Arc<Hub>>, StartError> {
    let mut exporters = Vec::new();
    for Configured { exporter, target } in options.export.exporters(&options.data_dir, FIRST_PARTITION) {
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
    let directory = export::Options::spill_directory(&options.data_dir, FIRST_PARTITION);
    let hub = Hub::open(options.export.stream.clone(), &directory, FIRST_PARTITION, exporters)?;
    if let Some(links) = links {
        shared_exports::fetch_with(&hub, links);
    }
    Ok(Some(Arc::new(hub)))
}

/// Starts the group; the log is replayed then.
async fn start_group(
    replica: ReplicaNumber,
    log: &LogStore,
    machine: PartitionMachine,
    options: GroupOptions,
) -> Result<Group, StartError> {
    let began = Instant::now();
    let group = Group::start(u64::from(FIRST_PARTITION), replica.number(), log, machine, options).await?;
    metric_definitions::started(began.elapsed());
    Ok(group)
}

/// A group of this broker alone, or of all brokers of a cluster.
fn group_options(options: &Options, replica: ReplicaNumber, links: Option<&Links>) -> GroupOptions {
    let Some(links) = links else { return GroupOptions::default() };
    GroupOptions {
        voters: links.voters(),
        // The leader has added it already.
        joins: replica.generation > 0,
        // Until its clock was compared with the others'.
        stands_for_election: false,
        log_kept_bytes_max: options.log_kept_bytes,
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
