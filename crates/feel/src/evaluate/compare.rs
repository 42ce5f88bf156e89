//! Equality and order of values (DMN 1.5 §10.3.2.13 and tables 51 to 53).

use crate::dialect::Dialect;
use crate::temporal::NANOS_PER_SECOND;
use crate::value::{Context, List, Value};
use std::cmp::Ordering;

/// Whether two values are equal as Camunda sees it; `None` if their types cannot be compared.
pub(crate) fn equals(left: &Value, right: &Value) -> Option<bool> {
    Equality { dialect: Dialect::Camunda }.holds(left, right)
}

/// Rules of equality in a dialect.
pub(crate) struct Equality {
    pub(crate) dialect: Dialect,
}

impl Equality {
    /// Recursion is bounded by the depth of values.
    pub(crate) fn holds(&self, left: &Value, right: &Value) -> Option<bool> {
        let standard = self.dialect == Dialect::Standard;
        Some(match (left, right) {
            (Value::Null, Value::Null) => true,
            (Value::Null, _) | (_, Value::Null) => false,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => left == right,
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Date(left), Value::Date(right)) => left == right,
            (Value::Time(left), Value::Time(right)) => {
                let order = left.compare(right)?;
                if standard {
                    whole_seconds(left.utc_nanos()) == whole_seconds(right.utc_nanos())
                } else {
                    order.is_eq() && left.offset_seconds() == right.offset_seconds()
                }
            }
            (Value::DateTime(left), Value::DateTime(right)) => {
                left.compare(right)?;
                if standard {
                    whole_seconds(left.epoch_nanos()) == whole_seconds(right.epoch_nanos())
                } else {
                    left.is_same(right)
                }
            }
            (Value::Duration(left), Value::Duration(right)) => left == right,
            (Value::Period(left), Value::Period(right)) => left == right,
            (Value::List(left), Value::List(right)) => self.lists(left, right),
            (Value::Context(left), Value::Context(right)) => self.contexts(left, right),
            (Value::Range(left), Value::Range(right)) => {
                left.start_included == right.start_included
                    && left.end_included == right.end_included
                    && self.holds(&left.start, &right.start) == Some(true)
                    && self.holds(&left.end, &right.end) == Some(true)
            }
            _ => return None,
        })
    }

    fn lists(&self, left: &List, right: &List) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| self.holds(left, right) == Some(true))
    }

    fn contexts(&self, left: &Context, right: &Context) -> bool {
        left.len() == right.len()
            && left.iter().all(|(key, value)| {
                right.get(key).is_some_and(|other| self.holds(value, &other) == Some(true))
            })
    }
}

/// The standard compares the properties of times, and those end with seconds (DMN 1.5 table 53).
fn whole_seconds(nanos: i128) -> i128 {
    nanos.div_euclid(i128::from(NANOS_PER_SECOND))
}

/// How two values are ordered; `None` if their types have no order.
pub(crate) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => Some(order_texts(left, right)),
        (Value::Date(left), Value::Date(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => left.compare(right),
        (Value::DateTime(left), Value::DateTime(right)) => left.compare(right),
        (Value::Duration(left), Value::Duration(right)) => Some(left.cmp(right)),
        (Value::Period(left), Value::Period(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// Bytes of texts that are compared at once.
const BLOCK: usize = 64;

/// Compares UTF-16 code units; only characters beyond the basic plane differ from bytes. Stops at the first
/// difference.
fn order_texts(left: &str, right: &str) -> Ordering {
    let blocks = left.as_bytes().chunks(BLOCK).zip(right.as_bytes().chunks(BLOCK));
    let mut start = BLOCK * blocks.take_while(|(left, right)| left == right).count();
    start = start.min(left.len()).min(right.len());
    while !(left.is_char_boundary(start) && right.is_char_boundary(start)) {
        start -= 1;
    }
    left[start..].encode_utf16().cmp(right[start..].encode_utf16())
}

/// Same value: numbers by value, temporal values of one kind with the same reading and zone,
/// lists and contexts by content. Functions are never the same.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Range(left), Self::Range(right)) => left == right,
            _ => equals(self, other) == Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_ordered_by_their_units_wherever_they_differ() {
        for length in [0, 1, 62, 63, 64, 65, 127, 128] {
            for (left, right) in
                [("a", "b"), ("é", "ê"), ("\u{ffff}", "😀"), ("😀", "😁"), ("", "x"), ("é", "e")]
            {
                let (left, right) = ("é".repeat(length) + left, "é".repeat(length) + right + "tail");
                let expected = left.encode_utf16().cmp(right.encode_utf16());
                assert_eq!(order_texts(&left, &right), expected, "{left} {right}");
                assert_eq!(order_texts(&right, &left), expected.reverse());
            }
        }
        assert_eq!(order_texts("same", "same"), Ordering::Equal);
    }
}
