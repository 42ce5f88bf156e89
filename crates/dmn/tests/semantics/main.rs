//! Results and failures of evaluations, in Camunda's dialect unless said otherwise.

mod bounds;
mod boxed;
mod files;
mod imports;
mod requirements;
mod tables;
mod types;

use dmn::{DecisionRequirements, Failure, Limits};
use feel::{Dialect, Environment, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "<definitions xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/' \
    xmlns:zeebe='http://camunda.org/schema/zeebe/1.0' id='graph' name='Graph' namespace='ns'>";

fn parse(body: &str) -> Result<DecisionRequirements, dmn::Problems> {
    dmn::parse(format!("{HEAD}{body}</definitions>").as_bytes(), &Limits::default())
}

fn model(body: &str) -> DecisionRequirements {
    parse(body).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The problems of a model that must not pass.
fn problems(body: &str) -> String {
    parse(body).expect_err("a model with problems").to_string()
}

fn variables(json: &str) -> BTreeMap<String, Value> {
    let value = Value::from_json(json.to_owned().into()).expect("JSON");
    value
        .as_context()
        .expect("an object")
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect()
}

fn evaluate(model: &DecisionRequirements, id: &str, json: &str) -> Result<dmn::Evaluation, Box<Failure>> {
    model.evaluate(id, &variables(json), &Environment::default())
}

/// The JSON of a result, or the reason of a failure.
fn output(model: &DecisionRequirements, id: &str, json: &str) -> String {
    match evaluate(model, id, json) {
        Ok(evaluation) => evaluation.output.to_json_string(),
        Err(failure) => failure.reason,
    }
}

fn literal(id: &str, text: &str) -> String {
    format!(
        "<decision id='{id}' name='{id}'><literalExpression><text>{text}</text></literalExpression></decision>"
    )
}

/// The environment of the standard.
fn standard() -> Environment {
    Environment { dialect: Dialect::Standard, ..Environment::default() }
}

/// A table with the input `x`; each rule is a condition and its outputs.
fn table(attributes: &str, outputs: &[&str], rules: &[(&str, &[&str])]) -> String {
    let mut text = format!(
        "<decisionTable {attributes}><input id='in' label='X'><inputExpression><text>x</text></inputExpression></input>"
    );
    for output in outputs {
        text.push_str(output);
    }
    for (index, (condition, results)) in rules.iter().enumerate() {
        let _ =
            write!(text, "<rule id='rule{}'><inputEntry><text>{condition}</text></inputEntry>", index + 1);
        for result in *results {
            let _ = write!(text, "<outputEntry><text>{result}</text></outputEntry>");
        }
        text.push_str("</rule>");
    }
    format!("<decision id='d' name='D'>{text}</decisionTable></decision>")
}

const ONE: &[&str] = &["<output id='out' name='o' label='Out'/>"];
const TWO: &[&str] = &["<output id='o1' name='a'/>", "<output id='o2' name='b'/>"];
