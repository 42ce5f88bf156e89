//! Collects the names of a model.

use super::Compiler;
use super::names::{Names, is_special};
use std::collections::BTreeSet;

impl Compiler<'_> {
    /// Gathers the names of everything that expressions may refer to.
    pub(super) fn collect_names(&mut self) {
        const NAMED: [&str; 13] = [
            "variable",
            "inputData",
            "decision",
            "businessKnowledgeModel",
            "decisionService",
            "formalParameter",
            "itemComponent",
            "itemDefinition",
            "import",
            "column",
            "output",
            "parameters",
            "parameter",
        ];
        let (mut declared, mut names) = (BTreeSet::new(), BTreeSet::new());
        for node in self.document.descendants(0) {
            let attribute = match self.document.name(node) {
                name if NAMED.contains(&name) => "name",
                "for" | "some" | "every" => "iteratorVariable",
                _ => continue,
            };
            let name = self.attribute(node, attribute);
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            if is_special(&name) {
                names.insert(name.clone());
            }
            declared.insert(name);
            // Without a variable, a decision is known by its ID.
            if self.document.name(node) == "decision" {
                declared.insert(self.attribute(node, "id").to_owned());
            }
        }
        for import in &self.imports {
            names.extend(import.model.names.iter().cloned());
            if import.name.is_empty() {
                declared.extend(import.model.element_names().map(str::to_owned));
            }
        }
        self.names = Names::new(declared, names);
    }
}
