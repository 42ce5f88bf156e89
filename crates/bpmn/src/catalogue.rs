//! Root elements that the processes of a file share (messages, errors, escalations, signals), and the executable
//! processes.

use std::collections::HashMap;

use feel::Expression;

use crate::graph::Text;
use crate::limits::Limits;
use crate::parsed::{Parsed, parse_expression, parse_text};
use crate::problem::Report;
use crate::xml::{Document, NodeId, Space};

/// The root elements of a file by ID, each read once however often it is referred to.
#[derive(Debug, Default)]
pub(crate) struct Catalogue<'a> {
    pub(crate) messages: HashMap<&'a str, Message>,
    pub(crate) errors: HashMap<&'a str, Error>,
    pub(crate) escalations: HashMap<&'a str, Parsed<Text>>,
    pub(crate) signals: HashMap<&'a str, Parsed<Text>>,
    pub(crate) executable_processes: Vec<NodeId>,
}

/// A message; its required parts depend on the referring element.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: Parsed<Text>,
    pub(crate) correlation_key: Parsed<Expression>,
}

#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) code: Parsed<Text>,
}

impl<'a> Catalogue<'a> {
    pub(crate) fn read(document: &'a Document<'_>, limits: &Limits, report: &mut Report) -> Self {
        let mut catalogue = Self::default();
        if !document.has_root(Space::Bpmn, "definitions") {
            report.add_file("the root element must be 'definitions' of BPMN 2.0");
            return catalogue;
        }
        check_ids(document, limits, report);
        for child in document.children(0) {
            let node = document.node(child);
            let id = document.attribute(child, "id");
            match (node.space, node.name, id) {
                (Space::Bpmn, "message", Some(id)) => {
                    catalogue.messages.insert(id, read_message(document, child, limits, report));
                }
                (Space::Bpmn, "error", Some(id)) => {
                    let code = text(document, child, "errorCode", limits, report);
                    catalogue.errors.insert(id, Error { code });
                }
                (Space::Bpmn, "escalation", Some(id)) => {
                    let code = text(document, child, "escalationCode", limits, report);
                    catalogue.escalations.insert(id, code);
                }
                (Space::Bpmn, "signal", Some(id)) => {
                    let name = text(document, child, "name", limits, report);
                    catalogue.signals.insert(id, name);
                }
                (Space::Bpmn, "process", _)
                    if document.attribute(child, "isExecutable").is_some_and(is_true) =>
                {
                    catalogue.executable_processes.push(child);
                }
                _ => {}
            }
        }
        if catalogue.executable_processes.is_empty() {
            report.add_file("the file has no process with isExecutable=\"true\"");
        }
        catalogue
    }
}

/// Whether an attribute of the XML type boolean is true.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value.trim(), "true" | "1")
}

fn read_message(document: &Document<'_>, node: NodeId, limits: &Limits, report: &mut Report) -> Message {
    let name = text(document, node, "name", limits, report);
    let mut subscriptions = document
        .bpmn_children(node, "extensionElements")
        .flat_map(|container| document.zeebe_children(container, "subscription"));
    let key =
        subscriptions.next().and_then(|subscription| document.attribute(subscription, "correlationKey"));
    if subscriptions.next().is_some() {
        report.add(document, node, "must have at most one zeebe:subscription");
    }
    let correlation_key = match key.filter(|key| !key.trim().is_empty()) {
        None => Parsed::Absent,
        Some(key) => Parsed::from_result(parse_expression(key, "the correlation key"), |reason| {
            report.add(document, node, reason);
        }),
    };
    Message { name, correlation_key }
}

/// An attribute of a root element that is static text or an expression.
fn text(
    document: &Document<'_>,
    node: NodeId,
    attribute: &str,
    limits: &Limits,
    report: &mut Report,
) -> Parsed<Text> {
    match document.attribute(node, attribute).filter(|value| !value.trim().is_empty()) {
        None => Parsed::Absent,
        Some(value) => {
            Parsed::from_result(parse_text(value, &format!("attribute '{attribute}'"), limits), |reason| {
                report.add(document, node, reason);
            })
        }
    }
}

/// IDs and names must not be too long, and an ID stands for one element of the file.
fn check_ids(document: &Document<'_>, limits: &Limits, report: &mut Report) {
    let mut first_of: HashMap<&str, NodeId> = HashMap::new();
    for id in document.descendants(0) {
        let node = document.node(id);
        if node.space != Space::Bpmn {
            continue;
        }
        if document.attribute(id, "name").is_some_and(|name| is_longer(name, limits.max_name_chars)) {
            report.add(document, id, format!("the name is longer than {} characters", limits.max_name_chars));
        }
        let Some(element_id) = document.attribute(id, "id") else { continue };
        if is_longer(element_id, limits.max_id_chars) {
            report.add(document, id, format!("the ID is longer than {} characters", limits.max_id_chars));
        } else if let Some(&first) = first_of.get(element_id) {
            let first = document.node(first).name;
            report.add(document, id, format!("the ID is used more than once, first by {first}"));
        } else if !element_id.is_empty() {
            first_of.insert(element_id, id);
        }
    }
}

fn is_longer(text: &str, max_chars: usize) -> bool {
    text.len() > max_chars && text.chars().count() > max_chars
}
