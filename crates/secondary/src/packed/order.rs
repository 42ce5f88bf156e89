//! The order of rows, as SQL has it.

use std::cmp::Ordering;

use search::model::{Entity, ORDER_CHARS};
use search::{Sort, Value};

/// The values that a row is ordered by.
pub(crate) type Place = Vec<Value>;

/// Compares the places of two rows. Null is more than everything else.
pub(crate) fn compare(order: &[Sort], one: &[Value], other: &[Value]) -> Ordering {
    for ((one, other), sort) in one.iter().zip(other).zip(order) {
        let ordering = compare_values(one, other);
        if ordering != Ordering::Equal {
            return if sort.descending { ordering.reverse() } else { ordering };
        }
    }
    Ordering::Equal
}

fn compare_values(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Text(one), Value::Text(other)) => one.as_str().cmp(other.as_str()),
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) | (Value::Text(_), Value::Integer(_)) => Ordering::Greater,
        (_, Value::Null) | (Value::Integer(_), Value::Text(_)) => Ordering::Less,
    }
}

/// A value as an order sees it: of long texts, the beginning.
pub(crate) fn placed(entity: &Entity, sort: Sort, value: Value) -> Value {
    match value {
        Value::Text(text) if entity.is_cut(sort.column) => match text.char_indices().nth(ORDER_CHARS) {
            Some((end, _)) => Value::from(&text[..end]),
            None => Value::Text(text),
        },
        value => value,
    }
}
