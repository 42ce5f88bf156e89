//! How much work commands may be: fuel, which expressions and decisions use up as they work.
//!
//! All expressions of a command share one budget. A command that has used it up yields after the step at work; what
//! is left goes on with a later batch. One step cannot be parted, so it has a limit of its own, the most that
//! anything may take: beyond that it ends in an incident. A batch grants that much once. A step that needs it when
//! another command of the batch has had it waits: all of the command's steps, or the one left over, are put off to
//! a later batch.
//!
//! Fuel is work, not time, and nothing here is state: a batch is metered the same way on every replica.

use std::cell::Cell;

use feel::{Budget, Environment};

use crate::core::known_json::KnownJson;
use crate::core::options::WorkLimits;

/// The least that a command is granted, as a part of its budget, however many came before it in the batch.
const LEAST_SHARE: u64 = 16;

/// Bytes that are written or stored for one unit of fuel.
const BYTES_PER_FUEL: u64 = 16;

/// Fuel left for the batch, the command and the step at work.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    batch_left: Cell<u64>,
    command_left: Cell<u64>,
    /// Bytes of records that are left to the batch and the command.
    batch_records_left: Cell<u64>,
    command_records_left: Cell<u64>,
    granted: Cell<u64>,
    left: Cell<u64>,
    /// Whether the step at work was granted all that a step may ever take.
    is_whole: Cell<bool>,
    /// Bytes of memory that evaluations of the step at work may still take.
    evaluation_left: Cell<u64>,
    /// Bytes of the values that the step at work may still make.
    bytes_left: Cell<usize>,
    ran_out: Cell<bool>,
    /// Documents that the step at work has read.
    known: KnownJson,
    /// Fuel used since the engine was opened.
    used: Cell<u64>,
}

impl Meter {
    pub fn begin_batch(&self, limits: &WorkLimits) {
        self.account();
        self.batch_left.set(limits.max_fuel_per_step);
        self.batch_records_left.set(limits.max_record_bytes_per_command);
    }

    /// Begins a command with its budget. The more the batch has used, the less its commands get.
    pub fn begin_command(&self, limits: &WorkLimits) {
        self.account();
        let (budget, step) = (limits.max_fuel_per_command, limits.max_fuel_per_step.max(1));
        let share = u128::from(budget) * u128::from(self.batch_left.get()) / u128::from(step);
        let share = u64::try_from(share).unwrap_or(budget);
        self.command_left.set(share.clamp(budget / LEAST_SHARE, budget));
        let records = limits.max_record_bytes_per_command;
        self.command_records_left.set(self.batch_records_left.get().max(records / LEAST_SHARE));
    }

    /// Grants the whole budget of a step, for work that cannot be put off.
    pub fn grant_whole(&self, limits: &WorkLimits) {
        self.grant(limits.max_fuel_per_step, limits);
    }

    /// Grants a share of the budget, for a step that can be put off.
    pub fn grant_share(&self, limits: &WorkLimits) {
        self.grant(self.command_left.get().max(self.batch_left.get()), limits);
    }

    fn grant(&self, fuel: u64, limits: &WorkLimits) {
        let fuel = fuel.min(limits.max_fuel_per_step);
        self.account();
        self.granted.set(fuel);
        self.left.set(fuel);
        self.bytes_left.set(limits.max_bytes_per_step);
        self.evaluation_left.set(limits.max_evaluation_bytes);
        self.known.clear();
        self.is_whole.set(fuel == limits.max_fuel_per_step);
        self.ran_out.set(false);
    }

    /// Takes what was used from the command and the batch.
    pub fn account(&self) {
        let used = self.granted.get() - self.left.get();
        self.granted.set(self.left.get());
        self.used.set(self.used.get() + used);
        self.batch_left.set(self.batch_left.get().saturating_sub(used));
        self.command_left.set(self.command_left.get().saturating_sub(used));
    }

    /// Whether the command at work has used up its budget of fuel or of records.
    pub fn is_spent(&self) -> bool {
        self.account();
        self.command_left.get() == 0 || self.command_records_left.get() == 0
    }

    /// Takes note of a record, whether it is made or not: what follows from the log must not depend on that.
    pub fn note_record(&self, bytes: u64) {
        for left in [&self.batch_records_left, &self.command_records_left] {
            left.set(left.get().saturating_sub(bytes));
        }
    }

    /// Fuel that the step at work has left.
    pub fn fuel_left(&self) -> u64 {
        self.left.get()
    }

    /// Budget of the next expression.
    pub fn budget(&self, environment: &Environment) -> Budget {
        Budget { fuel: self.left.get(), bytes: self.evaluation_left.get(), ..Budget::new(environment) }
    }

    /// Takes note of what an expression has left.
    pub fn note(&self, budget: &Budget) {
        debug_assert!(budget.fuel <= self.left.get(), "an evaluation cannot make fuel");
        self.left.set(budget.fuel);
        self.evaluation_left.set(budget.bytes);
        if budget.fuel == 0 {
            self.ran_out.set(true);
        }
    }

    /// Bytes that the step at work may still make.
    pub fn bytes_left(&self) -> usize {
        self.bytes_left.get()
    }

    /// Takes note of a value that was made.
    pub fn note_bytes(&self, bytes: usize) {
        self.bytes_left.set(self.bytes_left.get().saturating_sub(bytes));
        self.note_work(bytes);
    }

    /// Documents that the step at work has read.
    pub fn known(&self) -> &KnownJson {
        &self.known
    }

    /// Charges fuel for bytes that were moved.
    pub fn note_work(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes as u64 / BYTES_PER_FUEL));
        if self.left.get() == 0 {
            self.ran_out.set(true);
        }
    }

    /// The limit that the expressions of a step have reached, if they have: that of fuel or that of memory.
    pub fn reached_limit(&self, work: &WorkLimits) -> Option<String> {
        if self.is_out_of_memory() {
            let limit = work.max_evaluation_bytes;
            return Some(format!(
                "the values of the expressions of this step take more than {limit} bytes of memory (limits.max_evaluation_bytes)"
            ));
        }
        let limit = work.max_fuel_per_step;
        self.is_exhausted().then(|| {
            format!(
                "the expressions of this step take more than {limit} units of fuel (limits.max_fuel_per_step)"
            )
        })
    }

    /// Whether the evaluations of the step at work took all the memory that they may. Another batch has no more for
    /// them.
    pub fn is_out_of_memory(&self) -> bool {
        self.evaluation_left.get() == 0
    }

    /// Whether the step at work took more than it was granted, and that was all that a step may take.
    pub fn is_exhausted(&self) -> bool {
        self.ran_out.get() && self.is_whole.get()
    }

    /// Whether the step at work may have what it needs in another batch.
    pub fn is_short(&self) -> bool {
        self.ran_out.get() && !self.is_whole.get()
    }

    /// Whether the step at work has used as much as a command may.
    pub fn is_heavy(&self, limits: &WorkLimits) -> bool {
        self.granted.get() - self.left.get() >= limits.max_fuel_per_command
    }

    /// Fuel used since the engine was opened.
    pub fn used(&self) -> u64 {
        self.account();
        self.used.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: WorkLimits = WorkLimits {
        max_fuel_per_step: 1000,
        max_fuel_per_command: 160,
        max_bytes_per_step: 10_000,
        max_evaluation_bytes: 1_000_000,
        max_variable_bytes: 1000,
        max_collection_bytes: 1000,
        max_instance_variable_bytes: 10_000,
        max_record_bytes_per_command: 1600,
        max_entries_per_command: 100,
        max_scope_variables: 100,
    };

    fn spend(meter: &Meter, fuel: u64) {
        let budget = meter.budget(&Environment::default());
        meter.note(&Budget { fuel: budget.fuel.saturating_sub(fuel), ..budget });
    }

    #[test]
    fn a_command_yields_after_its_records_and_each_has_a_share() {
        let (meter, limits) = (Meter::default(), LIMITS);
        meter.begin_batch(&limits);
        meter.begin_command(&limits);
        meter.note_record(1599);
        assert!(!meter.is_spent());
        meter.note_record(500);
        assert!(meter.is_spent());
        meter.begin_command(&limits);
        assert!(!meter.is_spent(), "the least");
        meter.note_record(100);
        assert!(meter.is_spent());
        meter.begin_batch(&limits);
        meter.begin_command(&limits);
        meter.note_record(1000);
        assert!(!meter.is_spent());
    }

    #[test]
    fn a_batch_grants_the_most_once_and_each_command_a_share() {
        let (meter, limits) = (Meter::default(), LIMITS);
        meter.begin_batch(&limits);
        meter.begin_command(&limits);
        meter.grant_share(&limits);
        spend(&meter, 900);
        assert!(meter.is_spent() && !meter.is_short());
        meter.begin_command(&limits);
        meter.grant_share(&limits);
        assert_eq!(meter.budget(&Environment::default()).fuel, 100, "what the batch has left");
        spend(&meter, 101);
        assert!(meter.is_short() && !meter.is_exhausted(), "it waits for its turn");
        meter.begin_command(&limits);
        meter.grant_share(&limits);
        assert_eq!(meter.budget(&Environment::default()).fuel, 10, "the least");
        spend(&meter, 5);
        assert!(!meter.is_spent());
        meter.grant_whole(&limits);
        spend(&meter, 1001);
        assert!(meter.is_exhausted());
        meter.grant_whole(&limits);
        meter.note_bytes(9000);
        meter.note_work(9000);
        assert_eq!((meter.bytes_left(), meter.is_exhausted()), (1000, true));
        assert_eq!(meter.used(), 900 + 100 + 5 + 1000 + 1000);
    }
}
