//! IDs are names of XML, as the schema of BPMN has it.

use crate::problem::Report;
use crate::xml::{Document, Space};

pub(super) fn check(document: &Document<'_>, report: &mut Report) {
    for node in document.all().filter(|&node| document.node(node).space == Space::Bpmn) {
        // Elements that need an ID say so themselves.
        let id = document.attribute(node, "id").unwrap_or_default();
        if !id.trim().is_empty() && !::xml::is_name(id) {
            report.add(
                document,
                node,
                "the attribute 'id' must be a letter or '_', then letters, digits, '_', '-' or '.'",
            );
        }
    }
}
