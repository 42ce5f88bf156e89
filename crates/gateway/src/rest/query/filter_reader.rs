//! Counts and reads the conditions of one filter.

use super::super::operators::{self, ValueKind};
use super::super::problem::Failure;
use crate::rest::limits::{CONDITIONS_MAX, VALUES_MAX};
use search::Test;
use search::model::{Entity, Kind};
use serde_json::Value;

/// Reads conditions and counts them.
pub(super) struct FilterReader {
    pub(super) entity: &'static Entity,
    pub(super) count: usize,
    /// Conditions that say something about a row.
    pub(super) tests: usize,
    pub(super) values: usize,
}

impl FilterReader {
    /// One that has read nothing yet.
    pub(super) const fn new(entity: &'static Entity) -> Self {
        Self { entity, count: 0, tests: 0, values: 0 }
    }

    /// Whether it has read no condition but empty alternatives.
    pub(super) const fn is_empty(&self) -> bool {
        self.tests == 0
    }

    pub(super) fn count(&mut self, conditions: usize) -> Result<(), Failure> {
        self.count += conditions;
        if self.count <= CONDITIONS_MAX {
            return Ok(());
        }
        Err(operators::too_many_conditions())
    }

    /// Expected value of a kind.
    pub(super) fn tests(&mut self, path: &str, value: &Value, kind: Kind) -> Result<Vec<Test>, Failure> {
        let kind = match kind {
            Kind::Key => ValueKind::Key,
            Kind::Integer => ValueKind::Integer,
            Kind::Time => ValueKind::Date,
            Kind::Flag => ValueKind::Flag,
            Kind::Text | Kind::List | Kind::Json => ValueKind::Text,
        };
        let mut tests = operators::tests(path, value, kind)?;
        if matches!(kind, ValueKind::Flag) {
            // Some flags count what makes them true.
            for test in &mut tests {
                if *test == Test::Equal(search::Operand::Integer(1)) {
                    *test = Test::Greater(search::Operand::Integer(0));
                }
            }
        }
        for test in &tests {
            if let Test::In(list) | Test::NotIn(list) = test {
                self.values += list.len();
            }
        }
        if self.values > VALUES_MAX {
            return Err(Failure::invalid(format!(
                "{path}: with it, the filter has more than {VALUES_MAX} values in lists"
            )));
        }
        self.tests += tests.len();
        self.count(tests.len())?;
        Ok(tests)
    }
}
