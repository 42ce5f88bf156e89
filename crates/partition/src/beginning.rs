//! The beginning of a partition: from what is durable to tasks at work.

use std::sync::Arc;
use std::time::Instant;

use broker_api::SubmitError;
use engine::Engine;
use parking_lot::Mutex;
use protocol::Command;
use replication::{Group, LogStore};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::answers::PendingRequest;
use crate::flow_control::FlowControl;
use crate::flusher::Flusher;
use crate::machine::PartitionMachine;
use crate::opening::{OpenError, Surroundings, partition_state};
use crate::options::PartitionOptions;
use crate::others::Others;
use crate::partition::{Partition, ReplayedPartition};
use crate::proposer::Proposer;
use crate::published::Published;
use crate::reads::Reads;
use crate::route::Router;
use crate::set_aside::{ClosedPartition, Orders};
use crate::{acknowledging, apply_watch, configured, exporting, leadership, local_positions};

/// Commands between flow control and the proposer; flow control admits fewer.
const REQUEST_QUEUE: usize = 8192;

impl Partition {
    /// Applies what of the broker's log the state lacks. `engine` is that of the state.
    pub async fn replay(
        options: PartitionOptions,
        engine: Engine,
        log: LogStore,
        mut surroundings: Surroundings,
        shutdown: CancellationToken,
    ) -> Result<ReplayedPartition, OpenError> {
        let (replica, disk) = (surroundings.replica, Arc::clone(&surroundings.disk));
        let group = std::mem::take(&mut surroundings.group);
        let exports = surroundings.records.exports.clone();
        let set_aside = Orders::open(
            ClosedPartition::new(&options.data_dir, options.number),
            engine.tables().applied_index(),
        )?;
        let former_exporters = exporting::former(&engine, exports.as_deref())?;
        let shared = Arc::new(partition_state(&options, &engine, surroundings));
        let flusher = Flusher::start(options.number, exports)?;
        let engine = Arc::new(Mutex::new(engine));
        let reads = Reads::start(options.number, Arc::clone(&engine))?;
        let machine = PartitionMachine::new(&engine, &shared, flusher, options.state.clone())
            .configured(&options, set_aside);
        // Ended with this future, too, when the start is given up.
        let watching = shutdown.clone().drop_guard();
        let watch =
            tokio::spawn(options.apply_watch.clone().keep(options.data_dir.clone(), shutdown.clone()));
        let began = Instant::now();
        let started = Group::start(u64::from(options.number), replica, &log, machine, group);
        let group = Box::pin(started).await?;
        shared.counts.metrics.started(began.elapsed());
        watching.disarm();
        Ok(ReplayedPartition {
            options,
            group,
            log,
            shared,
            engine,
            reads,
            disk,
            shutdown,
            watch,
            former_exporters,
        })
    }

    /// Starts the threads and tasks of the partition; it serves from then on. `others` are the other brokers, if there
    /// are any.
    pub async fn begin(replayed: ReplayedPartition, others: Option<Arc<dyn Others>>) -> Arc<Self> {
        let ReplayedPartition {
            options,
            group,
            log,
            shared,
            engine,
            reads,
            disk,
            shutdown,
            watch,
            former_exporters,
        } = replayed;
        // Everything in the log is applied: no batch that was too slow once is any more.
        apply_watch::forget(options.number, options.data_dir.clone()).await;
        let (requests, queue) = mpsc::channel(REQUEST_QUEUE);
        let router = others.map(|others| Router::new(&group, others, &shared, &shutdown));
        let partition = Arc::new(Self {
            flow_control: FlowControl::new(options.number, options.flow_control.clone()),
            write_limit: Arc::new(exporting::write_limit(&options)),
            options,
            group,
            log,
            shared,
            disk,
            router,
            engine,
            requests,
            reads,
            published: Published::default(),
            leaving: CancellationToken::new(),
            shutdown,
            tasks: Mutex::default(),
            former_exporters: Mutex::new(former_exporters),
        });
        partition.tasks.lock().extend([watch, tokio::spawn(partition.proposer(queue).run())]);
        partition.begin_tasks();
        partition
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

    /// Starts the tasks that run beside requests.
    fn begin_tasks(self: &Arc<Self>) {
        let stop = || self.shutdown.clone();
        let mut tasks = self.tasks.lock();
        tasks.push(tokio::spawn(purge(self.group.clone(), self.shared.flush.durable(), stop())));
        if let Some(exports) = self.exports().cloned() {
            if let Some(local) = self.shared.records.target.local_positions.clone() {
                tasks.push(tokio::spawn(local_positions::note(local, Arc::clone(&exports), stop())));
            }
            tasks.push(tokio::spawn(acknowledging::acknowledge(Arc::downgrade(self), exports, stop())));
        }
        if self.router.is_some() {
            let followed = leadership::follow_role(Arc::downgrade(self), self.group.role(), stop());
            tasks.push(tokio::spawn(followed));
        }
    }

    /// Appends the commands that the leader of a partition without other replicas begins with.
    pub async fn begin_alone(&self) -> Result<(), OpenError> {
        let began = Instant::now();
        // State may hold timers that are due and steps that are left over: one tick finds out.
        let failed = |error: SubmitError| std::io::Error::other(error.to_string());
        self.run_own(Command::Tick).await.map_err(failed)?;
        let configured = configured::commands(&self.engine.lock(), &self.options)?;
        for command in configured {
            self.run_own(command).await.map_err(failed)?;
        }
        self.shared.counts.metrics.leads_after(began.elapsed());
        Ok(())
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
