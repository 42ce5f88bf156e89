//! Ranges.

use super::Value;
use crate::evaluate::compare;
use std::cmp::Ordering;

/// A range between two points; an open end beyond all values is null.
#[derive(Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub start: Value,
    /// Whether the lower end belongs to the range.
    pub start_included: bool,
    /// The upper end.
    pub end: Value,
    /// Whether the upper end belongs to the range.
    pub end_included: bool,
}

impl Range {
    /// Whether a value lies within; `None` if it cannot be compared with the ends.
    pub fn contains(&self, value: &Value) -> Option<bool> {
        let above = match (&self.start, compare::order(value, &self.start)) {
            (Value::Null, _) => true,
            (_, ordering) => match ordering? {
                Ordering::Greater => true,
                Ordering::Equal => self.start_included,
                Ordering::Less => false,
            },
        };
        let below = match (&self.end, compare::order(value, &self.end)) {
            (Value::Null, _) => true,
            (_, ordering) => match ordering? {
                Ordering::Less => true,
                Ordering::Equal => self.end_included,
                Ordering::Greater => false,
            },
        };
        Some(above && below)
    }

    pub(super) fn depth(&self) -> u16 {
        self.start.depth().max(self.end.depth()).saturating_add(1)
    }
}
