//! Runs the public cases of the Camunda dialect. They live beside the project, not in it; where
//! they are not found, this prints that they were not run. It has no harness, so that not having
//! run never counts as a passed test.

use feel::{Dialect, Environment, Evaluation, Expression, Value, Zone};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Cases that state a value or an error, and how many of them must pass.
const SCORED_FLOOR: usize = 1_909;
/// Cases whose warnings are stated, and how many must have those.
const WARNINGS_FLOOR: usize = 64;

fn main() -> ExitCode {
    let Some(path) = cases_file() else {
        println!(
            "conformance: not run, the cases were not found (set FEEL_CASES to the path of feel-cases.json)"
        );
        return ExitCode::SUCCESS;
    };
    let text = std::fs::read_to_string(&path).expect("the cases can be read");
    let cases: Vec<Json> = serde_json::from_str(&text).expect("the cases are JSON");
    let mut score = Score::default();
    for case in &cases {
        score.add(case);
    }
    score.report(cases.len())
}

fn cases_file() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tck/feel-cases.json");
    let path = std::env::var_os("FEEL_CASES").map_or(beside, PathBuf::from);
    path.is_file().then_some(path)
}

#[derive(Default)]
struct Score {
    scored: usize,
    passed: usize,
    with_warnings: usize,
    warnings_right: usize,
    families: BTreeMap<String, (usize, usize)>,
}

impl Score {
    fn add(&mut self, case: &Json) {
        let verdict = Verdict::of(case);
        if let Some(expected) = case.get("warnings").and_then(Json::as_array)
            && !expected.is_empty()
        {
            self.with_warnings += 1;
            let found: Vec<Json> =
                verdict.warnings.iter().map(|(kind, text)| serde_json::json!([kind, text])).collect();
            // In that order, but there may be others: the cases state those they are about.
            let mut rest = found.iter();
            if expected.iter().all(|warning| rest.any(|found| found == warning)) {
                self.warnings_right += 1;
            } else {
                println!("warnings {}: {} gives {found:?}, not {expected:?}", case["id"], case["expr"]);
            }
        }
        if case["outcome"] == "warning" {
            return;
        }
        self.scored += 1;
        let family =
            self.families.entry(case["category"].as_str().unwrap_or_default().to_owned()).or_default();
        family.1 += 1;
        match verdict.failure {
            None => {
                self.passed += 1;
                family.0 += 1;
            }
            Some(reason) => println!("case {}: {} {reason}", case["id"], case["expr"]),
        }
    }

    fn report(self, total: usize) -> ExitCode {
        for (family, (passed, scored)) in &self.families {
            println!("{family}: {passed} of {scored}");
        }
        println!(
            "conformance: {} of {} scored cases pass ({total} in all); warnings are right in {} of {}",
            self.passed, self.scored, self.warnings_right, self.with_warnings
        );
        if self.passed < SCORED_FLOOR || self.warnings_right < WARNINGS_FLOOR {
            println!("conformance: FAILED, the floor is {SCORED_FLOOR} cases and {WARNINGS_FLOOR} warnings");
            return ExitCode::FAILURE;
        }
        ExitCode::SUCCESS
    }
}

struct Verdict {
    failure: Option<String>,
    warnings: Vec<(String, String)>,
}

impl Verdict {
    fn of(case: &Json) -> Self {
        let warnings_of = |evaluation: &Evaluation| {
            evaluation
                .warnings
                .iter()
                .map(|warning| (warning.kind.to_string(), warning.message.clone()))
                .collect()
        };
        let outcome = case["outcome"].as_str().unwrap_or_default();
        match (run(case), outcome) {
            (Outcome::Value(evaluation), "value") => {
                let expected = value_of(&case["expected"]);
                let failure = (!same(&evaluation.value, &expected))
                    .then(|| format!("gives {:?}, not {expected:?}", evaluation.value));
                Self { failure, warnings: warnings_of(&evaluation) }
            }
            (Outcome::Value(evaluation), "warning") => {
                Self { failure: None, warnings: warnings_of(&evaluation) }
            }
            (Outcome::Error(message), "error") => {
                let expected = case["message"].as_str().unwrap_or_default();
                let failure =
                    (!message.ends_with(expected)).then(|| format!("says '{message}', not '{expected}'"));
                Self { failure, warnings: Vec::new() }
            }
            (Outcome::Refused, "parse_error") => Self { failure: None, warnings: Vec::new() },
            (found, _) => Self {
                failure: Some(format!("gives {found:?}, which is no {outcome}")),
                warnings: Vec::new(),
            },
        }
    }
}

#[derive(Debug)]
enum Outcome {
    Value(Evaluation),
    Error(String),
    Refused,
}

fn run(case: &Json) -> Outcome {
    let text = case["expr"].as_str().unwrap_or_default();
    let unary = case["kind"] == "unary";
    let parsed = if unary { Expression::parse_unary_tests(text) } else { Expression::parse(text) };
    let Ok(expression) = parsed else { return Outcome::Refused };
    let variables = value_of(&case["context"]);
    let variables = variables.as_context().expect("the context is an object");
    let environment = environment(case);
    let missing = case["input_missing"] == true;
    let result = if unary && !missing {
        expression.evaluate_unary(&value_of(&case["input"]), variables, &environment)
    } else {
        expression.evaluate(variables, &environment)
    };
    match result {
        Ok(evaluation) => Outcome::Value(evaluation),
        Err(error) => Outcome::Error(error.message),
    }
}

fn environment(case: &Json) -> Environment {
    let mut environment = Environment { dialect: Dialect::Camunda, ..Environment::default() };
    // A year in which every case that compares the clock with a date holds.
    environment.now_ms = 1_700_000_000_000;
    if let Some(clock) = case.get("clock").and_then(Json::as_str) {
        let value = temporal(clock);
        let moment = value.as_date_time().expect("the clock is a date and time");
        environment.now_ms = moment.to_timestamp().expect("the clock has a zone").as_millisecond();
        environment.zone = moment.zone().clone();
    } else {
        environment.zone = Zone::UTC;
    }
    environment
}

fn temporal(text: &str) -> Value {
    let text = Value::from(text).to_json_string();
    let expression = Expression::parse(&format!("@{text}")).expect("a literal");
    expression.evaluate(&(), &Environment::default()).expect("a value").value
}

/// The value that a case describes; plain JSON goes through the reader of variables.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Object(entries) => match entries.iter().next() {
            Some((key, Json::String(text))) if key.starts_with('$') => temporal(text),
            _ => Value::context(entries.iter().map(|(key, value)| (key.as_str(), value_of(value)))),
        },
        Json::Array(items) => Value::list(items.iter().map(value_of).collect()),
        scalar => Value::from_json(scalar.to_string().into()).expect("a scalar"),
    }
}

/// Equal, except that numbers need only agree as doubles, for that is how the cases were recorded.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => {
            found == expected
                || (found.to_f64() - expected.to_f64()).abs() <= f64::EPSILON * expected.to_f64().abs()
        }
        (Value::List(found), Value::List(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| same(found, expected))
        }
        (Value::Context(found), Value::Context(expected)) => {
            found.len() == expected.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| same(&found, value)))
        }
        (found, expected) => found == expected,
    }
}
