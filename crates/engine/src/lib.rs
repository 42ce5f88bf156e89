//! The deterministic engine: committed batches of commands in, state and effects out.
//!
//! A batch enters at [`Engine::apply`]. `command` runs each command in a transaction on the tables of `entity` and
//! leaves [`core::step::Step`]s, which move element instances through their life (`process/lifecycle.rs`, with the
//! behavior of each kind of element in `process/element/`). Each command stands in the room that carries it out,
//! such as `job/complete_job.rs`. [`Effects`] are what a batch asks of the world.
//!
//! The engine never sees a clock, a socket, a file of its own or randomness: the same batches give the same state, the
//! same keys and the same records on every machine.

mod agent;
pub mod batch;
mod command;
pub mod core;
mod definition;
pub mod entity;
mod event;
pub mod identity;
mod job;
mod process;
mod query;
pub mod user_task;

use protocol::{
    Batch, ClusterChange, Command, ENGINE_VERSION, FIRST_ACTIVE_VERSION, PartitionId, Rejection, Response,
};
use state::{Flush, Flushed, Retired, StateError, Store};

pub use crate::core::counters::{Counters, ElementAction, JobAction};
pub use crate::core::effects::{Delivery, Effects, JobEnd, Latencies, Outcome};
pub use crate::core::failure::ApplyError;
pub use crate::core::options::{FaultPoint, LARGE_BYTES, Options, WorkLimit, WorkLimits};
pub use crate::core::outbox::OutboxStatus;
pub use command::gone::may_be_gone;
pub use entity::tables::{Tables, is_lasting};
pub use query::{Read, ReadError, Scan, View};

use crate::core::meter::Meter;
use crate::identity::access::rights::Rights;
use definition::Definitions;
use entity::{Meta, RowTotals};

/// The only row of the `meta` table.
const META: u8 = 0;

/// The state machine of one partition.
pub struct Engine {
    /// On the heap: they have some 100 kB, which futures would hold several times.
    tables: Box<Tables>,
    meta: Meta,
    definitions: Definitions,
    counters: Counters,
    rights: Rights,
    meter: Meter,
    options: Options,
    /// Version that the batch at work asks for.
    version: u16,
}

impl Engine {
    /// Opens the state of a partition as of its last flush. Settings in the state win over the options.
    pub fn open(store: &Store, options: Options) -> Result<Self, StateError> {
        let tables = Box::new(Tables::open(store)?);
        let meta = tables.meta.get(&META)?.map(|meta| *meta).unwrap_or_default();
        let definitions = Definitions::new(&options);
        let (counters, rights) = (Counters::default(), Rights::default());
        let meter = Meter::default();
        let mut engine = Self {
            tables,
            meta,
            definitions,
            counters,
            rights,
            meter,
            options,
            version: FIRST_ACTIVE_VERSION,
        };
        engine.load_settings()?;
        Ok(engine)
    }

    /// Applies one committed batch. An error means that state can be neither read nor written: the replica must stop.
    pub fn apply(&mut self, batch: &Batch, effects: &mut Effects) -> Result<(), ApplyError> {
        if batch.engine_version > ENGINE_VERSION {
            return Err(ApplyError::UnknownVersion(batch.engine_version));
        }
        self.version = batch.engine_version;
        self.meta.wall_ms = self.meta.wall_ms.max(batch.timestamp_ms);
        self.meta.set_now();
        let late = effects.late_responses.len();
        self.meter.begin_batch(&self.options.work);
        for command in &batch.commands {
            self.meta.position += 1;
            self.meter.begin_command(&self.options.work);
            let response = self.apply_command(command, effects)?;
            effects.responses.push(response);
        }
        self.meter.begin_command(&self.options.work);
        for demand in &batch.demand {
            self.meet_demand(demand, effects)?;
        }
        self.keep_late_answers(effects, late)?;
        self.finish(effects)
    }

    /// Commands that change the engine itself have a transaction of their own, or several.
    fn apply_command(
        &mut self,
        command: &Command,
        effects: &mut Effects,
    ) -> Result<Option<Outcome>, ApplyError> {
        match command {
            Command::Tick => self.tick(effects),
            Command::Continue { max_records } => self.go_on(*max_records, effects),
            Command::ActivateVersion { version } => Ok(Some(self.activate_version(*version)?)),
            Command::Configure { settings } => Ok(Some(Ok(self.configure(settings)))),
            Command::Purge { after } => Ok(Some(self.purge(*after, effects)?)),
            Command::Receive(parcel) => self.receive(parcel, effects),
            Command::EndChange(change_id) => Ok(Some(Ok(self.end_change(*change_id)))),
            Command::Idempotent { by, command } => self.run_once(by, command, effects),
            Command::Deploy(_)
            | Command::DeleteResource(_)
            | Command::DeleteHistory(_)
            | Command::CreateInstance(_)
            | Command::CancelInstance { .. }
            | Command::SuspendInstance { .. }
            | Command::ResumeInstance { .. }
            | Command::AssignBusinessId { .. }
            | Command::CreateAgentInstance(_)
            | Command::UpdateAgentInstance(_)
            | Command::CompleteJob(_)
            | Command::FailJob(_)
            | Command::ThrowError(_)
            | Command::UpdateJob(_)
            | Command::YieldJobs { .. }
            | Command::PublishMessage(_)
            | Command::CorrelateMessage(_)
            | Command::ResolveIncident { .. }
            | Command::SetVariables(_)
            | Command::Clock(_)
            | Command::AcknowledgeExport { .. }
            | Command::AcknowledgeMessages { .. }
            | Command::ParkRecord(_)
            | Command::UnparkRecords { .. }
            | Command::BroadcastSignal(_)
            | Command::EvaluateConditionals(_)
            | Command::Unban { .. }
            | Command::ForgetExporter { .. }
            | Command::ActivateAdHoc(_)
            | Command::MigrateInstance(_)
            | Command::CreateBatchOperation(_)
            | Command::ChangeBatchOperation { .. }
            | Command::ResolveInstanceIncidents { .. }
            | Command::AddBatchItems(_)
            | Command::ModifyInstance(_)
            | Command::EvaluateDecision(_)
            | Command::UserTask(_)
            | Command::GlobalListener(_)
            | Command::ClusterVariable(_)
            | Command::Identity(_)
            | Command::Asked { .. } => self.run(command, effects),
        }
    }

    fn finish(&mut self, effects: &mut Effects) -> Result<(), ApplyError> {
        self.tables.begin();
        self.tables.meta.put(META, self.meta);
        self.tables.commit();
        effects.next_due_ms = self.next_due_ms()?;
        effects.has_pending_steps = self.has_pending_steps()?;
        effects.outbox.sort_unstable();
        effects.outbox.dedup();
        effects.queued_types.sort_unstable();
        effects.queued_types.dedup();
        let tables = &self.tables;
        let mut failed = None;
        effects.queued_types.retain(|job_type| {
            job::is_queued(tables, job_type).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                false
            })
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        Ok(())
    }

    /// Time at which a tick next has something to do, Unix milliseconds. `None` if there is nothing.
    pub fn next_due_ms(&self) -> Result<Option<i64>, StateError> {
        crate::core::due::next_ms(&self.tables, self.meta.now_ms)
    }

    /// Whether steps are left over for the next batch.
    pub fn has_pending_steps(&self) -> Result<bool, StateError> {
        Ok(!self.tables.pending_steps.is_empty()?)
    }

    /// The tables, to look at.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Counters since the engine was opened.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Fuel that expressions and decisions have used since the engine was opened.
    pub fn fuel_used(&self) -> u64 {
        self.meter.used()
    }

    /// The engine's clock: Unix milliseconds of the last batch, or of the pin.
    pub fn now_ms(&self) -> i64 {
        self.meta.now_ms
    }

    /// Whether the clock is pinned.
    pub fn clock_is_pinned(&self) -> bool {
        self.meta.pinned_ms.is_some()
    }

    /// Milliseconds by which the clock is ahead of the log's while it is not pinned.
    pub fn clock_offset_ms(&self) -> i64 {
        self.meta.offset_ms
    }

    /// Drops cached results and models.
    fn forget_known(&mut self) {
        self.definitions = Definitions::new(&self.options);
        self.rights = Rights::default();
    }

    /// The latest change of the cluster as a whole.
    pub fn cluster_change(&self) -> Option<ClusterChange> {
        self.meta.change
    }

    /// How many parked records are kept.
    pub fn parked(&self) -> RowTotals {
        self.meta.parked.unwrap_or_default()
    }

    /// Version that new batches ask for.
    pub fn active_version(&self) -> u16 {
        self.meta.active_version.max(FIRST_ACTIVE_VERSION)
    }

    /// Activates a version, which new batches ask for. There is no way back: a replica that does not know it stops.
    fn activate_version(&mut self, version: u16) -> Result<Outcome, ApplyError> {
        if version > ENGINE_VERSION {
            return Err(ApplyError::UnknownVersion(version));
        }
        let active = self.active_version();
        if version < active {
            let reason =
                format!("Expected to activate version {version} of the engine, but {active} is active");
            return Ok(Err(Rejection::invalid_state(reason)));
        }
        self.meta.active_version = version;
        Ok(Ok(Response::Done))
    }

    /// Time of the latest batch, Unix milliseconds. It never goes back.
    pub fn log_time_ms(&self) -> i64 {
        self.meta.wall_ms
    }

    /// Number of the partition.
    pub fn partition_id(&self) -> PartitionId {
        self.options.partition_id
    }

    /// Position of the last command or record.
    pub fn position(&self) -> u64 {
        self.meta.position
    }

    /// A hash of the counters of the state, and of the number of rows of each table if wanted, which costs more. It is
    /// equal on all replicas after the same batch.
    pub fn digest(&self, with_rows: bool) -> Result<u64, StateError> {
        let mut bytes = Vec::with_capacity(1024);
        minicbor::encode(self.meta, &mut bytes).expect("encoding to memory does not fail");
        if with_rows {
            bytes.extend(self.tables.exact_row_counts()?.into_iter().flat_map(u64::to_le_bytes));
        }
        Ok(xxhash_rust::xxh3::xxh3_64(&bytes))
    }

    /// Position of the last change to grants.
    pub fn grants_version(&self) -> u64 {
        self.meta.grants_version.unwrap_or_default()
    }

    /// Turns the making of records on or off. They take positions either way.
    pub fn want_records(&mut self, wanted: bool) {
        self.options.records = wanted;
    }

    /// Sets aside what was written since the last flush, to be written to disk elsewhere.
    pub fn freeze(&mut self, applied_index: u64) -> Result<Flush, StateError> {
        self.tables.freeze(applied_index)
    }

    /// Takes note of a flush that reached the disk. The result is best dropped on another thread.
    pub fn flushed(&mut self, outcome: Flushed) -> Result<Retired, StateError> {
        self.tables.flushed(outcome)
    }
}
