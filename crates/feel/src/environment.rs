//! Inputs of an evaluation: variables, clock, seed, limits, dialect.

use crate::dialect::Dialect;
use crate::temporal::{DateTime, Zone};
use crate::value::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Source of root variables. Each variable that an expression reads is requested once.
pub trait Variables {
    /// The value of a variable, or `None` without a variable of that name.
    fn get(&self, name: &str) -> Option<Value>;

    /// Whether functions keep the values of the variables that they read, because a call may happen where the same
    /// names have other values.
    fn is_captured(&self) -> bool {
        false
    }
}

/// No variables at all.
impl Variables for () {
    fn get(&self, _name: &str) -> Option<Value> {
        None
    }
}

impl Variables for BTreeMap<String, Value> {
    fn get(&self, name: &str) -> Option<Value> {
        Self::get(self, name).cloned()
    }
}

impl Variables for crate::value::Context {
    fn get(&self, name: &str) -> Option<Value> {
        Self::get(self, name)
    }
}

impl<V: Variables + ?Sized> Variables for Arc<V> {
    fn get(&self, name: &str) -> Option<Value> {
        (**self).get(name)
    }
}

/// Bounds of one evaluation. They count work, not time, so every replica ends alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps: one for each node evaluated, item produced, or eight bytes of text produced.
    pub fuel: u64,
    /// Bytes of memory of the created values, kept or not.
    pub bytes: u64,
    /// Nesting of node evaluations, function calls included.
    pub depth: u32,
    /// Warnings kept; further ones are dropped.
    pub warnings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // A million loop turns cost some four million steps; ten million take about a second at
        // worst. 400 levels of the largest frames take about a third of the two MiB stack of a
        // runtime thread.
        Self { fuel: 10_000_000, bytes: 256 << 20, depth: 400, warnings: 100 }
    }
}

/// Remainder of [`Limits`] in a computation of several expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps left.
    pub fuel: u64,
    /// Bytes left.
    pub bytes: u64,
    /// Levels of nesting already in use.
    pub depth: u32,
    /// State of the random number generator.
    pub random: u64,
}

impl Budget {
    /// The full budget of an environment.
    pub fn new(environment: &Environment) -> Self {
        let Limits { fuel, bytes, .. } = environment.limits;
        Self { fuel, bytes, depth: 0, random: environment.seed }
    }

    /// Whether steps or bytes are used up: no further evaluation is possible.
    pub fn is_spent(&self) -> bool {
        self.fuel == 0 || self.bytes == 0
    }
}

/// Types that the host defines, such as the item definitions of a decision model.
pub trait Types: fmt::Debug + Send + Sync {
    /// Whether a value is an instance of the type; an unknown type has none.
    fn is_instance(&self, type_name: &str, value: &Value) -> bool;
}

/// The environment of an evaluation; it reads nothing else.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The clock in milliseconds since 1970-01-01T00:00Z, read by `now()` and `today()`.
    pub now_ms: i64,
    /// The zone of `now()` and `today()`.
    pub zone: Zone,
    /// Seed of `random number()` and `uuid()`.
    pub seed: u64,
    /// Bounds.
    pub limits: Limits,
    /// The reading of FEEL.
    pub dialect: Dialect,
    /// Types for `instance of` beyond those of FEEL.
    pub types: Option<Arc<dyn Types>>,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            now_ms: 0,
            zone: Zone::UTC,
            seed: 0,
            limits: Limits::default(),
            dialect: Dialect::default(),
            types: None,
        }
    }
}

impl Environment {
    /// The clock as a date and time in the zone.
    pub(crate) fn now(&self) -> Option<DateTime> {
        DateTime::from_epoch_nanos(i128::from(self.now_ms) * 1_000_000, self.zone.clone())
    }
}
