//! Upper bounds of every batch, for any model. All figures follow from the limits of commands.

use allocation_counter::measure;
use engine::{Effects, Engine, Options, WorkLimit};
use protocol::{Batch, Command, RecordValue};

/// Bytes that are written or stored for one unit of fuel.
const BYTES_PER_FUEL: u64 = 16;
/// Bytes of memory for one unit of fuel: a small value in a growing list or context.
const MEMORY_PER_FUEL: u64 = 128;
/// Rows of one step, without values: a slice of children, for example.
const STATE_PER_STEP: u64 = 32 * 1024;
/// Bytes of state for one row that a record tells of: one step may copy many variables.
const STATE_PER_RECORD: u64 = 256;
/// Memory for one step, its rows and its records.
const MEMORY_PER_STEP: u64 = 64 * 1024;
/// Memory for one record in a growing list.
const MEMORY_PER_RECORD: u64 = 2 * 1024;
/// Records of one step: of the activation of an element, its events, its mappings, its children and its end.
const RECORDS_PER_STEP: u64 = 400;
/// A command goes on in the next batch after so many records.
const RECORDS_PER_COMMAND: u64 = 4096;
/// Bytes of one record, without values: names and messages, which have limits of their own.
const BYTES_PER_RECORD: u64 = 8 * 1024;
/// Most writes of a computed value or of a value of a command: into the state, the answer, records.
const COPIES: u64 = 8;
/// Bytes of memory for each byte of a model that is read, or read again after a restart.
const MEMORY_PER_MODEL_BYTE: u64 = 20;
/// Constant memory of a batch.
const MEMORY_BASE: u64 = 256 * 1024;

/// Consumption of one batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// Commands and demands.
    pub commands: u64,
    /// Commands that trigger due work.
    pub ticks: u64,
    /// Bytes of the batch, as they are in the log.
    pub input_bytes: u64,
    /// Bytes of all models deployed so far.
    pub model_bytes: u64,
    /// Whether models are being deleted, which is recorded with all of them, now or when the last instance ends.
    pub deletes: bool,
    /// Fuel.
    pub fuel: u64,
    /// Steps.
    pub steps: u64,
    /// Decisions that were evaluated.
    pub decisions: u64,
    /// Commands that migrate or modify an instance as a whole.
    pub migrations: u64,
    /// Jobs that were handed to workers.
    pub delivered_jobs: u64,
    /// Bytes of their variables.
    pub delivered_bytes: u64,
    /// Records.
    pub records: u64,
    /// Bytes of records, encoded.
    pub record_bytes: u64,
    /// Bytes by which the state in memory has grown.
    pub state_bytes: u64,
    /// Bytes of memory at the peak, less what there was before.
    pub peak_bytes: u64,
}

/// Checks batches against their upper bounds.
#[derive(Debug, Clone)]
pub struct Bounds {
    options: Options,
    /// Bytes of all models deployed so far.
    model_bytes: u64,
    deletes: bool,
}

impl Bounds {
    /// Bounds of an engine with these options.
    pub fn new(options: &Options) -> Self {
        Self { options: options.clone(), model_bytes: 0, deletes: false }
    }

    /// Applies a batch.
    ///
    /// # Panics
    ///
    /// If it exceeds a bound, or if an incident or a refusal does not name the limit that caused it.
    pub fn apply(&mut self, engine: &mut Engine, batch: &Batch, effects: &mut Effects) -> Taken {
        for command in &batch.commands {
            if let Command::Deploy(deploy) = command.asked() {
                self.model_bytes +=
                    deploy.resources.iter().map(|file| file.content.len() as u64).sum::<u64>();
            }
            self.deletes |= matches!(command.asked(), Command::DeleteResource(_));
        }
        let decisions =
            |engine: &Engine| engine.counters().decisions_evaluated + engine.counters().decisions_failed;
        let (fuel, steps, state) =
            (engine.fuel_used(), engine.counters().steps, engine.tables().overlay_bytes());
        let decisions_before = decisions(engine);
        let memory = measure(|| engine.apply(batch, effects).expect("a state in memory"));
        let taken = Taken {
            commands: (batch.commands.len() + batch.demand.len()) as u64,
            ticks: batch.commands.iter().filter(|command| matches!(command, Command::Tick)).count() as u64,
            input_bytes: batch.commands.iter().map(|command| command.encoded_bytes() as u64).sum(),
            model_bytes: self.model_bytes,
            deletes: self.deletes,
            fuel: engine.fuel_used() - fuel,
            steps: engine.counters().steps - steps,
            decisions: decisions(engine) - decisions_before,
            migrations: batch.commands.iter().filter(|command| is_migration(command.asked())).count() as u64,
            delivered_jobs: effects.deliveries.iter().map(|delivery| delivery.jobs.len() as u64).sum(),
            delivered_bytes: delivered(effects),
            records: effects.records.len() as u64,
            record_bytes: encoded(effects),
            state_bytes: engine.tables().overlay_bytes().saturating_sub(state) as u64,
            peak_bytes: memory.bytes_max,
        };
        if let Err(excess) = self.check(&taken).and_then(|()| self.check_messages(effects)) {
            panic!("{excess}, by {batch:?}");
        }
        taken
    }

    fn check_messages(&self, effects: &Effects) -> Result<(), String> {
        let incidents = effects.records.iter().filter_map(|record| {
            let RecordValue::Incident(incident) = &record.value else { return None };
            Some(&*incident.error_message)
        });
        let refusals = effects.responses.iter().filter_map(|response| match response {
            Some(Err(rejection)) => Some(&*rejection.reason),
            _ => None,
        });
        incidents.chain(refusals).try_for_each(|message| self.check_message(message))
    }

    /// Upper bounds of a batch. Its fuel and steps, which have limits, bound its bytes.
    fn most(&self, taken: &Taken) -> Taken {
        let Options { work, max_steps_per_command, max_due_per_tick, max_rows_per_migration, .. } =
            &self.options;
        let commands = taken.commands.max(1);
        // The steps of one timer of a tick may be deferred: they are run and undone.
        let steps = commands * (2 * *max_steps_per_command as u64 + 1);
        // A tick triggers three kinds of due work, and queues ten times as many timers.
        let parts = taken.steps
            + commands
            + taken.ticks * (3 + 10) * *max_due_per_tick as u64
            + taken.migrations * *max_rows_per_migration as u64
            + taken.delivered_jobs;
        let models = if taken.deletes { taken.model_bytes } else { 0 };
        // The record of a decision has values that are not stored.
        let values = COPIES
            * (taken.fuel * BYTES_PER_FUEL + taken.input_bytes + models + taken.delivered_bytes)
            + taken.decisions * (work.max_variable_bytes as u64 + STATE_PER_STEP);
        Taken {
            // A command may use its budget and one step more.
            fuel: commands * (work.max_fuel_per_command + work.max_fuel_per_step),
            steps,
            // Each variable that a command brings has one, too, and a step may hand on all variables of a scope.
            records: parts * RECORDS_PER_STEP
                + taken.input_bytes
                + commands * (RECORDS_PER_COMMAND + work.max_scope_variables as u64),
            // An expiry writes the record once more, whichever command has paid for it.
            record_bytes: taken.records * BYTES_PER_RECORD
                + values
                + commands * work.max_record_bytes_per_command,
            state_bytes: parts * STATE_PER_STEP + taken.records * STATE_PER_RECORD + values,
            peak_bytes: MEMORY_BASE
                + parts * MEMORY_PER_STEP
                + taken.records * MEMORY_PER_RECORD
                + taken.fuel * MEMORY_PER_FUEL
                + 2 * values
                + MEMORY_PER_MODEL_BYTE * taken.model_bytes,
            ..*taken
        }
    }

    /// Names the bounds that a batch has exceeded.
    fn check(&self, taken: &Taken) -> Result<(), String> {
        let most = self.most(taken);
        let figures = [
            ("units of fuel", taken.fuel, most.fuel),
            ("steps", taken.steps, most.steps),
            ("records", taken.records, most.records),
            ("bytes of records", taken.record_bytes, most.record_bytes),
            ("bytes of state", taken.state_bytes, most.state_bytes),
            ("bytes of memory", taken.peak_bytes, most.peak_bytes),
        ];
        match figures.iter().find(|(_, taken, most)| taken > most) {
            Some((what, figure, most)) => Err(format!("{figure} {what}, of {most} at most: {taken:?}")),
            None => Ok(()),
        }
    }

    /// Checks the message of an incident or a refusal: if a limit caused it, it names the setting and its figure.
    fn check_message(&self, message: &str) -> Result<(), String> {
        if message.chars().count() >= self.options.max_error_message_chars {
            return Ok(());
        }
        let work = &self.options.work;
        let figures = WorkLimit::ALL.iter().map(|limit| (limit.setting(), limit.figure(work))).chain([
            ("limits.max_message_bytes", self.options.max_delivery_bytes as u64),
            // Bounds of the language, which have no setting.
            ("the limit is 500 levels and a weight of", 12_000_000),
        ]);
        let named: Vec<_> = figures.filter(|(name, _)| message.contains(name)).collect();
        if let Some((name, figure)) = named.iter().find(|(_, figure)| !message.contains(&figure.to_string()))
        {
            return Err(format!("{name} without its figure {figure}: {message}"));
        }
        let tells_of_a_limit = ["units of fuel", "larger than", "too large", "too much"];
        match tells_of_a_limit.iter().find(|words| message.contains(*words)) {
            Some(words) if named.is_empty() => {
                Err(format!("'{words}' without the name of the limit: {message}"))
            }
            _ => Ok(()),
        }
    }
}

fn is_migration(command: &Command) -> bool {
    matches!(command, Command::MigrateInstance(_) | Command::ModifyInstance(_))
}

/// Bytes of the records, as they are handed on.
fn encoded(effects: &Effects) -> u64 {
    let mut count = Count(0);
    for record in &effects.records {
        minicbor::encode(record, &mut count).expect("counting does not fail");
    }
    count.0
}

/// Bytes of the variables of jobs that were handed to workers.
fn delivered(effects: &Effects) -> u64 {
    let jobs = effects.deliveries.iter().flat_map(|delivery| &delivery.jobs);
    jobs.map(|job| job.variables.json_len() as u64).sum()
}

struct Count(u64);

impl minicbor::encode::Write for Count {
    type Error = std::convert::Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0 += bytes.len() as u64;
        Ok(())
    }
}
