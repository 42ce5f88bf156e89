//! The deterministic engine: committed batches of commands in, state and effects out.
//!
//! A batch enters at [`Engine::apply`]. Each command runs in a transaction on the tables (`command/`, one file each);
//! it leaves [`step::Step`]s, which move element instances through their life (`lifecycle.rs`, with the behaviour of
//! each kind of element in `element/`). What a batch asks of the world is in [`Effects`].
//!
//! The engine never sees a clock, a socket, a file of its own or randomness: the same batches give the same state, the
//! same keys and the same records on every machine.

mod command;
mod counters;
mod definition;
mod effects;
mod element;
pub mod entity;
mod error_event;
mod event;
mod expression;
mod failure;
mod incident;
mod instance;
mod job;
mod lifecycle;
mod message;
mod options;
mod record;
pub mod step;
mod tables;
mod timer;
mod variables;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};

use protocol::{Batch, Command, ENGINE_VERSION, Key, PartitionId, Rejection, RejectionType};
use state::{Flush, Flushed, Retired, StateError, Store};

pub use counters::{Counters, ElementAction, JobAction};
pub use effects::{Delivery, Effects, Outcome};
pub use failure::ApplyError;
pub use options::Options;
pub use tables::{LASTING, Tables};

use definition::Definitions;
use entity::{Banned, Meta};
use failure::Failure;
use work::Work;

/// The only row of the `meta` table.
const META: u8 = 0;

/// The state machine of one partition.
pub struct Engine {
    tables: Tables,
    meta: Meta,
    definitions: Definitions,
    counters: Counters,
    options: Options,
}

impl Engine {
    /// Opens the state of a partition as of its last flush.
    pub fn open(store: &Store, options: Options) -> Result<Self, StateError> {
        let tables = Tables::open(store)?;
        let meta = tables.meta.get(&META)?.map(|meta| (*meta).clone()).unwrap_or_default();
        Ok(Self { tables, meta, definitions: Definitions::default(), counters: Counters::default(), options })
    }

    /// Applies one committed batch. An error means that state can be neither read nor written: the replica must stop.
    pub fn apply(&mut self, batch: &Batch, effects: &mut Effects) -> Result<(), ApplyError> {
        if batch.engine_version > ENGINE_VERSION {
            return Err(ApplyError::UnknownVersion(batch.engine_version));
        }
        let wall_ms = batch.timestamp_ms.max(self.meta.now_ms);
        self.meta.now_ms = self.meta.pinned_ms.unwrap_or(wall_ms);
        for command in &batch.commands {
            let outcome = self.run(command, effects)?;
            effects.responses.push(outcome);
        }
        self.serve_demand(batch, effects)?;
        self.finish(effects)?;
        Ok(())
    }

    /// Runs one command in a transaction of its own.
    fn run(&mut self, command: &Command, effects: &mut Effects) -> Result<Option<Outcome>, ApplyError> {
        let mark = effects.mark();
        self.tables.begin();
        let mut work = Work::new(
            &mut self.tables,
            &mut self.meta,
            &mut self.definitions,
            &mut self.counters,
            &self.options,
            effects,
        );
        let result = catch_unwind(AssertUnwindSafe(|| work.run(command)));
        let instance_key = work.current_instance;
        match result {
            Ok(Ok(response)) => {
                self.tables.commit();
                self.definitions.settle();
                Ok(response.map(Ok))
            }
            Ok(Err(Failure::State(error))) => {
                self.tables.rollback();
                Err(error.into())
            }
            Ok(Err(failure)) => {
                self.undo(effects, mark);
                Ok(Some(Err(failure.into_rejection())))
            }
            Err(panic) => {
                self.undo(effects, mark);
                self.ban(instance_key, &panic_text(&*panic), effects)?;
                let reason = format!(
                    "Expected to process the command, but the engine failed{}. Nothing was changed.",
                    if instance_key == 0 {
                        String::new()
                    } else {
                        format!(" and process instance '{instance_key}' was banned")
                    }
                );
                Ok(Some(Err(Rejection::new(RejectionType::ProcessingError, reason))))
            }
        }
    }

    fn undo(&mut self, effects: &mut Effects, mark: effects::Mark) {
        self.tables.rollback();
        self.definitions.forget_new();
        effects.truncate(mark);
    }

    /// Skips all further commands of an instance that the engine failed on.
    fn ban(&mut self, instance_key: Key, reason: &str, effects: &mut Effects) -> Result<(), ApplyError> {
        if instance_key == 0 {
            effects.banned.push((0, reason.to_owned()));
            return Ok(());
        }
        self.tables.begin();
        let banned = Banned { reason: reason.into(), since_ms: self.meta.now_ms };
        self.tables.banned.put(instance_key, banned);
        let mut work = Work::new(
            &mut self.tables,
            &mut self.meta,
            &mut self.definitions,
            &mut self.counters,
            &self.options,
            effects,
        );
        work.record_error(instance_key, reason);
        self.tables.commit();
        self.counters.banned_instances += 1;
        effects.banned.push((instance_key, reason.to_owned()));
        Ok(())
    }

    fn serve_demand(&mut self, batch: &Batch, effects: &mut Effects) -> Result<(), ApplyError> {
        if batch.demand.is_empty() {
            return Ok(());
        }
        self.tables.begin();
        let mut work = Work::new(
            &mut self.tables,
            &mut self.meta,
            &mut self.definitions,
            &mut self.counters,
            &self.options,
            effects,
        );
        let result = work.serve(&batch.demand);
        match result {
            Ok(()) => {
                self.tables.commit();
                Ok(())
            }
            Err(error) => {
                self.tables.rollback();
                Err(error.into())
            }
        }
    }

    fn finish(&mut self, effects: &mut Effects) -> Result<(), ApplyError> {
        self.tables.begin();
        self.tables.meta.put(META, self.meta.clone());
        self.tables.commit();
        effects.next_due_ms = timer::next_due(&self.tables)?;
        effects.has_pending_steps = !self.tables.pending_steps.is_empty()?;
        effects.queued_types.sort_unstable();
        effects.queued_types.dedup();
        Ok(())
    }

    /// The tables, to look at.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What has been counted since the engine was opened.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The engine's clock: Unix milliseconds of the last batch, or of the pin.
    pub fn now_ms(&self) -> i64 {
        self.meta.now_ms
    }

    /// Whether the clock is pinned.
    pub fn clock_is_pinned(&self) -> bool {
        self.meta.pinned_ms.is_some()
    }

    /// The partition.
    pub fn partition_id(&self) -> PartitionId {
        self.options.partition_id
    }

    /// Position of the last command or record.
    pub fn position(&self) -> u64 {
        self.meta.position
    }

    /// Turns the making of records on or off. They take positions either way.
    pub fn want_records(&mut self, wanted: bool) {
        self.options.records = wanted;
    }

    /// Sets aside what was written since the last flush, to be written to disk elsewhere.
    pub fn freeze(&mut self, applied_index: u64) -> Result<Flush, StateError> {
        self.tables.freeze(applied_index)
    }

    /// Takes note of a flush that reached the disk. What comes back is best dropped on another thread.
    pub fn flushed(&mut self, outcome: Flushed) -> Result<Retired, StateError> {
        self.tables.flushed(outcome)
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown failure".to_owned())
}
