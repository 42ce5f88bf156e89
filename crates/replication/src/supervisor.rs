//! The raft thread of a group: starts openraft's core, serves it, and starts it anew when the log failed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use openraft::{Config, Raft, ServerState};
use planted::Bug;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};

use crate::group_state::{GroupOptions, GroupState, Order, Role, Slot, StartError};
use crate::log::{LogError, LogHandle};
use crate::metric_definitions::compacted;
use crate::peer::Peers;
use crate::silence::{Silence, lease, unanswered};
use crate::types::{GroupFailure, LogId, TypeConfig, fatal_text, raft_text};

/// First pause before a failed log is tried again; doubles up to [`RETRY_PAUSE_MAX`].
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(50);
/// Longest pause between tries to resume.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long a purge waits for entries that are being sent.
const PURGE_PATIENCE: Duration = Duration::from_secs(5);
const _: () = assert!(RETRY_PAUSE_MIN.as_nanos() <= RETRY_PAUSE_MAX.as_nanos());

/// Why one life of openraft's core ended.
enum End {
    Shutdown,
    Storage(String),
    Broken(GroupFailure),
}

pub(crate) struct Supervisor {
    pub(crate) inner: Arc<GroupState>,
    pub(crate) node: u64,
    pub(crate) config: Arc<Config>,
    pub(crate) options: GroupOptions,
    pub(crate) orders: mpsc::Receiver<Order>,
}

impl Supervisor {
    /// Runs until the group is to stop; tells `ready` once, when it has started or failed to.
    pub(crate) fn run_thread(mut self, ready: oneshot::Sender<Result<(), StartError>>) {
        let inner = self.inner.clone();
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => {
                runtime.block_on(self.run(ready));
                runtime.block_on(inner.machine.stop());
            }
            Err(error) => {
                // The starter may have given up.
                let _ = ready.send(Err(error.into()));
            }
        }
        inner.proposals.close();
        inner.set(Slot::Stopped);
    }

    async fn run(&mut self, ready: oneshot::Sender<Result<(), StartError>>) {
        let mut end = match self.start().await {
            Ok(raft) => {
                if ready.send(Ok(())).is_err() {
                    return self.stop(&raft).await;
                }
                self.live(raft).await
            }
            Err(error) => {
                // The starter may have given up.
                let _ = ready.send(Err(error));
                return;
            }
        };
        loop {
            end = match end {
                End::Shutdown => return,
                End::Broken(failure) => {
                    self.break_off(failure).await;
                    return;
                }
                End::Storage(reason) => {
                    tracing::error!(
                        group = self.inner.group,
                        reason,
                        "the log failed, the group waits for the disk"
                    );
                    self.inner.set(Slot::Recovering(reason));
                    // The answer comes after what was committed has been applied; an error means there is nobody
                    // left to apply it.
                    let _ = self.inner.machine.durable_index().await;
                    self.inner.log.abandon();
                    match self.resume().await {
                        Some(raft) => self.live(raft).await,
                        None => return,
                    }
                }
            };
        }
    }

    /// Why neither the state nor the log gets better with another core.
    fn failure(&self) -> Option<GroupFailure> {
        let of_state = self.inner.machine.progress().failure().cloned();
        of_state.or_else(|| self.inner.log.damage().map(GroupFailure::damage))
    }

    /// Starts openraft's core, and waits until a sole voter leads and has applied its log.
    async fn start(&self) -> Result<Raft<TypeConfig>, StartError> {
        self.try_start().await.map_err(|error| match self.inner.log.damage() {
            // openraft has the error as a text.
            Some(damage) => LogError::Damaged(damage).into(),
            None => error,
        })
    }

    async fn try_start(&self) -> Result<Raft<TypeConfig>, StartError> {
        let inner = &self.inner;
        let peers = Peers {
            group: inner.group,
            transport: self.options.transport.clone(),
            log_holds: inner.log_holds.clone(),
            silent: Arc::clone(&inner.silent),
            handed_term: Arc::clone(&inner.hand_over.term),
            acknowledgements: inner.log.acknowledgements().clone(),
            quarantined: inner.quarantined.subscribe(),
        };
        let progress = inner.machine.progress().clone();
        progress.begin_core();
        let log = LogHandle::new(inner.log.clone(), self.node, inner.proposals.clone(), progress);
        let pristine = inner.log.is_pristine();
        let raft = Raft::new(self.node, self.config.clone(), peers, log, inner.machine.clone())
            .await
            .map_err(|fatal| StartError::Raft(fatal_text(&fatal)))?;
        inner.tell_elections(&raft);
        if let Err(error) = self.bring_up(&raft, pristine).await {
            // The core would live on: it holds a sender of its own channel.
            self.shut_down(&raft).await;
            return Err(error);
        }
        // In this order: whoever sees the new role can propose.
        inner.set(Slot::Running(raft.clone()));
        inner.tell_elections(&raft);
        self.publish(&raft);
        Ok(raft)
    }

    async fn bring_up(&self, raft: &Raft<TypeConfig>, pristine: bool) -> Result<(), StartError> {
        let failed = |text: String| StartError::Raft(text);
        if pristine && !self.options.joins {
            raft.initialize(self.options.first_voters(self.node))
                .await
                .map_err(|error| failed(raft_text(&error)))?;
        }
        if self.inner.log.is_sole_voter(self.node) {
            if raft.metrics().borrow().state != ServerState::Leader {
                raft.trigger().elect().await.map_err(|fatal| failed(fatal_text(&fatal)))?;
            }
            let node = self.node;
            let mut metrics = raft.metrics();
            let led = metrics
                .wait_for(|now| {
                    now.running_state.is_err()
                        || (now.state == ServerState::Leader
                            && now.current_leader == Some(node)
                            && now.last_applied.map(|id| id.index) >= now.last_log_index)
                })
                .await
                .map_err(|_| failed("openraft stopped".to_owned()))?;
            if let Err(fatal) = &led.running_state {
                return Err(failed(fatal_text(fatal)));
            }
        }
        Ok(())
    }

    /// Serves a running core until it ends.
    async fn live(&mut self, raft: Raft<TypeConfig>) -> End {
        // The core owns the sending side, so that the channel closes when the core ends. The other metrics change
        // with every entry; nobody listens to them here.
        let mut server = raft.server_metrics();
        let mut silence = Silence::new(lease(&raft));
        let mut looks = tokio::time::interval(Duration::from_millis(self.config.heartbeat_interval));
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => self.be_silent(silence.is_due(unanswered(&raft), Instant::now())),
                order = self.orders.recv() => match order {
                    Some(Order::Purge(upto, reply)) => {
                        self.purge(&raft, upto).await;
                        // The asker may be gone.
                        let _ = reply.send(());
                    }
                    Some(Order::Shutdown) | None => {
                        self.stop(&raft).await;
                        return End::Shutdown;
                    }
                },
                changed = server.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    self.publish(&raft);
                }
            }
        }
        self.inner.silent.store(false, Ordering::Release);
        if let Some(failure) = self.failure() {
            return End::Broken(failure);
        }
        match &raft.metrics().borrow().running_state {
            Err(fatal) => End::Storage(fatal_text(fatal)),
            Ok(()) => End::Storage("openraft stopped".to_owned()),
        }
    }

    fn be_silent(&self, silent: bool) {
        if self.inner.silent.swap(silent, Ordering::AcqRel) != silent && silent {
            tracing::warn!(
                group = self.inner.group,
                "no majority answers this leader: it is silent for a while, so that others can elect another one"
            );
        }
    }

    fn publish(&self, raft: &Raft<TypeConfig>) {
        let metrics = raft.server_metrics();
        let now = metrics.borrow();
        let term = now.vote.leader_id().term;
        let role = if now.state == ServerState::Leader {
            Role::Leader { term }
        } else {
            Role::Follower { term, leader: now.current_leader }
        };
        self.inner.role_metrics.set_candidate(now.state == ServerState::Candidate);
        self.inner.set_role(role);
    }

    /// Tells openraft that the state is safe up to what the machine says, which lets it purge the log that far.
    async fn purge(&self, raft: &Raft<TypeConfig>, upto: u64) {
        let Ok(durable) = self.inner.machine.durable_index().await else { return };
        let durable = if planted::has(Bug::PurgedTooFar) { u64::MAX } else { durable };
        let upto = if planted::has(Bug::PurgedTooFar) { u64::MAX } else { upto };
        let upto = upto.min(durable).min(self.inner.machine.progress().applied_index());
        let upto = upto.min(self.not_kept(raft));
        if upto == 0 || self.inner.log.purged().is_some_and(|purged| purged.index >= upto) {
            return;
        }
        let began = Instant::now();
        let reached = |id: Option<LogId>| id.is_some_and(|id| id.index >= upto);
        let mut metrics = raft.metrics();
        if !reached(metrics.borrow().snapshot) && raft.trigger().snapshot().await.is_err() {
            return;
        }
        // An error, here and below, means that the core stopped.
        if metrics.wait_for(|now| now.running_state.is_err() || reached(now.snapshot)).await.is_err()
            || raft.trigger().purge_log(upto).await.is_err()
        {
            return;
        }
        let purged = metrics.wait_for(|now| now.running_state.is_err() || reached(now.purged));
        // Entries under way to another replica stay until they are there: other orders must not wait for that.
        let _ = tokio::time::timeout(PURGE_PATIENCE, purged).await;
        compacted(self.inner.group, began.elapsed());
    }

    /// Index up to which the log is not kept for other replicas.
    fn not_kept(&self, raft: &Raft<TypeConfig>) -> u64 {
        let metrics = raft.metrics();
        let now = metrics.borrow();
        let had_by_all = match &now.replication {
            Some(replication) if now.state == ServerState::Leader => {
                let others = replication.iter().filter(|(node, _)| **node != self.node);
                others.map(|(_, matched)| matched.map_or(0, |id| id.index)).min().unwrap_or(u64::MAX)
            }
            _ if self.inner.log.is_sole_voter(self.node) => u64::MAX,
            _ => 0,
        };
        let first_within = self.inner.log.first_within(self.options.log_kept_bytes_max);
        had_by_all.max(first_within.saturating_sub(1)).min(self.inner.log_holds.not_held())
    }

    async fn stop(&self, raft: &Raft<TypeConfig>) {
        self.inner.set(Slot::Stopped);
        self.shut_down(raft).await;
    }

    async fn shut_down(&self, raft: &Raft<TypeConfig>) {
        if let Err(error) = raft.shutdown().await {
            tracing::error!(group = self.inner.group, %error, "openraft did not stop in order");
        }
    }

    /// Waits for the disk and starts the core anew; `None` when the group is to stop instead.
    async fn resume(&mut self) -> Option<Raft<TypeConfig>> {
        let mut pause = RETRY_PAUSE_MIN;
        loop {
            let error = match self.try_resume().await {
                Ok(raft) => {
                    tracing::info!(group = self.inner.group, "the group continues");
                    return Some(raft);
                }
                Err(error) => error,
            };
            let reason = error.to_string();
            let damage = error.is_damage().then(|| GroupFailure::damage(reason.clone()));
            if let Some(failure) = self.failure().or(damage) {
                self.break_off(failure).await;
                return None;
            }
            tracing::debug!(group = self.inner.group, reason, "the log still fails");
            self.inner.set(Slot::Recovering(reason));
            if self.pause(pause).await.is_err() {
                return None;
            }
            pause = (pause * 2).min(RETRY_PAUSE_MAX);
        }
    }

    async fn try_resume(&self) -> Result<Raft<TypeConfig>, StartError> {
        self.inner.log.store().recover().await?;
        self.inner.log.reload()?;
        self.start().await
    }

    /// Waits, answering orders; an error means that the group is to stop.
    async fn pause(&mut self, pause: Duration) -> Result<(), ()> {
        let over = tokio::time::sleep(pause);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return Ok(()),
                order = self.orders.recv() => match order {
                    Some(Order::Purge(..)) => {}
                    Some(Order::Shutdown) | None => return Err(()),
                },
            }
        }
    }

    /// Ends a group whose state machine failed, or whose log is damaged: answers until it is told to stop.
    async fn break_off(&mut self, failure: GroupFailure) {
        let reason = &failure.reason;
        tracing::error!(
            group = self.inner.group,
            reason,
            "the state or the log cannot be used, the group stops"
        );
        self.inner.set(Slot::Broken(failure));
        self.inner.log.abandon();
        while let Some(order) = self.orders.recv().await {
            if matches!(order, Order::Shutdown) {
                return;
            }
        }
    }
}
