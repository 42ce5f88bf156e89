//! Values of test cases.

use super::xml::Element;
use feel::{Date, DateTime, Environment, Expression, Number, Time, Value};

/// How far numbers may be apart, relative to their size: doubles lose the last digits.
const PRECISION: f64 = 1e-8;

/// The value in an element: simple, a list, or components of a context.
pub fn read(element: &Element) -> Value {
    if element.attribute("nil") == Some("true") {
        return Value::Null;
    }
    if let Some(value) = element.child("value") {
        return simple(value);
    }
    if let Some(list) = element.child("list") {
        if list.attribute("nil") == Some("true") {
            return Value::Null;
        }
        return Value::list(list.named("item").map(read).collect());
    }
    let components: Vec<(String, Value)> = element
        .named("component")
        .map(|component| (component.attribute("name").unwrap_or_default().to_owned(), read(component)))
        .collect();
    if components.is_empty() { Value::Null } else { Value::context(components) }
}

fn simple(element: &Element) -> Value {
    if element.attribute("nil") == Some("true") {
        return Value::Null;
    }
    let text = element.text();
    let kind = element.attribute("type").unwrap_or_default();
    let kind = kind.rsplit_once(':').map_or(kind, |(_, kind)| kind);
    let trimmed = text.trim();
    match kind {
        "boolean" => Value::Bool(trimmed == "true"),
        "decimal" | "integer" | "double" | "float" | "int" | "long" => number(trimmed),
        "date" => Date::parse(trimmed).into(),
        "time" => Time::parse(trimmed).into(),
        "dateTime" => DateTime::parse(trimmed).into(),
        "duration" => duration(trimmed),
        _ => Value::string(text),
    }
}

fn number(text: &str) -> Value {
    let exact = Expression::parse(text).ok().and_then(|expression| {
        expression
            .evaluate(&(), &Environment::default())
            .ok()
            .and_then(|evaluation| evaluation.value.as_number())
    });
    exact.or_else(|| text.parse().ok().and_then(Number::from_f64)).into()
}

fn duration(text: &str) -> Value {
    let expression = Expression::parse(&format!("duration(\"{text}\")")).expect("a duration");
    expression.evaluate(&(), &Environment::default()).expect("a duration").value
}

/// Whether a value is the one expected.
pub fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => {
            let (found, expected) = (found.to_f64(), expected.to_f64());
            (found - expected).abs() <= PRECISION * expected.abs().max(1.0)
        }
        (Value::List(found), Value::List(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| same(found, expected))
        }
        (Value::Context(found), Value::Context(expected)) => {
            found.len() == expected.len()
                && expected
                    .iter()
                    .all(|(key, expected)| found.get(key).is_some_and(|found| same(&found, expected)))
        }
        (Value::Date(_) | Value::Time(_) | Value::DateTime(_), _) => {
            found == expected || found.to_text() == expected.to_text()
        }
        _ => found == expected,
    }
}
