//! Reads test cases of the kit, evaluates them, compares results.

mod value;
mod xml;

use dmn::{DecisionRequirements, Limits, Parser};
use feel::{Dialect, Environment, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xml::Element;

/// A case that ran.
pub struct Case {
    pub file: String,
    pub id: String,
    /// The reason of the failure, if it failed.
    pub failure: Option<String>,
}

/// Runs all cases of a folder.
pub fn run_folder(folder: &Path, dialect: Dialect) -> Vec<Case> {
    let mut models = models(folder);
    let mut cases = Vec::new();
    for path in files(folder, "xml") {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let tests = Element::read(&std::fs::read_to_string(&path).expect("a test file"));
        let model = tests.child("modelName").map(Element::text).unwrap_or_default();
        let model =
            models.entry(model.trim().to_owned()).or_insert_with(|| Err("there is no such model".to_owned()));
        for test in tests.named("testCase") {
            let failure = match model {
                Ok(model) => run(model, test, dialect),
                Err(reason) => Some(reason.clone()),
            };
            let id = test.attribute("id").unwrap_or_default().to_owned();
            cases.push(Case { file: file.clone(), id, failure });
        }
    }
    cases
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    found.sort();
    found
}

/// All models of a folder; a model with imports is tried again when these are available.
fn models(folder: &Path) -> BTreeMap<String, Result<DecisionRequirements, String>> {
    let mut pending: Vec<(String, String)> = files(folder, "dmn")
        .into_iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a model"))
        })
        .collect();
    pending.sort_by_key(|(_, text)| text.matches("<import ").count());
    let mut done = BTreeMap::new();
    for _ in 0..4 {
        let available: Vec<DecisionRequirements> = done
            .values()
            .filter_map(|model: &Result<DecisionRequirements, String>| model.clone().ok())
            .collect();
        for (name, text) in &pending {
            let mut parser = Parser::new(Limits::default()).tolerant();
            for model in &available {
                parser = parser.with_import(model);
            }
            done.insert(name.clone(), parser.parse(text.as_bytes()).map_err(|problems| problems.to_string()));
        }
    }
    done
}

fn run(model: &DecisionRequirements, test: &Element, dialect: Dialect) -> Option<String> {
    let mut variables: BTreeMap<String, Value> = BTreeMap::new();
    for input in test.named("inputNode") {
        let name = input.attribute("name").unwrap_or_default().to_owned();
        variables.insert(name, value::read(input));
    }
    let environment = Environment { dialect, now_ms: 1_700_000_000_000, ..Environment::default() };
    let is_service = test.attribute("type") == Some("decisionService");
    for result in test.named("resultNode") {
        let name = result.attribute("name").unwrap_or_default();
        let outcome = if is_service {
            let service = test.attribute("invocableName").unwrap_or_default();
            let Some(service) = model.services().find(|known| known.name == service) else {
                return Some(format!("there is no service '{service}'"));
            };
            let outcome = model.evaluate_service(service.id, &variables, &environment);
            outcome.map(|outcome| match (&outcome.output, service.outputs.len()) {
                (Value::Context(context), 2..) => context.get(name).unwrap_or_default(),
                (value, _) => value.clone(),
            })
        } else {
            let Some(decision) = model.decisions().find(|known| known.name == name) else {
                return Some(format!("there is no decision '{name}'"));
            };
            model.evaluate(decision.id, &variables, &environment).map(|outcome| outcome.output)
        };
        let is_error = result.attribute("errorResult") == Some("true");
        let expected = result.child("expected").map(value::read).unwrap_or_default();
        match outcome {
            Ok(found) if value::same(&found, &expected) => {}
            Ok(found) => return Some(format!("gives {found:?}, not {expected:?}")),
            Err(_) if is_error => {}
            Err(failure) => return Some(format!("fails: {failure}; expected {expected:?}")),
        }
    }
    None
}
