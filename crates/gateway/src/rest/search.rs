//! Searches among the few things that are read as a whole: filter, order, page.

use search::{Operand, Test};
use serde_json::{Map, Value};

use super::fields::Fields;
use super::operators::{self, ValueKind, check_sorts, too_many_conditions};
use super::problem::Failure;
use super::writer::object;
use crate::rest::limits::{CONDITIONS_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// Condition on a property.
struct PropertyTest {
    name: String,
    /// Whether it is compared as a number.
    is_integer: bool,
    test: Test,
}

pub(super) struct Search {
    tests: Vec<PropertyTest>,
    /// Lists of conditions of which one must hold; none if anything passes.
    alternatives: Vec<Vec<PropertyTest>>,
    /// Property, and whether its order is reversed.
    sort: Vec<(String, bool)>,
    from: usize,
    limit: usize,
}

impl Search {
    /// Reads the body, which may be empty.
    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, Failure> {
        Self::read_without(fields, "")
    }

    /// Reads the body without the condition on `tested`, a property that the operation tests itself.
    pub(super) fn read_without(fields: &Fields<'_>, tested: &str) -> Result<Self, Failure> {
        let filter = fields.object("filter");
        let tests = tests_of("filter", &filter, tested)?;
        let alternatives = filter.get("$or").and_then(Value::as_array).into_iter().flatten().enumerate();
        let alternatives: Vec<_> = alternatives
            .filter_map(|(at, alternative)| Some((at, alternative.as_object()?)))
            .map(|(at, alternative)| tests_of(&format!("filter.$or[{at}]"), alternative, ""))
            .collect::<Result<_, _>>()?;
        let conditions = tests.len() + alternatives.iter().map(|one| one.len().max(1)).sum::<usize>();
        if conditions > CONDITIONS_MAX {
            return Err(too_many_conditions());
        }
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let sort = fields
            .value("sort")
            .as_array()
            .into_iter()
            .flatten()
            .map(|sort| {
                (text(sort, "field").unwrap_or_default(), text(sort, "order").as_deref() == Some("DESC"))
            })
            .collect::<Vec<_>>();
        check_sorts(sort.len())?;
        let page = fields.value("page");
        let number =
            |name: &str| page.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let limit = number("limit").unwrap_or(PAGE_LIMIT_DEFAULT as usize).min(PAGE_LIMIT_MAX as usize);
        let cursor = |name: &str| text(&page, name).map(|cursor| position(name, &cursor)).transpose();
        let (from, limit) = match (cursor("after")?, cursor("before")?) {
            (Some(after), _) => (after.saturating_add(1), limit),
            (None, Some(before)) => (before.saturating_sub(limit), limit.min(before)),
            (None, None) => (number("from").unwrap_or(0), limit),
        };
        Ok(Self { tests, alternatives, sort, from, limit })
    }

    /// Brings the conditions on a property that holds JSON into the one spelling of their values.
    pub(super) fn respell(&mut self, name: &str) {
        for PropertyTest { name: property, test, .. } in
            self.tests.iter_mut().chain(self.alternatives.iter_mut().flatten())
        {
            if property == name {
                super::query::respell(std::slice::from_mut(test));
            }
        }
    }

    /// The value of a property that an item must have, if the filter says so.
    pub(super) fn wanted(&self, name: &str) -> Option<&str> {
        self.tests.iter().find_map(|PropertyTest { name: property, test, .. }| match test {
            Test::Equal(Operand::Text(text)) if property == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// The number that a property of an item must have, if the filter says so.
    pub(super) fn wanted_integer(&self, name: &str) -> Option<i64> {
        self.tests.iter().find_map(|PropertyTest { name: property, test, .. }| match test {
            Test::Equal(Operand::Integer(number)) if property == name => Some(*number),
            _ => None,
        })
    }

    /// Leaves those of `all` that pass the filter.
    pub(super) fn retain<T>(&self, all: &mut Vec<T>, property: impl Fn(&T, &str) -> Option<String>) {
        let passes = |item: &T, tests: &[PropertyTest]| {
            tests.iter().all(|PropertyTest { name, is_integer, test }| {
                let operand = property(item, name).map(|text| match text.parse() {
                    Ok(number) if *is_integer => Operand::Integer(number),
                    _ => Operand::Text(text.into()),
                });
                test.is_met_by(operand.as_ref())
            })
        };
        all.retain(|item| {
            passes(item, &self.tests)
                && (self.alternatives.is_empty() || self.alternatives.iter().any(|tests| passes(item, tests)))
        });
    }

    /// Answers with those of `all` that are asked for. `property` gives a property as text that sorts like it does.
    pub(super) fn answer<T>(
        &self,
        mut all: Vec<T>,
        has_more: bool,
        property: impl Fn(&T, &str) -> Option<String>,
        write: impl FnMut(&T, &mut Vec<u8>),
    ) -> Vec<u8> {
        self.retain(&mut all, &property);
        self.page(all, has_more, property, write)
    }

    /// Answers with one page of `all`, which have passed the filter already.
    pub(super) fn page<T>(
        &self,
        mut all: Vec<T>,
        has_more: bool,
        property: impl Fn(&T, &str) -> Option<String>,
        write: impl FnMut(&T, &mut Vec<u8>),
    ) -> Vec<u8> {
        all.sort_by(|one, other| {
            let mut order = std::cmp::Ordering::Equal;
            for (name, is_reversed) in &self.sort {
                let (one, other) = (property(one, name), property(other, name));
                // Numbers come in their order, behind texts, and nothing comes last, as in secondary storage.
                let key = |text: Option<String>| {
                    (text.is_none(), text.map(|text| (text.parse::<i128>().ok(), text)))
                };
                let next = key(one).cmp(&key(other));
                order = order.then(if *is_reversed { next.reverse() } else { next });
            }
            order
        });
        let total = all.len();
        let start = self.from.min(total);
        let end = start.saturating_add(self.limit).min(total);
        let mut out = Vec::with_capacity(256);
        let cursor = |at: Option<usize>| at.filter(|_| start < end).map(|at| format!("{at:012}"));
        object(&mut out)
            .list("items", &all[start..end], write)
            .object("page", |object| {
                object
                    .with("totalItems", total)
                    .with("hasMoreTotalItems", has_more)
                    .with("startCursor", cursor(Some(start)))
                    .with("endCursor", cursor(end.checked_sub(1)))
            })
            .end();
        out
    }
}

/// The conditions of a filter, but for that on a property that the operation tests.
fn tests_of(path: &str, filter: &Map<String, Value>, tested: &str) -> Result<Vec<PropertyTest>, Failure> {
    let mut tests = Vec::new();
    // Lists are for those who know what they mean.
    let is_said = |name: &str, value: &Value| !value.is_null() && !value.is_array() && name != tested;
    for (name, value) in filter.iter().filter(|(name, value)| is_said(name, value)) {
        let flag = value.as_bool().map(|flag| Value::from(flag.to_string()));
        let is_integer = has_number(value);
        let path = format!("{path}.{name}");
        let kind = if is_integer { ValueKind::Integer } else { ValueKind::Text };
        let of_one = operators::tests(&path, flag.as_ref().unwrap_or(value), kind)?;
        tests.extend(of_one.into_iter().map(|test| PropertyTest { name: name.clone(), is_integer, test }));
    }
    Ok(tests)
}

/// Whether a number is compared with.
fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(list) => list.iter().any(has_number),
        Value::Object(operators) => operators.values().any(has_number),
        _ => false,
    }
}

/// A cursor is a position in twelve digits, which are valid base64.
fn position(name: &str, cursor: &str) -> Result<usize, Failure> {
    cursor.parse().map_err(|_| Failure::invalid(format!("page.{name}: is no cursor of an earlier answer")))
}

#[cfg(test)]
mod tests {
    use super::super::writer::write_text;
    use super::*;

    #[test]
    fn what_has_no_value_comes_last() {
        // The dash has none.
        let all = ["b", "-", "10", "a", "9"];
        let sorted = |is_reversed| {
            let sort = vec![("p".to_owned(), is_reversed)];
            let search = Search { tests: Vec::new(), alternatives: Vec::new(), sort, from: 0, limit: 9 };
            let value = |item: &&str, _: &str| (*item != "-").then(|| (*item).to_owned());
            let answer = search.page(all.to_vec(), false, value, |item, out| write_text(item, out));
            serde_json::from_slice::<Value>(&answer).unwrap()["items"].clone()
        };
        assert_eq!(sorted(false), serde_json::json!(["a", "b", "9", "10", "-"]));
        assert_eq!(sorted(true), serde_json::json!(["-", "10", "9", "b", "a"]));
    }
}
