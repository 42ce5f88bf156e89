//! The operators of filters: conditions on one property, read from JSON.

use protocol::Name;
use search::{Operand, Test};
use serde_json::Value;

use super::fields::parse_key;
use super::moment;
use super::problem::Failure;
use crate::rest::limits::{CONDITIONS_MAX, LIKE_CHARS_MAX, SORTS_MAX, VALUES_MAX};

/// How the values of a property are written.
#[derive(Clone, Copy)]
pub(super) enum ValueKind {
    Key,
    Text,
    Integer,
    Date,
    Flag,
}

/// Reads what a value must be: a plain one stands for itself, an object holds operators.
pub(super) fn tests(path: &str, value: &Value, kind: ValueKind) -> Result<Vec<Test>, Failure> {
    let Value::Object(operators) = value else {
        return Ok(vec![Test::Equal(operand(path, kind, value)?)]);
    };
    // The official Java client sends all lists that it has, empty ones too: those say nothing.
    let is_said = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    let operators = operators.iter().filter(|(_, value)| is_said(value));
    operators.map(|(operator, value)| test(&format!("{path}.{operator}"), operator, kind, value)).collect()
}

/// The refusal of a filter that asks for too much.
pub(super) fn too_many_conditions() -> Failure {
    Failure::invalid(format!(
        "filter: it has more than {CONDITIONS_MAX} conditions, empty alternatives of $or included"
    ))
}

/// Refuses an order of too many properties.
pub(super) fn check_sorts(found: usize) -> Result<(), Failure> {
    if found <= SORTS_MAX {
        return Ok(());
    }
    Err(Failure::invalid(format!("sort: expected at most {SORTS_MAX} elements, but found {found}")))
}

/// The test of one operator, which `path` names.
pub(super) fn test(path: &str, operator: &str, kind: ValueKind, value: &Value) -> Result<Test, Failure> {
    let one = || operand(path, kind, value);
    let many = || {
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if list.len() > VALUES_MAX {
            return Err(Failure::invalid(format!("{path}: has more than {VALUES_MAX} values")));
        }
        let mut list: Vec<Operand> =
            list.iter().map(|value| operand(path, kind, value)).collect::<Result<_, _>>()?;
        list.sort_unstable();
        list.dedup();
        Ok::<_, Failure>(list)
    };
    Ok(match operator {
        "$eq" => Test::Equal(one()?),
        "$neq" => Test::NotEqual(one()?),
        "$exists" => Test::Exists(value == &Value::Bool(true)),
        "$in" => Test::In(many()?),
        "$notIn" => Test::NotIn(many()?),
        "$gt" => Test::Greater(one()?),
        "$gte" => Test::GreaterOrEqual(one()?),
        "$lt" => Test::Less(one()?),
        "$lte" => Test::LessOrEqual(one()?),
        "$like" => Test::Like(pattern(path, value)?),
        _ => return Err(Failure::invalid(format!("{path}: is no operator"))),
    })
}

fn pattern(path: &str, value: &Value) -> Result<Name, Failure> {
    let text = value.as_str().unwrap_or_default();
    if text.chars().count() > LIKE_CHARS_MAX {
        return Err(Failure::invalid(format!("{path}: is longer than {LIKE_CHARS_MAX} characters")));
    }
    Ok(Name::from(text))
}

fn operand(path: &str, kind: ValueKind, value: &Value) -> Result<Operand, Failure> {
    let text = value.as_str().unwrap_or_default();
    Ok(match kind {
        ValueKind::Text => Operand::Text(Name::from(text)),
        ValueKind::Flag => Operand::Integer(i64::from(value == &Value::Bool(true))),
        ValueKind::Integer => Operand::Integer(value.as_i64().unwrap_or_default()),
        // Nothing has a negative key, or one that is no number; that is no fault of a filter.
        ValueKind::Key if !text.bytes().all(|byte| byte.is_ascii_digit()) => Operand::Integer(-1),
        ValueKind::Key => Operand::Integer(parse_key(path, text)?.cast_signed()),
        ValueKind::Date => Operand::Integer(time(path, text)?),
    })
}

/// A moment in Unix milliseconds.
pub(super) fn time(path: &str, text: &str) -> Result<i64, Failure> {
    moment::parse(text).ok_or_else(|| Failure::invalid(format!("{path}: is no date and time with offset")))
}

#[cfg(test)]
mod reading {
    use serde_json::json;

    use super::*;

    fn read(kind: ValueKind, value: Value) -> Result<Vec<Test>, String> {
        tests("filter.it", &value, kind).map_err(|failure| failure.detail.into_owned())
    }

    #[test]
    fn each_operator_and_kind_of_value() {
        let (text, number) = (|text: &str| Operand::Text(Name::from(text)), Operand::Integer);
        for (kind, value, wanted) in [
            (ValueKind::Key, json!("5"), Test::Equal(number(5))),
            (ValueKind::Key, json!("-3"), Test::Equal(number(-1))),
            (ValueKind::Key, json!({"$in": ["7", "5", "7"]}), Test::In(vec![number(5), number(7)])),
            (ValueKind::Key, json!({"$notIn": ["7"]}), Test::NotIn(vec![number(7)])),
            (ValueKind::Key, json!({"$exists": false}), Test::Exists(false)),
            (ValueKind::Text, json!({"$neq": "a"}), Test::NotEqual(text("a"))),
            (ValueKind::Text, json!({"$like": "a*"}), Test::Like("a*".into())),
            (ValueKind::Text, json!({"$eq": "b"}), Test::Equal(text("b"))),
            (ValueKind::Integer, json!({"$gt": 2}), Test::Greater(number(2))),
            (ValueKind::Integer, json!({"$lt": 2}), Test::Less(number(2))),
            (ValueKind::Integer, json!({"$lte": 2}), Test::LessOrEqual(number(2))),
            (ValueKind::Flag, json!(true), Test::Equal(number(1))),
            (
                ValueKind::Date,
                json!({"$gte": "2026-01-01T00:00:00+01:00"}),
                Test::GreaterOrEqual(number(1_767_222_000_000)),
            ),
        ] {
            assert_eq!(read(kind, value.clone()), Ok(vec![wanted]), "{value}");
        }
        // Lists that are empty, and members that are null, say nothing.
        assert_eq!(read(ValueKind::Text, json!({"$in": [], "$eq": null})), Ok(vec![]));
        assert_eq!(read(ValueKind::Integer, json!({"$gte": 1, "$lt": 3})).unwrap().len(), 2);
    }

    #[test]
    fn values_out_of_bounds_are_refused_by_path() {
        let long = "a".repeat(LIKE_CHARS_MAX + 1);
        let many = vec!["a"; VALUES_MAX + 1];
        for (kind, value, wanted) in [
            (ValueKind::Key, json!("99999999999999999999"), "filter.it: a key has at most 64 bits"),
            (ValueKind::Text, json!({"$like": long}), "filter.it.$like: is longer than 1000 characters"),
            (ValueKind::Text, json!({"$in": many}), "filter.it.$in: has more than 5000 values"),
            (ValueKind::Date, json!("yesterday"), "filter.it: is no date and time with offset"),
        ] {
            assert_eq!(read(kind, value), Err(wanted.to_owned()));
        }
    }
}
