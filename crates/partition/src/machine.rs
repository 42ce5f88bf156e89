//! The state machine that replication drives: the engine, its flushes, and handing out what it asks for.
//!
//! Everything here runs between one committed batch and the next, on the partition's thread or, while proposals
//! come one at a time, on the raft thread: never two at once.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker_api::{Answer, Positions, SubmitError, Timing};
use engine::{Effects, Engine};
use parking_lot::Mutex as FairMutex;
use planted::Bug;
use protocol::{Batch, BatchDigest};
use replication::{ApplyError, Payload, SnapshotCheck, SnapshotError, SnapshotSource, StateMachine};
use state::StateError;

use crate::apply_watch::ApplyWatch;
use crate::clock::EngineClock;
use crate::demand::Delivered;
use crate::entered::{Proposed, Waiting};
use crate::flusher::Flusher;
use crate::hashes::{self, HashSender};
use crate::local_positions::skip_to;
use crate::options::{PartitionOptions, StateOptions};
use crate::partition_state::PartitionState;
use crate::set_aside::{Found, Orders};
use crate::snapshots::{self, StatePlace, StateView, failed};
use crate::tally::Applied;

/// Factor over the flush size that changes not on disk, those under way included, may reach before applying waits for
/// the disk.
const OVERLAY_FACTOR: usize = 4;
/// Back-off before a failed flush is retried.
const RETRY_FLUSH: Duration = Duration::from_secs(1);

/// The engine as replication sees it.
pub(crate) struct PartitionMachine {
    /// Shared with readers between batches (`reads.rs`), which hold it for a bounded time only.
    engine: Arc<FairMutex<Engine>>,
    shared: Arc<PartitionState>,
    flusher: Flusher,
    options: StateOptions,
    watch: ApplyWatch,
    /// Batches that are not to be applied.
    set_aside: Orders,
    durable: u64,
    flushing: bool,
    dirty: bool,
    last_flush: Instant,
    retry_at: Option<Instant>,
    counted: Instant,
    /// Where a snapshot takes the place of the state.
    place: Option<StatePlace>,
}

impl PartitionMachine {
    pub fn new(
        engine: &Arc<FairMutex<Engine>>,
        shared: &Arc<PartitionState>,
        flusher: Flusher,
        options: StateOptions,
    ) -> Self {
        let durable = engine.lock().tables().applied_index();
        let now = Instant::now();
        Self {
            engine: Arc::clone(engine),
            shared: Arc::clone(shared),
            flusher,
            options,
            watch: ApplyWatch::new(shared.number, Duration::MAX),
            set_aside: Orders::default(),
            durable,
            flushing: false,
            dirty: false,
            last_flush: now,
            retry_at: None,
            counted: now,
            place: None,
        }
    }

    /// With the place where the state is, for a snapshot to take its place.
    pub fn at(self, place: StatePlace) -> Self {
        Self { place: Some(place), ..self }
    }

    /// A machine as the broker is configured: with its watch of the time that a batch takes, and the place of its
    /// state. And with batches that are not to be applied.
    pub fn configured(self, options: &PartitionOptions, set_aside: Orders) -> Self {
        let watch = options.apply_watch.clone();
        Self { watch, set_aside, ..self.at(StatePlace::of(options)) }
    }

    /// Compares the state with that of the leader. A replica that differs from the majority is given up.
    fn compare(&self, digest: Option<BatchDigest>) -> Result<(), ApplyError> {
        let Err(reason) = self.shared.digests.compare(digest) else { return Ok(()) };
        (self.shared.give_up)();
        Err(ApplyError::new(reason))
    }

    /// Leaves out commands of another broker, if a test has planted that.
    fn plant(&self, index: u64, batch: &mut Batch) {
        let is_bug = planted::has(Bug::Diverges) && index.is_multiple_of(50);
        if is_bug || (!batch.commands.is_empty() && self.shared.digests.take_planted()) {
            batch.commands.clear();
        }
    }

    /// Applies an entry that was proposed elsewhere, or in an earlier life. Returns who waits for it here, and who for
    /// a hash of the state after it.
    fn apply_decoded(
        &self,
        (index, term): (u64, u64),
        engine: &mut Engine,
        mut batch: Batch,
        effects: &mut Effects,
    ) -> Result<(Option<Waiting>, Option<HashSender>), ApplyError> {
        if is_late(&batch, term) && !planted::has(Bug::DoneTwice) {
            // Its broker knows that it came too late, and has sent it again.
            batch.commands.clear();
            batch.demand.clear();
        }
        let waited = self.shared.entered.take(&batch, term);
        let wanted_hash = self.shared.wanted_hash.after(batch.origin);
        if waited.is_none() {
            self.plant(index, &mut batch);
        }
        engine.apply(&batch, effects).map_err(apply_error)?;
        Ok((waited, wanted_hash))
    }

    fn dispatch(
        &mut self,
        proposed: Option<&Proposed>,
        effects: Effects,
        started: Instant,
        clock: EngineClock,
    ) {
        let applied = Instant::now();
        self.shared.records.append(effects.records, effects.last_record, self.shared.applied.position());
        let position = self.shared.records.last();
        // Before the answers, too: who has moved the clock finds it moved.
        self.shared.due.update(effects.next_due_ms, clock, effects.has_pending_steps);
        if let Some(proposed) = proposed {
            let commit = started.saturating_duration_since(proposed.sent_at);
            let apply = applied.saturating_duration_since(started);
            self.shared.counts.metrics.batch(proposed.batch.commands.len(), commit, apply);
            for (waiter, outcome) in proposed.take_waiters().into_iter().zip(effects.responses) {
                let queued = proposed.sent_at.saturating_duration_since(waiter.arrived);
                self.shared.counts.metrics.reached_engine(queued + commit);
                let timing = Timing { queued, commit, apply };
                let partition = self.shared.number;
                let answer = |response| Answer { response, timing, partition, position };
                waiter.answer(match outcome {
                    Some(Ok(response)) => Ok(answer(response)),
                    Some(Err(rejection)) => {
                        self.shared.counts.metrics.rejected(rejection.kind);
                        Err(SubmitError::Rejected(rejection))
                    }
                    None => Ok(answer(protocol::Response::Pending)),
                });
            }
            self.shared.counts.metrics.latencies(&effects.latencies);
        }
        // Answers and jobs reach those who asked, whoever proposed the entry: their numbers name broker and life.
        for (number, outcome) in effects.late_responses {
            self.shared.late.answer(number, outcome);
        }
        let positions = Positions::at(self.shared.number, position);
        let delivered = Delivered {
            queued_types: &effects.queued_types,
            ended_jobs: &effects.ended_jobs,
            deliveries: effects.deliveries,
            unmet: &effects.unmet_subscribers,
        };
        self.shared.outbox.wake(&effects.outbox);
        let is_wanted_by_others = proposed.is_none() && !effects.queued_types.is_empty();
        self.shared.demand.deliver(delivered, clock.now_ms, &positions);
        if is_wanted_by_others {
            // The proposer looks at demand after entries of this broker only.
            self.shared.demand.wake();
        }
        for (key, reason) in effects.banned {
            tracing::error!(
                process_instance_key = key,
                reason,
                "the engine failed; the process instance is banned"
            );
        }
        self.shared.counts.metrics.dispatched(applied.elapsed());
    }

    /// Takes over a finished flush, and begins the next one when it is time.
    fn flush(&mut self, index: u64) -> Result<(), ApplyError> {
        let (overlay_bytes, frozen_bytes) = {
            let engine = self.engine.lock();
            (engine.tables().overlay_bytes(), engine.tables().frozen_bytes())
        };
        let full = overlay_bytes + frozen_bytes > self.options.flush_bytes * OVERLAY_FACTOR;
        if self.flushing {
            let outcome = if full { self.flusher.wait() } else { self.flusher.poll() };
            if let Some(outcome) = outcome {
                self.flush_ended(outcome)?;
            }
        }
        if self.retry_at.is_some_and(|at| Instant::now() >= at) {
            let engine = self.engine.lock();
            if let Some(flush) = engine.tables().retry_flush() {
                self.retry_at = None;
                self.flushing = self.flusher.begin(flush, engine.position());
            }
        }
        let now = self.shared.flush.take_order();
        if !self.flushing && self.retry_at.is_none() {
            let due = self.dirty && self.last_flush.elapsed() >= self.options.flush_interval;
            if due || now || self.shared.flush.is_asked() || overlay_bytes >= self.options.flush_bytes {
                let mut engine = self.engine.lock();
                let flush = engine.freeze(index).map_err(apply_error)?;
                self.shared.flush.begins();
                self.dirty = false;
                self.last_flush = Instant::now();
                self.flushing = self.flusher.begin(flush, engine.position());
            }
        }
        if now
            && self.flushing
            && let Some(outcome) = self.flusher.wait()
        {
            self.flush_ended(outcome)?;
        }
        let is_failing = self.retry_at.is_some();
        self.shared.flush.note(self.dirty || self.flushing || is_failing, full && is_failing);
        Ok(())
    }

    /// Writes the state after an entry to disk, and hashes it in the background.
    fn hash(&mut self, index: u64, answer: HashSender) -> Result<(), ApplyError> {
        if self.flushing
            && let Some(outcome) = self.flusher.wait()
        {
            self.flush_ended(outcome)?;
        }
        self.shared.flush.order();
        self.flush(index)?;
        if self.durable == index {
            let snapshot = self.engine.lock().tables().snapshot().map_err(apply_error)?;
            assert_eq!(snapshot.applied_index(), index, "nothing is flushed on another thread than this");
            hashes::hash(snapshot, answer);
        } else {
            answer.send_replace(Some(Err("its state cannot be written to disk".to_owned())));
        }
        Ok(())
    }

    fn flush_ended(&mut self, outcome: crate::flusher::Outcome) -> Result<(), ApplyError> {
        self.flushing = false;
        match outcome {
            Ok(flushed) => {
                debug_assert!(flushed.applied_index() >= self.durable, "the state on disk never goes back");
                self.durable = flushed.applied_index();
                let retired = self.engine.lock().flushed(flushed).map_err(apply_error)?;
                self.flusher.retire(retired);
                self.shared.flush.reached(self.durable);
            }
            Err(error) => {
                if !self.shared.flush.failed(error.to_string()) {
                    tracing::error!(%error, "state cannot be flushed; it is kept in memory and tried again");
                }
                self.retry_at = Some(Instant::now() + RETRY_FLUSH);
            }
        }
        Ok(())
    }
}

/// The clock of an engine after a batch.
fn clock(engine: &Engine) -> EngineClock {
    EngineClock {
        now_ms: engine.now_ms(),
        is_pinned: engine.clock_is_pinned(),
        offset_ms: engine.clock_offset_ms(),
        log_ms: engine.log_time_ms(),
    }
}

impl PartitionMachine {
    /// Notes everywhere that the state is another one, all of it on disk.
    fn note_installed(&mut self, index: u64) -> Result<(), StateError> {
        (self.durable, self.dirty, self.retry_at) = (index, false, None);
        self.last_flush = Instant::now();
        let engine = self.engine.lock();
        self.shared.applied.note(&engine, 0);
        self.shared.digests.clear();
        self.shared.records.skip_to(engine.position());
        self.shared.counts.look(&engine);
        self.shared.due.update(engine.next_due_ms()?, clock(&engine), engine.has_pending_steps()?);
        drop(engine);
        self.shared.flush.note(false, false);
        self.shared.flush.reached(index);
        Ok(())
    }
}

impl StateMachine for PartitionMachine {
    fn apply(&mut self, index: u64, term: u64, payload: &Payload) -> Result<(), ApplyError> {
        let started = Instant::now();
        let proposed = payload.number.and_then(|number| self.shared.entered.get(number));
        let proposed = proposed.as_deref().filter(|proposed| !is_late(&proposed.batch, term));
        let (mut waited, mut wanted_hash, mut effects) = (None, None, Effects::default());
        let set_aside = self.set_aside.take(index, &payload.bytes).map_err(apply_error)?;
        let decoded = proposed.is_none().then(|| Batch::decode(&payload.bytes)).transpose();
        let decoded = decoded.map_err(apply_error)?;
        if set_aside.is_none() {
            // Before the lock: it may ask the other brokers, and tasks that need the engine must go on meanwhile.
            self.compare(
                proposed.map_or_else(|| decoded.as_ref()?.digest, |proposed| proposed.batch.digest),
            )?;
        }
        let mut engine = self.engine.lock();
        let applying = self.watch.begin(index);
        let mut applied = Applied::after(engine.position());
        if let Some(found) = set_aside {
            applied.skipped = set_aside_batch(&mut engine, index, payload, found, &mut effects)?;
            self.dirty = true;
        } else if let Some(proposed) = proposed {
            debug_assert!(
                Batch::decode(&payload.bytes).is_ok_and(|decoded| decoded == proposed.batch),
                "other replicas apply what the bytes say: {:?}",
                proposed.batch
            );
            waited = self.shared.entered.take(&proposed.batch, term);
            applied.commands = proposed.batch.commands.len();
            engine.apply(&proposed.batch, &mut effects).map_err(apply_error)?;
            self.dirty |= !proposed.batch.commands.is_empty() || !effects.deliveries.is_empty();
        } else {
            let batch = decoded.expect("an entry that was not proposed here is decoded");
            (applied.commands, applied.skipped) =
                if is_late(&batch, term) { (0, batch.commands.len()) } else { (batch.commands.len(), 0) };
            (waited, wanted_hash) = self.apply_decoded((index, term), &mut engine, batch, &mut effects)?;
            self.dirty = true;
        }
        drop(applying);
        // Before the answers: who has one finds what it speaks of.
        self.shared.applied.note(&engine, effects.left_over_records);
        if !self.shared.leading.is_alone() {
            self.shared.digests.note(index, &engine);
        }
        let clock = clock(&engine);
        applied.note_position(engine.position());
        // A broker that is alone has proposed all that it does not replay.
        let leading = &self.shared.leading;
        let leads = if leading.is_alone() { proposed.is_some() } else { leading.leads() };
        self.shared.counts.tell(leads, (applied, started.elapsed()), &effects.records);
        if started.duration_since(self.counted) >= Duration::from_millis(500) {
            self.counted = started;
            self.shared.counts.look(&engine);
        }
        drop(engine);
        let waiting = proposed.or(waited.as_ref().map(|(proposed, _)| &**proposed));
        self.dispatch(waiting, effects, started, clock);
        if let Some((_, applied)) = waited {
            // The sender may have given up in the same moment.
            let _ = applied.send(index);
        }
        self.shared.entered.has_applied(term);
        self.flush(index)?;
        wanted_hash.map_or(Ok(()), |answer| self.hash(index, answer))
    }

    fn durable_index(&self) -> u64 {
        self.durable
    }

    fn snapshot(&mut self) -> Result<Box<dyn SnapshotSource>, SnapshotError> {
        let snapshot = self.engine.lock().tables().snapshot().map_err(failed)?;
        Ok(Box::new(StateView::new(self.shared.number, snapshot)))
    }

    fn snapshot_check(&self) -> SnapshotCheck {
        snapshots::check()
    }

    fn install_snapshot(&mut self, index: u64, source: &Path) -> Result<(), SnapshotError> {
        let Some(place) = self.place.clone() else { return Err(SnapshotError::Unsupported) };
        // A flush of the old state must not be taken for one of the new state.
        if self.flushing
            && let Some(outcome) = self.flusher.wait()
        {
            self.flush_ended(outcome).map_err(failed)?;
        }
        let (replacement, engine) = place.prepare(index, source)?;
        if let Some((exports, local)) = self.shared.records.copies() {
            skip_to(exports, local, engine.position()).map_err(failed)?;
        }
        replacement.put().map_err(failed)?;
        if !planted::has(Bug::ForgottenSnapshot) {
            self.shared.entered.skip();
        }
        // The old state has no file any more: from here on, an error is the end of it.
        let old = std::mem::replace(&mut *self.engine.lock(), engine);
        drop(old);
        place.sync().map_err(|error| SnapshotError::Unsure(error.into()))?;
        self.note_installed(index).map_err(|error| SnapshotError::Unsure(error.into()))
    }
}

/// Whether another term has begun between the look at the role and the append.
fn is_late(batch: &Batch, term: u64) -> bool {
    batch.origin.is_some_and(|origin| origin.term != term)
}

/// Leaves out a batch that an operator has set aside; returns how many commands it has.
fn set_aside_batch(
    engine: &mut Engine,
    index: u64,
    payload: &Payload,
    found: Found,
    effects: &mut Effects,
) -> Result<usize, ApplyError> {
    let batch = Batch::decode(&payload.bytes).map_err(apply_error)?;
    engine.set_aside(&batch, found.at_work, effects).map_err(apply_error)?;
    tracing::warn!(position = index, "a batch is set aside");
    for (key, _) in effects.banned.drain(..) {
        tracing::warn!(process_instance_key = key, "the process instance is banned: the batch is about it");
    }
    Ok(batch.commands.len())
}

/// An error of the engine; a state that contradicts itself does not get better with another start.
fn apply_error(cause: impl Into<Box<dyn Error + Send + Sync>>) -> ApplyError {
    let cause = cause.into();
    let first: &(dyn Error + 'static) = &*cause;
    let mut causes = std::iter::successors(Some(first), |cause: &&(dyn Error + 'static)| (*cause).source());
    if causes.any(|cause| cause.downcast_ref().is_some_and(StateError::is_damage)) {
        ApplyError::damage(cause)
    } else {
        ApplyError::new(cause)
    }
}

#[cfg(test)]
pub(crate) mod tests;
