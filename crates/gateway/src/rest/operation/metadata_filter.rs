//! The filter on the metadata of cluster variables: for each name a value, or operators. Numbers are compared as
//! numbers, whether they have decimals or not.

use std::cmp::Ordering;

use protocol::{Document, Json};
use search::{Operand, Test};
use serde_json::Value;

use crate::rest::fields::Fields;
use crate::rest::limits::VALUES_MAX;
use crate::rest::operators::{self, ValueKind};
use crate::rest::problem::Failure;

/// Conditions, by the name that each is on.
pub(super) struct MetadataFilter(Vec<(String, Vec<Condition>)>);

enum Condition {
    Equal(Value),
    NotEqual(Value),
    In(Vec<Value>),
    Exists(bool),
    /// It is a number that stands so to another.
    Number(Value, fn(Ordering) -> bool),
    Like(Test),
}

impl MetadataFilter {
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Failure> {
        let filter = fields.value("filter");
        let wanted =
            filter["metadata"].as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        wanted
            .map(|(name, value)| Ok((name.clone(), conditions(&format!("filter.metadata.{name}"), value)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether the metadata of a variable meets all conditions.
    pub(super) fn lets_pass(&self, metadata: Option<&Document>) -> bool {
        self.0.iter().all(|(name, conditions)| {
            let value = metadata.and_then(|metadata| metadata.get(name)).map(parsed);
            conditions.iter().all(|condition| condition.is_met_by(value.as_ref()))
        })
    }
}

fn parsed(json: &Json) -> Value {
    // A number beyond those of 64 bits is none that could be compared.
    serde_json::from_str(json.as_str()).unwrap_or_default()
}

fn conditions(path: &str, value: &Value) -> Result<Vec<Condition>, Failure> {
    let Value::Object(operators) = value else { return Ok(vec![Condition::Equal(value.clone())]) };
    // The official clients send all members that they have: those that are empty say nothing.
    let is_said = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    let operators = operators.iter().filter(|(_, value)| is_said(value));
    operators.map(|(operator, value)| condition(&format!("{path}.{operator}"), operator, value)).collect()
}

fn condition(path: &str, operator: &str, value: &Value) -> Result<Condition, Failure> {
    let number = |test| Ok(Condition::Number(value.clone(), test));
    match operator {
        "$eq" => Ok(Condition::Equal(value.clone())),
        "$neq" => Ok(Condition::NotEqual(value.clone())),
        "$exists" => Ok(Condition::Exists(value == &Value::Bool(true))),
        "$gt" => number(Ordering::is_gt),
        "$gte" => number(Ordering::is_ge),
        "$lt" => number(Ordering::is_lt),
        "$lte" => number(Ordering::is_le),
        "$in" => {
            let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
            if list.len() > VALUES_MAX {
                return Err(Failure::invalid(format!("{path}: has more than {VALUES_MAX} values")));
            }
            Ok(Condition::In(list.to_vec()))
        }
        _ => Ok(Condition::Like(operators::test(path, operator, ValueKind::Text, value)?)),
    }
}

impl Condition {
    fn is_met_by(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Equal(wanted) => value.is_some_and(|value| is_same(value, wanted)),
            Self::NotEqual(unwanted) => value.is_none_or(|value| !is_same(value, unwanted)),
            Self::In(wanted) => value.is_some_and(|value| wanted.iter().any(|one| is_same(value, one))),
            Self::Exists(wanted) => value.is_some() == *wanted,
            Self::Number(other, test) => value.and_then(|value| compare(value, other)).is_some_and(test),
            Self::Like(test) => {
                let text = value.and_then(Value::as_str).map(|text| Operand::Text(text.into()));
                test.is_met_by(text.as_ref())
            }
        }
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    compare(one, other).map_or_else(|| one == other, Ordering::is_eq)
}

/// How numbers stand to each other: whole ones by all their digits.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    let whole = |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_are_compared_by_all_their_digits() {
        let large = json!(9_007_199_254_740_993_i64);
        assert!(!is_same(&large, &json!(9_007_199_254_740_992_i64)));
        assert_eq!(compare(&large, &json!(9_007_199_254_740_992_i64)), Some(Ordering::Greater));
        assert!(is_same(&json!(u64::MAX), &json!(u64::MAX)) && !is_same(&json!(u64::MAX), &json!(i64::MAX)));
        assert!(is_same(&json!(2), &json!(2.0)) && !is_same(&json!("2"), &json!(2)));
    }
}
