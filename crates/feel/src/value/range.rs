//! Ranges.

use super::{Extent, Value};
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
    /// Whether a value lies within; `None` if it cannot be compared with an end.
    pub fn contains(&self, value: &Value) -> Option<bool> {
        if value.is_null() {
            return None;
        }
        let inside = |end: &Value, beyond: Ordering, included: bool| {
            if end.is_null() {
                return Some(true);
            }
            let order = compare::order(value, end)?;
            Some(order == beyond || (included && order.is_eq()))
        };
        let above = inside(&self.start, Ordering::Greater, self.start_included)?;
        let below = inside(&self.end, Ordering::Less, self.end_included)?;
        Some(above && below)
    }

    pub(crate) fn extent(&self) -> Extent {
        // It is written as null.
        Extent {
            json_bytes: 4,
            json_depth: 0,
            ..Extent::around([self.start.extent(), self.end.extent()].into_iter())
        }
    }
}
