//! Transactions: a command, a timer that is due or a step left over either happens as a whole or leaves nothing.
//!
//! A panic inside one is caught here. The process instance at work is banned: its steps are set aside and its commands
//! refused until somebody releases or cancels it; everybody else goes on.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use protocol::{Command, Demand, ErrorRecord, Intent, Key, Name, Rejection, RejectionType, Response};
use state::StateError;

use crate::Engine;
use crate::core::context::{CachedInstance, CommandContext};
use crate::core::due::{self, Due};
use crate::core::effects::{Effects, Outcome};
use crate::core::failure::{ApplyError, Failure};
use crate::core::left_over;
use crate::core::origin::CommandOrigin;
use crate::core::recorded::LastRecorded;
use crate::core::step::Step;
use crate::entity::Banned;

/// Attempts of a demand after the engine has failed on a job.
const MAX_DEMAND_ATTEMPTS: usize = 8;

/// How a transaction ended.
pub(crate) enum Attempt<T> {
    Done(T),
    Refused(Failure),
    /// The engine failed on this instance (0: on none).
    Panicked {
        instance_key: Key,
        reason: String,
        /// Whether the command holds nevertheless: the engine failed on an instance that a message, signal or condition
        /// was to start in the same transaction, or at the end of what was cancelled.
        holds: bool,
    },
}

impl<T> Attempt<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Attempt<U> {
        match self {
            Self::Done(done) => Attempt::Done(change(done)),
            Self::Refused(failure) => Attempt::Refused(failure),
            Self::Panicked { instance_key, reason, holds } => {
                Attempt::Panicked { instance_key, reason, holds }
            }
        }
    }
}

impl Engine {
    pub(crate) fn run(
        &mut self,
        command: &Command,
        effects: &mut Effects,
    ) -> Result<Option<Outcome>, ApplyError> {
        let attempt = self
            .attempt_with_steps(effects, self.options.max_steps_per_command, |work| work.execute(command))?;
        match attempt.map(|(response, _)| response) {
            Attempt::Done(response) => Ok(response.map(Ok)),
            Attempt::Refused(failure) => Ok(Some(Err(failure.into_rejection()))),
            Attempt::Panicked { instance_key, reason, .. } => {
                let banned = self.ban(instance_key, &reason, effects)?;
                let reason = format!(
                    "Expected to process the command, but the engine failed{}. Nothing was changed.",
                    if banned {
                        format!(" and process instance '{instance_key}' was banned")
                    } else {
                        String::new()
                    }
                );
                Ok(Some(Err(Rejection::new(RejectionType::ProcessingError, reason))))
            }
        }
    }

    /// Triggers what is due, up to the limit of one tick; the rest is due at the next.
    pub(crate) fn tick(&mut self, effects: &mut Effects) -> Result<Option<Outcome>, ApplyError> {
        self.forget_keys_on_tick()?;
        let before = self.meta.position;
        let mut budget = self.options.max_steps_per_command;
        self.tables.begin();
        let next = due::next(&mut self.tables, &self.meta, &self.options)?;
        self.tables.commit();
        let (mut last, mut is_through) = (None, true);
        for due in next {
            if self.meter.is_spent() {
                is_through = false;
                break;
            }
            last = Some(due);
            due::note_turn(&mut self.meta, due);
            let attempt = self.attempt_with_steps(effects, budget, |work| {
                match due {
                    Due::Timer(due_ms, key, _) => work.trigger_timer(due_ms, key)?,
                    Due::Job(due_ms, key) => work.trigger_job(due_ms, key)?,
                    Due::Message(due_ms, key) => work.expire_message(due_ms, key)?,
                }
                Ok(())
            })?;
            match self.ban_on_failure(attempt.map(|((), left)| left), effects)? {
                Ok(left) => budget = left,
                // It must not stay due, or every tick would fail on it.
                Err(_) => self.put_off(due)?,
            }
        }
        due::note_end(&mut self.meta, is_through, last);
        effects.left_over_records += self.meta.position - before;
        Ok(Some(Ok(Response::Done)))
    }

    /// Takes up steps that earlier commands left over, each in a transaction of its own, until so much was
    /// recorded: one of each owner in turn, or, without that bound, the oldest first.
    pub(crate) fn go_on(
        &mut self,
        max_records: Option<u32>,
        effects: &mut Effects,
    ) -> Result<Option<Outcome>, ApplyError> {
        let before = self.meta.position;
        let mut budget = self.options.max_steps_per_command;
        // The first is granted all that a step may take, or one that takes it would never have its turn.
        let mut is_first = true;
        self.meter.grant_whole(&self.options.work);
        while budget > 0 && !self.meter.is_spent() {
            let recorded = self.meta.position - before;
            if recorded > 0 && max_records.is_some_and(|most| recorded >= u64::from(most)) {
                break;
            }
            let turn = (self.meta.turn_from, self.meta.turn_until);
            let next = if max_records.is_some() { self.step_in_turn()? } else { self.oldest_step()? };
            let Some((number, step)) = next else { break };
            let owner = self.owner_of_step(number)?;
            if !std::mem::take(&mut is_first) {
                self.meter.grant_share(&self.options.work);
            }
            let attempt = self.attempt(effects, |work| {
                left_over::remove(work.tables, number)?;
                work.step_owner = owner;
                work.counters.steps += 1;
                work.run_metered((*step).clone())?;
                work.leave_steps()?;
                Ok(work.extra_steps)
            })?;
            if matches!(attempt, Attempt::Refused(Failure::PutOff)) {
                // It is the first of the next command.
                (self.meta.turn_from, self.meta.turn_until) = turn;
                break;
            }
            budget -= 1;
            if matches!(*step, Step::WorkOnBatch { .. } | Step::DoBatchItem { .. })
                && matches!(attempt, Attempt::Refused(_) | Attempt::Panicked { .. })
            {
                self.fail_batch_item(&step, number, attempt, effects)?;
                continue;
            }
            match self.ban_on_failure(attempt, effects)? {
                Ok(extra_steps) => budget = budget.saturating_sub(extra_steps),
                Err(instance_key) => {
                    self.tables.begin();
                    left_over::remove(&mut self.tables, number)?;
                    if instance_key != 0 {
                        self.tables.banned_steps.insert((instance_key, number), (*step).clone());
                    }
                    self.tables.commit();
                }
            }
        }
        effects.left_over_records += self.meta.position - before;
        Ok(Some(Ok(Response::Done)))
    }

    /// Marks an item of a batch operation as failed, and goes on with the others.
    fn fail_batch_item<T>(
        &mut self,
        step: &Step,
        number: u64,
        failed: Attempt<T>,
        effects: &mut Effects,
    ) -> Result<(), ApplyError> {
        let reason = match failed {
            Attempt::Refused(failure) => failure.into_rejection().reason,
            Attempt::Panicked { instance_key, reason, .. } => {
                self.ban(instance_key, &reason, effects)?;
                format!("The engine failed: {reason}")
            }
            Attempt::Done(_) => return Ok(()),
        };
        let attempt = self.attempt(effects, |work| {
            left_over::remove(work.tables, number)?;
            match step {
                Step::WorkOnBatch { batch_operation_key, .. } => {
                    work.fail_batch_item(*batch_operation_key, &reason)
                }
                Step::DoBatchItem { source, item, .. } => work.fail_remote_item(*source, item, &reason),
                step => unreachable!("{step:?} does no item of a batch operation"),
            }
        })?;
        if self.ban_on_failure(attempt, effects)?.is_err() {
            self.tables.begin();
            left_over::remove(&mut self.tables, number)?;
            self.tables.commit();
        }
        Ok(())
    }

    /// Activates jobs for a demand.
    pub(crate) fn meet_demand(&mut self, demand: &Demand, effects: &mut Effects) -> Result<(), ApplyError> {
        for _ in 0..MAX_DEMAND_ATTEMPTS {
            let attempt = self.attempt(effects, |work| Ok(work.activate_jobs(demand)?))?;
            match self.ban_on_failure(attempt, effects)? {
                Ok(()) => return Ok(()),
                // The job of a banned instance is passed over.
                Err(instance_key) if instance_key != 0 => {}
                Err(_) => break,
            }
        }
        effects.unmet_subscribers.push(demand.subscriber_id);
        Ok(())
    }

    /// Runs something and the steps that follow from it, within a budget. Gives what is left of that.
    ///
    /// If the command holds although the engine failed on a step, all steps happen in transactions of their own,
    /// where the instance can be banned: others must be told of a message, signal or condition, although an
    /// instance that it starts fails, and of those that a cancellation ends, one may fail. So do they if one of
    /// them takes more fuel than there is for it now.
    pub(super) fn attempt_with_steps<T>(
        &mut self,
        effects: &mut Effects,
        budget: usize,
        run: impl Fn(&mut CommandContext) -> Result<T, Failure>,
    ) -> Result<Attempt<(T, usize)>, ApplyError> {
        self.meter.grant_whole(&self.options.work);
        let attempt = self.attempt(effects, |work| {
            let done = run(work)?;
            // The steps that follow are the engine's own.
            work.origin.attribution = None;
            Ok((done, work.run_steps(budget)?))
        })?;
        match attempt {
            Attempt::Panicked { holds: true, .. } | Attempt::Refused(Failure::PutOff) => {
                self.meter.grant_whole(&self.options.work);
                self.attempt(effects, |work| {
                    let done = run(work)?;
                    work.leave_steps()?;
                    Ok((done, budget))
                })
            }
            attempt => Ok(attempt),
        }
    }

    /// The context of a command at work.
    fn context<'a>(&'a mut self, effects: &'a mut Effects) -> CommandContext<'a> {
        let Self { tables, meta, definitions, counters, rights, meter, options, version } = self;
        let command_position = meta.position;
        CommandContext {
            tables,
            meta,
            definitions,
            counters,
            rights,
            meter,
            options,
            version: *version,
            effects,
            steps: VecDeque::new(),
            origin: CommandOrigin::default(),
            extra_steps: 0,
            command_position,
            step_owner: 0,
            current_instance: 0,
            first_instance: 0,
            has_started_others: false,
            steps_stand_alone: false,
            recorded: LastRecorded::default(),
            cached: CachedInstance::default(),
        }
    }

    /// Runs something that either happens as a whole or leaves nothing.
    pub(crate) fn attempt<T>(
        &mut self,
        effects: &mut Effects,
        run: impl FnOnce(&mut CommandContext) -> Result<T, Failure>,
    ) -> Result<Attempt<T>, ApplyError> {
        let (mark, before) = (effects.mark(), self.meta);
        self.tables.begin();
        let mut work = self.context(effects);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let done = run(&mut work)?;
            work.distribute()?;
            Ok(done)
        }));
        let (instance_key, first_key) = (work.current_instance, work.first_instance);
        let (has_started_others, holds) = (work.has_started_others, work.steps_stand_alone);
        let attempt = match result {
            Ok(Ok(done)) => {
                debug_assert!(
                    self.meta.position >= before.position
                        && self.meta.key_counter >= before.key_counter
                        && self.meta.pending_counter >= before.pending_counter,
                    "counters never go back: {before:?}, {:?}",
                    self.meta
                );
                self.tables.commit();
                self.definitions.keep_new();
                return Ok(Attempt::Done(done));
            }
            // The instance of such a model is set aside; all others go on.
            Ok(Err(Failure::State(StateError::Unusable(reason)))) => {
                Attempt::Panicked { instance_key, reason, holds }
            }
            Ok(Err(Failure::State(error))) => {
                self.tables.rollback();
                return Err(error.into());
            }
            Ok(Err(failure)) => Attempt::Refused(failure),
            Err(panic) => Attempt::Panicked { instance_key, reason: panic_text(&*panic), holds },
        };
        self.tables.rollback();
        self.definitions.forget_new();
        effects.truncate(mark);
        self.meta = before;
        match attempt {
            Attempt::Panicked { instance_key, reason, .. }
                if !self.tables.instances.contains(&instance_key)? =>
            {
                Ok(Attempt::Panicked { instance_key: first_key, reason, holds: has_started_others })
            }
            attempt => Ok(attempt),
        }
    }

    /// Bans the instance of internal work that failed: such work cannot be refused, so the engine is at fault. Gives
    /// the banned instance, or 0.
    fn ban_on_failure<T>(
        &mut self,
        attempt: Attempt<T>,
        effects: &mut Effects,
    ) -> Result<Result<T, Key>, ApplyError> {
        let (instance_key, reason) = match attempt {
            Attempt::Done(done) => return Ok(Ok(done)),
            Attempt::Refused(failure) => (0, failure.into_rejection().reason),
            Attempt::Panicked { instance_key, reason, .. } => (instance_key, reason),
        };
        let banned = self.ban(instance_key, &reason, effects)?;
        Ok(Err(if banned { instance_key } else { 0 }))
    }

    /// Bans an instance that the engine failed on. False if there is none: it was about to be created.
    pub(crate) fn ban(
        &mut self,
        instance_key: Key,
        reason: &str,
        effects: &mut Effects,
    ) -> Result<bool, ApplyError> {
        let exists = self.tables.instances.contains(&instance_key)?;
        let instance_key = if exists { instance_key } else { 0 };
        self.tables.begin();
        if exists {
            let banned = Banned { reason: reason.into(), since_ms: self.meta.now_ms };
            self.tables.banned.put(instance_key, banned);
            self.counters.banned_instances += 1;
            self.answer_waiting(instance_key, effects)?;
        }
        let mut work = self.context(effects);
        work.record_error(instance_key, reason);
        self.tables.commit();
        effects.banned.push((instance_key, reason.to_owned()));
        Ok(exists)
    }

    /// Answers requests that wait for the result of a call hierarchy that is banned.
    fn answer_waiting(&mut self, instance_key: Key, effects: &mut Effects) -> Result<(), ApplyError> {
        let Some(instance) = self.tables.instances.get(&instance_key)? else { return Ok(()) };
        let Some(root) = self.tables.instances.get(&instance.root_key)? else { return Ok(()) };
        if let Some(wait) = &root.await_result {
            let reason = format!("The engine failed on process instance '{instance_key}', which was banned");
            let rejection = Rejection::new(RejectionType::ProcessingError, reason);
            effects.late_responses.push((wait.request_id, Err(rejection)));
            self.tables.instances.update(&instance.root_key, |row| row.await_result = None)?;
        }
        Ok(())
    }

    /// Postpones due work.
    fn put_off(&mut self, due: Due) -> Result<(), ApplyError> {
        let later = self.meta.now_ms.saturating_add(self.options.banned_retry_ms);
        self.tables.begin();
        match due {
            Due::Timer(_, key, _) => due::postpone_timer(&mut self.tables, key, later)?,
            Due::Job(due_ms, key) => {
                self.tables.job_due.delete(&(due_ms, key));
                self.tables.job_due.put((later, key), ());
                self.tables.jobs.update(&key, |job| job.due_ms = later)?;
            }
            Due::Message(due_ms, key) => {
                self.tables.message_due.delete(&(due_ms, key));
                self.tables.message_due.put((later, key), ());
            }
        }
        self.tables.commit();
        Ok(())
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown failure".to_owned())
}

impl CommandContext<'_> {
    /// Records that the engine failed on an instance.
    fn record_error(&mut self, process_instance_key: Key, reason: &str) {
        let key = self.next_key();
        self.emit(key, Intent::Created, |work| ErrorRecord {
            exception_message: Name::from(reason),
            stacktrace: Name::default(),
            error_event_position: work.command_position,
            process_instance_key,
        });
    }
}
