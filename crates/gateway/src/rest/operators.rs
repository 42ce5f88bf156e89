//! The operators of filters: conditions on one property, read from JSON.

use protocol::Name;
use search::{Operand, Test};
use serde_json::Value;

use super::fields::parse_key;
use super::moment;
use super::problem::Failure;

/// Characters of a `$like`: comparing takes time by the product of pattern and text.
const LIKE_CHARS_MAX: usize = 1000;
/// Values of a `$in` or `$notIn`, and of all those of one filter. A store binds each of them, and takes not much
/// more than 30,000.
pub(super) const VALUES_MAX: usize = 5000;

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

fn test(path: &str, operator: &str, kind: ValueKind, value: &Value) -> Result<Test, Failure> {
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
