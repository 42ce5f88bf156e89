//! Every deployment rule against small literal models: acceptance, or refusal with its text.

#![expect(clippy::format_collect, reason = "models are put together from a few short texts")]

mod compensation;
mod event_sub_process;
mod events;
mod file;
mod flows;
mod gateways;
mod listeners;
mod loops;
mod multi_instance;
mod positions;
mod tasks;
mod thrown_events;
mod unsupported;

use bpmn::{Limits, Process, parse};

/// Root element around `roots` (messages, errors, processes).
fn definitions(roots: &str) -> String {
    format!(
        "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' \
         xmlns:zeebe='http://camunda.org/schema/zeebe/1.0' id='d'>{roots}</definitions>"
    )
}

/// One executable process `p` with `body`, after `roots`.
fn model(roots: &str, body: &str) -> String {
    definitions(&format!("{roots}<process id='p' isExecutable='true'>{body}</process>"))
}

/// The processes of a model that must be valid.
#[track_caller]
fn valid(xml: &str) -> Vec<Process> {
    parse(xml.as_bytes(), &Limits::default()).unwrap_or_else(|problems| panic!("{xml}\n{problems}"))
}

/// Compares the findings of a file, one line each; an expected line that ends with `*` is a prefix.
#[track_caller]
fn check_file(xml: &str, expected: &[&str]) {
    let found: Vec<String> = match parse(xml.as_bytes(), &Limits::default()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0.iter().map(ToString::to_string).collect(),
    };
    let matches = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| match expected.strip_suffix('*') {
            Some(prefix) => found.starts_with(prefix),
            None => found == expected,
        });
    assert!(matches, "{xml}\nexpected {expected:#?}\nfound {found:#?}");
}

/// Compares the findings of the process `p` with a none start event `s` and `body`.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    check_with("", body, expected);
}

/// Like [`check`], with root elements.
#[track_caller]
fn check_with(roots: &str, body: &str, expected: &[&str]) {
    check_file(&model(roots, &format!("<startEvent id='s'/>{body}")), expected);
}

/// A message with a correlation key.
const MESSAGE: &str = "<message id='m' name='paid'><extensionElements>\
                       <zeebe:subscription correlationKey='=orderId'/></extensionElements></message>";
