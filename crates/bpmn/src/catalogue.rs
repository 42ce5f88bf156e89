//! What the processes of a file share: messages, errors, and the list of executable processes.

use std::collections::HashMap;

use crate::limits::Limits;
use crate::problem::{Problem, Report, excerpt};
use crate::xml::{Document, NodeId, Space};

/// The root elements of a file by ID.
#[derive(Debug, Default)]
pub(crate) struct Catalogue<'a> {
    pub(crate) messages: HashMap<&'a str, NodeId>,
    pub(crate) errors: HashMap<&'a str, NodeId>,
    pub(crate) executable_processes: Vec<NodeId>,
}

impl<'a> Catalogue<'a> {
    pub(crate) fn read(document: &'a Document<'_>, limits: &Limits, report: &mut Report) -> Self {
        let mut catalogue = Self::default();
        if document.len() == 0
            || document.node(0).name != "definitions"
            || document.node(0).space != Space::Bpmn
        {
            report.add(Problem::of_file("the root element must be 'definitions' of BPMN 2.0"));
            return catalogue;
        }
        check_ids(document, limits, report);
        for child in document.children(0) {
            let node = document.node(child);
            let id = document.attribute(child, "id");
            match (node.space, node.name, id) {
                (Space::Bpmn, "message", Some(id)) => {
                    catalogue.messages.insert(id, child);
                }
                (Space::Bpmn, "error", Some(id)) => {
                    catalogue.errors.insert(id, child);
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
            report.add(Problem::of_file("the file has no process with isExecutable=\"true\""));
        }
        catalogue
    }
}

/// Whether an attribute of the XML type boolean is true.
pub(crate) fn is_true(value: &str) -> bool {
    matches!(value.trim(), "true" | "1")
}

/// IDs and names must not be too long, and an ID stands for one element of the file.
fn check_ids(document: &Document<'_>, limits: &Limits, report: &mut Report) {
    let mut first_of: HashMap<&str, NodeId> = HashMap::new();
    for id in document.descendants(0) {
        let node = document.node(id);
        if node.space != Space::Bpmn {
            continue;
        }
        let mut problem = |reason: String| {
            report.add(Problem {
                element_id: document.attribute(id, "id").map(excerpt),
                element_type: Some(node.name.to_owned()),
                reason,
            });
        };
        if let Some(name) = document.attribute(id, "name")
            && name.len() > limits.max_name_chars
            && name.chars().count() > limits.max_name_chars
        {
            problem(format!("the name is longer than {} characters", limits.max_name_chars));
        }
        let Some(element_id) = document.attribute(id, "id") else { continue };
        if element_id.len() > limits.max_id_chars && element_id.chars().count() > limits.max_id_chars {
            problem(format!("the ID is longer than {} characters", limits.max_id_chars));
        } else if let Some(&first) = first_of.get(element_id) {
            problem(format!("the ID is used more than once, first by {}", document.node(first).name));
        } else if !element_id.is_empty() {
            first_of.insert(element_id, id);
        }
    }
}
