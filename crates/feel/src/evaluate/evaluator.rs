//! The evaluator: the bound names, the root variables read so far, the warnings, and the remaining budget of one
//! evaluation.

use crate::diagnostics::{Warning, WarningKind};
use crate::dialect::Dialect;
use crate::environment::{Budget, Environment, Variables};
use crate::program::Program;
use crate::value::Value;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Ends an evaluation without a result.
#[derive(Debug)]
pub(crate) enum Fatal {
    /// An `assert` did not hold.
    Assertion(Box<str>),
    Failure(Box<str>),
}

impl Fatal {
    pub(crate) fn new(message: impl Into<Box<str>>) -> Self {
        Self::Failure(message.into())
    }
}

pub(crate) type Eval<T> = Result<T, Fatal>;

/// A level of the scope.
pub(super) enum Frame {
    Binding(Arc<str>, Value),
    /// The item of a filter: its entries, and itself as `item`.
    Item(Value),
}

/// A root variable: not read yet, or the cached value.
pub(super) type Slot = Option<Option<Value>>;

/// State of one evaluation.
pub(crate) struct Evaluator<'a> {
    pub(super) variables: &'a dyn Variables,
    pub(crate) environment: &'a Environment,
    pub(super) input: Option<Value>,
    pub(super) frames: Vec<Frame>,
    /// Start of the frames of the current function; the frames below are its callers'.
    pub(super) base: usize,
    /// Root variables of the current program.
    pub(super) slots: SmallVec<[Slot; 4]>,
    /// The program that the slots belong to, to tell it from others.
    pub(super) program: *const Program,
    pub(super) warnings: Vec<Warning>,
    pub(super) fuel: u64,
    pub(super) bytes: u64,
    pub(super) depth: u32,
    pub(super) random: u64,
    /// Regular expressions used so far: each is paid for once.
    patterns: BTreeSet<Box<str>>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        variables: &'a dyn Variables,
        environment: &'a Environment,
        input: Option<Value>,
    ) -> Self {
        let Budget { fuel, bytes, depth, random } = Budget::new(environment);
        Self {
            variables,
            environment,
            input,
            frames: Vec::new(),
            base: 0,
            slots: SmallVec::new(),
            program: std::ptr::null(),
            warnings: Vec::new(),
            fuel,
            bytes,
            depth,
            random,
            patterns: BTreeSet::new(),
        }
    }

    /// Continues with the remainder of a budget.
    pub(crate) fn within(mut self, budget: &Budget) -> Self {
        self.go_on(budget);
        self.depth = budget.depth;
        self
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget { fuel: self.fuel, bytes: self.bytes, depth: self.depth, random: self.random }
    }

    /// Continues with the budget that a nested evaluation has left.
    pub(super) fn go_on(&mut self, left: &Budget) {
        (self.fuel, self.bytes, self.random) = (left.fuel, left.bytes, left.random);
    }

    /// Records a warning; the message is only made while there is room.
    pub(crate) fn warn(&mut self, kind: WarningKind, message: impl FnOnce() -> String) {
        if self.warnings.len() < self.environment.limits.warnings {
            self.warnings.push(Warning { kind, message: message() });
        }
    }

    pub(crate) fn null(&mut self, kind: WarningKind, message: impl FnOnce() -> String) -> Value {
        self.warn(kind, message);
        Value::Null
    }

    pub(crate) fn is_standard(&self) -> bool {
        self.environment.dialect == Dialect::Standard
    }

    /// Whether arguments are taken that Camunda takes and the standard does not.
    pub(crate) fn is_lenient(&self) -> bool {
        self.environment.dialect == Dialect::Camunda
    }

    /// Takes steps from the fuel.
    pub(crate) fn spend(&mut self, steps: usize) -> Eval<()> {
        if let Some(left) = self.fuel.checked_sub(steps as u64) {
            self.fuel = left;
            Ok(())
        } else {
            self.fuel = 0;
            let limit = self.environment.limits.fuel;
            Err(Fatal::new(format!("the evaluation takes more than {limit} steps")))
        }
    }

    /// Takes the fuel for a regular expression at its first use. Whether it is cached must not count, since that
    /// differs between replicas.
    pub(crate) fn pay_for_pattern(&mut self, pattern: &str, steps: usize) -> Eval<()> {
        if self.patterns.contains(pattern) {
            return Ok(());
        }
        self.patterns.insert(Box::from(pattern));
        self.spend(steps)
    }

    /// The next number of the generator (`SplitMix64`).
    pub(crate) fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Goes down some levels of recursion; the caller takes them from the depth again.
    pub(super) fn enter(&mut self, levels: u32) -> Eval<()> {
        self.depth += levels;
        let limit = self.environment.limits.depth;
        if self.depth > limit {
            self.depth -= levels;
            return Err(Fatal::new(format!("the evaluation is nested deeper than {limit} levels")));
        }
        Ok(())
    }
}
