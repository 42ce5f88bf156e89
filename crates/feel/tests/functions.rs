//! Checks docs/feel-functions.md: each call has the listed result, and every built-in function has a call.
//! `UPDATE_EXPECT=1` writes the results.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use feel::{Environment, Expression, Value};

fn evaluate(call: &str) -> String {
    let variables = Value::from_json(r#"{"toolCall":{"city":"Oslo"}}"#.into()).expect("JSON");
    let variables = variables.as_context().expect("an object");
    let environment = Environment { now_ms: 1_700_000_000_123, ..Environment::default() };
    let expression = Expression::parse(call).unwrap_or_else(|error| panic!("{call}: {error}"));
    match expression.evaluate(variables, &environment) {
        Ok(evaluation) => evaluation.value.to_json_string(),
        Err(error) => panic!("{call}: {}", error.message),
    }
}

/// The call of a line of the table, if it is one.
fn call(line: &str) -> Option<&str> {
    let (call, _) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some(call)
}

#[test]
fn every_function_is_documented_by_a_call_that_works() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/feel-functions.md");
    let text = std::fs::read_to_string(&path).expect("the document");
    let mut called = BTreeSet::new();
    let mut wanted = String::new();
    for line in text.lines() {
        if let Some(call) = call(line) {
            called.insert(call.split('(').next().unwrap_or_default().to_owned());
            let _ = writeln!(wanted, "| `{call}` | `{}` |", evaluate(call));
        } else {
            wanted += line;
            wanted.push('\n');
        }
    }
    let missing: Vec<&str> = feel::function_names().filter(|name| !called.contains(*name)).collect();
    assert!(missing.is_empty(), "functions without a call: {missing:?}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &wanted).expect("writable");
    } else {
        assert_eq!(text, wanted);
    }
}
