//! The proposer: takes waiting commands, and what the leader itself has to say, into log entries.
//!
//! It proposes at once when idle, and gathers commands while entries are under way.

use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker_api::SubmitError;
use bytes::Bytes;
use engine::Engine;
use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex as FairMutex;
use protocol::{Batch, Command};
use replication::{Group, Payload, ProposeError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::answers::{PendingRequest, no_answer, no_leader, paused, stopping};
use crate::entered::Proposed;
use crate::options::IngressOptions;
use crate::partition_state::PartitionState;
use crate::route::{RouteError, Router};
use crate::write_limit::WriteLimit;

/// Back-off after an entry failed, before the leader's own commands are retried.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Longest sleep of the leader between two looks at its own work.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);

/// Longest wait of a look at the state for a read between two batches, while no command is being applied.
const LOOK_MAX: Duration = Duration::from_micros(500);

/// Weight of an entry of a command, such as a variable, beside its bytes: a batch takes as long as it has work.
const ENTRY_BYTES: usize = 256;

pub(crate) struct Proposer {
    pub group: Group,
    /// The way into the log, if the broker is in a cluster.
    pub router: Option<Arc<Router>>,
    /// Engine, locked between two batches.
    pub engine: Arc<FairMutex<Engine>>,
    pub shared: Arc<PartitionState>,
    pub write_limit: Arc<WriteLimit>,
    /// Time after which steps left over and due work may go on, if they wait for the write limit.
    pub slice_wait: Option<Duration>,
    pub requests: mpsc::Receiver<PendingRequest>,
    pub options: IngressOptions,
    pub flush_interval: Duration,
    pub shutdown: CancellationToken,
    pub last_proposed: Instant,
}

/// An entry under way.
type Proposal = Pin<Box<dyn Future<Output = (Arc<Proposed>, Result<(), RouteError>)> + Send>>;

impl Proposer {
    /// Runs until shutdown; what waits by then is still proposed.
    pub async fn run(mut self) {
        let mut in_flight: FuturesUnordered<Proposal> = FuturesUnordered::new();
        let mut waiting: Vec<PendingRequest> = Vec::new();
        let mut paused_until: Option<Instant> = None;
        let mut open = true;
        // Whether the leader's own work is in an entry under way: it shows as work to do until that is applied.
        let mut leader_busy = false;
        // Entries under way that somebody waits for.
        let mut awaited = 0_usize;
        let shared = Arc::clone(&self.shared);
        shared.counts.metrics.proposals_max(self.options.max_batches_in_flight);
        loop {
            if !open && waiting.is_empty() && in_flight.is_empty() {
                return;
            }
            self.shared.counts.metrics.under_way(in_flight.len());
            let room = in_flight.len() < self.options.max_batches_in_flight;
            let wanted = awaited == 0 && !self.is_paused() && self.shared.demand.is_wanted();
            let ready =
                room && is_worth_an_entry(&self.options, in_flight.len(), awaited, waiting.len(), wanted);
            if ready && paused_until.is_none_or(|until| Instant::now() >= until) {
                paused_until = None;
                let leader_free = open && !leader_busy && shared.leading.leads();
                self.refuse_what_is_gone(&mut waiting, awaited == 0);
                if let Some(proposed) = self.propose(&mut waiting, in_flight.is_empty(), leader_free) {
                    leader_busy |= has_leader_work(&proposed.batch);
                    awaited += usize::from(is_awaited(&proposed.batch));
                    in_flight.push(self.enter(proposed));
                    continue;
                }
            }
            let free = self.options.max_batch_commands.saturating_sub(waiting.len());
            let idle = in_flight.is_empty();
            tokio::select! {
                biased;
                Some((proposed, result)) = in_flight.next(), if !idle => {
                    leader_busy &= !has_leader_work(&proposed.batch);
                    awaited -= usize::from(is_awaited(&proposed.batch));
                    if let Err(error) = result {
                        self.failed(&proposed, &error);
                        if !matches!(error, RouteError::Refused(ProposeError::TooLarge { .. })) {
                            paused_until = Some(Instant::now() + PAUSE_AFTER_FAILURE);
                        }
                    }
                }
                count = self.requests.recv_many(&mut waiting, free), if open && free > 0 => {
                    open = count > 0;
                }
                () = leader_work(&shared, self.flush_interval, self.slice_wait, paused_until), if awaited == 0 && (open || paused_until.is_some()) => {}
                () = self.shutdown.cancelled(), if open => {
                    self.requests.close();
                    while let Ok(request) = self.requests.try_recv() {
                        waiting.push(request);
                    }
                    open = false;
                }
            }
        }
    }

    /// Proposes the next entry, if it would have any command or demand. `idle`: none is under way; `leader_free`: none
    /// with work of the leader is.
    fn propose(
        &mut self,
        waiting: &mut Vec<PendingRequest>,
        idle: bool,
        leader_free: bool,
    ) -> Option<Arc<Proposed>> {
        self.slice_wait = None;
        let is_paused = self.is_paused();
        if is_paused {
            self.send_away(waiting);
        }
        let leader_free = leader_free && !is_paused;
        let mut commands = Vec::with_capacity(waiting.len() + 2);
        let mut waiters = Vec::with_capacity(waiting.len());
        let mut bytes = 0;
        let mut taken = 0;
        for request in waiting.iter() {
            // At least exact: of too large an entry all commands would be refused, not only the large ones.
            bytes += request.command.encoded_bytes() + request.command.entries() * ENTRY_BYTES;
            if taken > 0 && bytes > self.options.max_batch_bytes {
                break;
            }
            taken += 1;
            if taken == self.options.max_batch_commands {
                break;
            }
        }
        for request in waiting.drain(..taken) {
            if !request.claim.take() {
                continue;
            }
            commands.push(request.command);
            waiters.push(request.waiter);
        }
        if leader_free {
            commands.extend(self.next_tick());
            commands.extend(self.next_slice());
        }
        let yielded = if is_paused { Vec::new() } else { self.shared.demand.take_yielded() };
        if !yielded.is_empty() {
            let (job_keys, deadlines_ms) = yielded.into_iter().unzip();
            commands.push(Command::YieldJobs { job_keys, deadlines_ms: Some(deadlines_ms) });
        }
        // An entry without commands lets the machine begin a flush, or take one over, when nothing else does.
        let look_after_flush = idle
            && self.shared.leading.leads()
            && self.shared.flush.is_pending()
            && self.last_proposed.elapsed() >= self.flush_interval;
        let wanted = !is_paused && self.shared.demand.is_wanted();
        if commands.is_empty() && !wanted && !look_after_flush {
            return None;
        }
        self.last_proposed = Instant::now();
        self.shared.counts.metrics.proposed(commands.len(), bytes);
        let mut batch = Batch {
            engine_version: 0,
            timestamp_ms: 0,
            commands,
            demand: if is_paused { Vec::new() } else { self.shared.demand.attach() },
            origin: self.router.as_ref().map(|router| router.origin()),
            digest: None,
        };
        self.shared.stamp(&mut batch);
        if self.router.is_some() {
            self.shared.stamp_digest(&mut batch);
        }
        Some(Arc::new(Proposed { batch, sent_at: Instant::now(), waiters: Mutex::new(waiters) }))
    }

    /// Triggers what is due, as far as the write limit has room for it: of timers that are due again at once there
    /// is no end, as of steps left over. Kinds of due work take turns, and so do the owners of timers.
    fn next_tick(&mut self) -> Option<Command> {
        if !self.shared.due.wait().is_some_and(|wait| wait.is_zero()) {
            return None;
        }
        match self.write_limit.left_over(self.shared.applied.written()) {
            Ok(_) => Some(Command::Tick),
            Err(wait) => {
                self.slice_wait = Some(wait);
                None
            }
        }
    }

    /// Goes on with steps left over, as far as the write limit has room for them.
    fn next_slice(&mut self) -> Option<Command> {
        if !self.shared.due.has_pending_steps() {
            return None;
        }
        match self.write_limit.left_over(self.shared.applied.written()) {
            Ok(records) => Some(Command::Continue { max_records: Some(records) }),
            Err(wait) => {
                self.slice_wait = Some(wait);
                None
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.shared.is_paused()
    }

    /// Refuses commands of clients while processing is paused. Here, and not where commands come in, because what this
    /// lets pass is in the log before anything that comes later: who has paused waits for that.
    fn send_away(&self, waiting: &mut Vec<PendingRequest>) {
        for request in waiting.extract_if(.., |request| !request.is_own) {
            request.waiter.answer(Err(paused(self.shared.number)));
        }
        self.shared.demand.refuse_impatient(&paused(self.shared.number));
    }

    /// Refuses commands whose subject is gone, so that they cost no entry. The state is looked at only where that holds
    /// nobody up: `is_calm` says that no command is being applied. Otherwise many commands share the entry, and the
    /// engine refuses there.
    fn refuse_what_is_gone(&self, waiting: &mut Vec<PendingRequest>, is_calm: bool) {
        // While processing is paused, everybody is told that first.
        if self.is_paused() || !waiting.iter().any(|request| engine::may_be_gone(&request.command)) {
            return;
        }
        let free = if is_calm { self.engine.try_lock_for(LOOK_MAX) } else { self.engine.try_lock() };
        let Some(mut engine) = free else { return };
        let mut rejections = Vec::new();
        let gone: Vec<PendingRequest> = waiting
            .extract_if(.., |request| match engine.final_refusal(&request.command) {
                Ok(Some(rejection)) => {
                    rejections.push(rejection);
                    true
                }
                // State that cannot be read stops the partition when the command is applied.
                Ok(None) | Err(_) => false,
            })
            .collect();
        drop(engine);
        for (request, rejection) in gone.into_iter().zip(rejections) {
            self.shared.counts.metrics.refused_early(rejection.kind);
            request.waiter.answer(Err(SubmitError::Rejected(rejection)));
        }
    }

    /// Sends an entry on its way.
    fn enter(&self, proposed: Arc<Proposed>) -> Proposal {
        if let Some(router) = self.router.clone() {
            // None of its requests waits for a leader longer than it may.
            let deadline = proposed.waiters.lock().iter().filter_map(|waiter| waiter.deadline).min();
            return Box::pin(async move {
                let result = router.enter(Arc::clone(&proposed), deadline).await;
                (proposed, result)
            });
        }
        let bytes = Bytes::from(proposed.batch.encode());
        let (group, shared) = (self.group.clone(), Arc::clone(&self.shared));
        Box::pin(async move {
            let number = shared.entered.next();
            // The proposal itself is answered when it is applied.
            let _applied = shared.entered.add(number, Arc::clone(&proposed));
            let result = group.propose(Payload { bytes, number: Some(number) }).await;
            shared.entered.forget(number);
            (proposed, result.map(drop).map_err(RouteError::Refused))
        })
    }

    /// Tells the clients of an entry that it failed.
    fn failed(&self, proposed: &Proposed, error: &RouteError) {
        let yielded = proposed.batch.commands.iter().filter_map(|command| {
            let Command::YieldJobs { job_keys, deadlines_ms: Some(deadlines_ms) } = command else {
                return None;
            };
            Some(job_keys.iter().copied().zip(deadlines_ms.iter().copied()))
        });
        self.shared.demand.give_back_again(yielded.flatten());
        let partition = self.shared.number;
        let error = match error {
            RouteError::Refused(error @ ProposeError::TooLarge { .. }) => {
                SubmitError::TooLarge(format!("Expected to handle the command, but {error}"))
            }
            RouteError::Refused(ProposeError::ShuttingDown) => stopping(),
            RouteError::Refused(error) => SubmitError::Unavailable(format!(
                "Expected to handle the command on partition {partition}, but {error}"
            )),
            RouteError::Lost(error) => SubmitError::Timeout(format!(
                "Expected to handle the command on partition {partition}, but {error}; it may have happened"
            )),
            RouteError::Full(error) => error.clone(),
            RouteError::NoLeader => no_leader(partition),
            RouteError::Open => no_answer(partition),
        };
        self.shared.demand.return_demand(&proposed.batch.demand, &error);
        for waiter in proposed.take_waiters() {
            waiter.answer(Err(error.clone()));
        }
    }
}

/// Resolves when the leader has work of its own, or it is time to check the flush.
async fn leader_work(
    shared: &PartitionState,
    flush_interval: Duration,
    slice_wait: Option<Duration>,
    paused_until: Option<Instant>,
) {
    if let Some(until) = paused_until {
        tokio::time::sleep_until(until.into()).await;
        return;
    }
    if !shared.leading.leads() {
        tokio::select! {
            () = shared.demand.changed() => {}
            () = shared.leading.changed() => {}
        }
        return;
    }
    let due = match shared.due.wait() {
        // Due timers wait for the write limit.
        Some(Duration::ZERO) if slice_wait.is_some() => Duration::MAX,
        Some(due) if !shared.is_paused() => due.max(Duration::from_millis(1)),
        // Nothing is due, or it waits until the pause is over.
        Some(_) | None => Duration::MAX,
    };
    let housekeeping = if shared.flush.is_pending() { flush_interval } else { Duration::MAX };
    let sleep = due.min(housekeeping).min(slice_wait.unwrap_or(LONGEST_SLEEP)).min(LONGEST_SLEEP);
    tokio::select! {
        () = shared.demand.changed() => {}
        () = shared.due.changed() => {}
        () = shared.leading.changed() => {}
        () = tokio::time::sleep(sleep) => {}
    }
}

/// Whether an entry under way carries work of the leader, which counts as due until it is applied.
fn has_leader_work(batch: &Batch) -> bool {
    // They come after what clients asked for.
    batch.commands.iter().rev().take(3).any(is_leader_work)
}

/// Whether a command comes from the leader itself, not from a client.
fn is_leader_work(command: &Command) -> bool {
    matches!(command, Command::Tick | Command::Continue { .. })
}

/// Whether another entry beside those under way may begin. `wanted`: a worker may get a job by it.
fn is_worth_an_entry(
    options: &IngressOptions,
    under_way: usize,
    awaited: usize,
    waiting: usize,
    wanted: bool,
) -> bool {
    if awaited == 0 {
        // No client waits for a slice of work that is left over.
        return under_way == 0 || waiting > 0 || wanted;
    }
    // It is worth its sync only if it carries a fair share of commands: a sixteenth instead of a quarter cost a tenth
    // more CPU and gained nothing.
    waiting * 4 >= options.max_batch_commands
}

/// Whether a client waits for an entry. For one with work of the leader, and demand that came along, nobody does.
fn is_awaited(batch: &Batch) -> bool {
    // Commands of clients come first.
    !batch.commands.first().is_some_and(is_leader_work)
}

#[cfg(test)]
mod tests {
    use protocol::ENGINE_VERSION;

    use super::*;

    fn batch(commands: Vec<Command>) -> Batch {
        Batch {
            engine_version: ENGINE_VERSION,
            timestamp_ms: 0,
            commands,
            demand: vec![],
            origin: None,
            digest: None,
        }
    }

    #[test]
    fn requests_overtake_what_is_left_over_but_do_not_crowd_each_other() {
        let cancel = || Command::CancelInstance { process_instance_key: 1, operation_reference: None };
        assert!(!is_awaited(&batch(vec![Command::GO_ON])));
        assert!(!is_awaited(&batch(vec![Command::Tick, Command::GO_ON])));
        assert!(is_awaited(&batch(vec![cancel(), Command::GO_ON])));
        // Only demand.
        assert!(is_awaited(&batch(vec![])));
        let options = IngressOptions { max_batch_commands: 8, ..IngressOptions::default() };
        let worth = |under_way, awaited, waiting, wanted| {
            is_worth_an_entry(&options, under_way, awaited, waiting, wanted)
        };
        assert!(worth(0, 0, 0, false), "the leader may have something to say");
        assert!(worth(1, 0, 1, false), "a request");
        assert!(worth(1, 0, 0, true), "a worker");
        assert!(!worth(1, 0, 0, false), "the next slice waits for the one before");
        assert!(!worth(1, 1, 1, false), "a request waits for others");
        assert!(worth(1, 1, 2, false), "a quarter of an entry");
    }
}
