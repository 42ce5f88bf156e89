//! Broken models must end in problems, failures, or values, never in a panic or without an end.

use dmn::{DecisionRequirements, Limits, Parser};
use feel::{Dialect, Environment, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A model with every kind of boxed expression, services, types, and functions.
const MODEL: &str = include_str!("models/everything.dmn");

/// Small bounds, so that endless work shows.
fn environment(dialect: Dialect) -> Environment {
    let limits = feel::Limits { fuel: 50_000, depth: 200, warnings: 10, ..feel::Limits::default() };
    Environment { dialect, limits, ..Environment::default() }
}

fn variables() -> BTreeMap<String, Value> {
    let json =
        r#"{"x":3,"xs":[1,2,3],"person":{"name":"Ann","age":40},"flag":true,"text":"a","guest count":4}"#;
    let value = Value::from_json(json.into()).expect("JSON");
    value
        .as_context()
        .expect("an object")
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect()
}

/// Evaluates everything in a model, if it is one.
fn run(text: &str) -> usize {
    let mut results = 0;
    let limits = Limits { max_bytes: 1 << 20, ..Limits::default() };
    for parser in [Parser::new(limits.clone()), Parser::new(limits).tolerant()] {
        let Ok(model) = parser.parse(text.as_bytes()) else { continue };
        results += run_all(&model);
    }
    results
}

fn run_all(model: &DecisionRequirements) -> usize {
    let variables = variables();
    let mut results = 0;
    for dialect in [Dialect::Camunda, Dialect::Standard] {
        let environment = environment(dialect);
        for decision in model.decisions() {
            match model.evaluate(decision.id, &variables, &environment) {
                Ok(evaluation) => results += usize::from(!evaluation.output.to_json_string().is_empty()),
                Err(failure) => assert!(!failure.to_string().is_empty()),
            }
        }
        for service in model.services() {
            let _ = model.evaluate_service(service.id, &variables, &environment);
        }
    }
    results
}

#[test]
fn the_model_itself_is_sound() {
    let model =
        dmn::parse(MODEL.as_bytes(), &Limits::default()).unwrap_or_else(|problems| panic!("{problems}"));
    for dialect in [Dialect::Camunda, Dialect::Standard] {
        for decision in model.decisions() {
            let outcome = model.evaluate(decision.id, &variables(), &environment(dialect));
            let output = outcome.unwrap_or_else(|failure| panic!("{failure}")).output;
            assert!(!output.is_null(), "{} is null in {dialect:?}", decision.id);
        }
    }
    assert!(run(MODEL) >= 2 * model.decisions().count());
}

/// Pieces to put into a model.
const PIECES: [&str; 24] = [
    "<",
    ">",
    "/>",
    "\"",
    "'",
    "&lt;",
    "&",
    "#",
    "]]>",
    "<![CDATA[",
    "<!--",
    "?",
    "-",
    "null",
    "[",
    "(",
    "function(x) ",
    "for i in 1..100000000 return ",
    "<context>",
    "</decision>",
    "item",
    "\u{0}",
    "\u{feff}",
    "🦀",
];

/// A change of a text: where (in thousandths), how much goes away, and what comes in.
#[derive(Debug, Clone)]
enum Change {
    Put(usize, usize, usize),
    Copy(usize, usize, usize),
    /// Two quoted texts change places.
    Swap(usize, usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        (0usize..1000, 0usize..30, 0usize..PIECES.len())
            .prop_map(|(at, cut, piece)| Change::Put(at, cut, piece)),
        (0usize..1000, 0usize..400, 0usize..1000).prop_map(|(from, size, to)| Change::Copy(from, size, to)),
        (0usize..1000, 0usize..1000).prop_map(|(left, right)| Change::Swap(left, right)),
    ];
    prop::collection::vec(change, 1..6)
}

fn place(text: &str, thousandth: usize) -> usize {
    text.floor_char_boundary(text.len() * thousandth / 1000)
}

fn apply(text: &mut String, change: &Change) {
    match change {
        Change::Put(at, cut, piece) => {
            let from = place(text, *at);
            let to = text.floor_char_boundary((from + cut).min(text.len()));
            text.replace_range(from..to, PIECES[*piece]);
        }
        Change::Copy(from, size, to) => {
            let from = place(text, *from);
            let end = text.floor_char_boundary((from + size).min(text.len()));
            let piece = text[from..end].to_owned();
            let to = place(text, *to);
            text.insert_str(to, &piece);
        }
        Change::Swap(left, right) => swap_quoted(text, *left, *right),
    }
}

/// Keeps the XML well-formed and so reaches the compiler behind it.
fn swap_quoted(text: &mut String, left: usize, right: usize) {
    let quotes: Vec<usize> = text.match_indices('"').map(|(place, _)| place).collect();
    let spans: Vec<(usize, usize)> = quotes.chunks_exact(2).map(|pair| (pair[0] + 1, pair[1])).collect();
    if spans.is_empty() {
        return;
    }
    let (first, second) = (spans[left % spans.len()], spans[right % spans.len()]);
    let (first, second) = if first.0 <= second.0 { (first, second) } else { (second, first) };
    if first.0 == second.0 {
        return;
    }
    let (one, two) = (text[first.0..first.1].to_owned(), text[second.0..second.1].to_owned());
    text.replace_range(second.0..second.1, &one);
    text.replace_range(first.0..first.1, &two);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn mutated_models_end(changes in changes()) {
        let mut text = MODEL.to_owned();
        for change in &changes {
            apply(&mut text, change);
        }
        run(&text);
    }

    #[test]
    fn models_with_references_and_names_exchanged_end(swaps in prop::collection::vec((0usize..1000, 0usize..1000), 1..12)) {
        let mut text = MODEL.to_owned();
        for (left, right) in swaps {
            swap_quoted(&mut text, left, right);
        }
        run(&text);
    }
}
