//! The context of the reader of an element kind: attributes, extension elements, findings.

use std::sync::Arc;

use feel::Expression;

use crate::catalogue::Catalogue;
use crate::extension::Extensions;
use crate::graph::{ElementIndex, Text};
use crate::limits::Limits;
use crate::outline::{Draft, Outline};
use crate::parsed::{parse_expression, parse_text};
use crate::problem::{Report, excerpt};
use crate::xml::{Document, NodeId};

/// Words that FEEL reserves; no variable can have such a name.
const RESERVED_WORDS: [&str; 11] =
    ["null", "true", "false", "function", "if", "then", "else", "for", "between", "instance", "of"];

/// Longest path of variable names. Code that follows a path recurses once per name.
const MAX_PATH_NAMES: usize = 32;

/// One element being read.
pub(crate) struct Context<'a, 'x> {
    pub(crate) document: &'a Document<'x>,
    pub(crate) catalogue: &'a Catalogue<'a>,
    pub(crate) outline: &'a Outline<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) index: ElementIndex,
    pub(crate) extensions: Extensions,
    pub(crate) report: &'a mut Report,
}

impl<'a> Context<'a, '_> {
    pub(crate) fn draft(&self) -> &'a Draft {
        &self.outline.elements[self.index as usize]
    }

    pub(crate) fn node(&self) -> NodeId {
        self.draft().node
    }

    /// Reports a finding about this element.
    pub(crate) fn problem(&mut self, reason: impl Into<String>) {
        self.report.add(self.document, self.node(), reason);
    }

    /// An extension element of this element.
    pub(crate) fn extension(&self, name: &str) -> Option<NodeId> {
        self.extensions.find(self.document, name)
    }

    /// The extension element out of a set of alternatives, of which exactly one must be present.
    pub(crate) fn exactly_one_of(&mut self, names: &[&str]) -> Option<NodeId> {
        let mut found = names.iter().filter_map(|name| self.extension(name));
        let first = found.next();
        if first.is_none() || found.next().is_some() {
            let names: Vec<_> = names.iter().map(|name| format!("zeebe:{name}")).collect();
            self.problem(format!("must have exactly one {}", names.join(" or ")));
            return None;
        }
        first
    }

    /// An attribute of this element.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a str> {
        self.document.attribute(self.node(), name)
    }

    /// An attribute of a part of this element that must be there and not blank.
    pub(crate) fn required(&mut self, part: NodeId, attribute: &str) -> Option<&'a str> {
        let value = self.document.attribute(part, attribute).filter(|value| !value.trim().is_empty());
        if value.is_none() {
            let name = self.name_of(part);
            self.problem(format!("{name} must have a non-empty attribute '{attribute}'"));
        }
        value
    }

    /// Static text or, after `=`, an expression. `place` names the attribute or element in a finding.
    pub(crate) fn text(&mut self, value: &str, place: &str) -> Option<Text> {
        parse_text(value, place, self.limits).map_err(|reason| self.problem(reason)).ok()
    }

    /// An expression; static text is not accepted.
    pub(crate) fn expression(&mut self, value: &str, place: &str) -> Option<Expression> {
        parse_expression(value, place).map_err(|reason| self.problem(reason)).ok()
    }

    /// A variable path such as `order.customer.name`.
    pub(crate) fn path(&mut self, value: &str, place: &str) -> Option<Vec<Arc<str>>> {
        let names: Vec<&str> = value.split('.').take(MAX_PATH_NAMES + 1).collect();
        if names.len() > MAX_PATH_NAMES {
            self.problem(format!("{place} must not have more than {MAX_PATH_NAMES} names"));
            return None;
        }
        if value.len() <= self.limits.max_name_chars && names.iter().all(|name| is_variable_name(name)) {
            return Some(names.into_iter().map(Arc::from).collect());
        }
        self.problem(format!(
            "{place} must be a variable name or a path of names, but is '{}'",
            excerpt(value)
        ));
        None
    }

    /// The name of a part of this element in a finding.
    pub(crate) fn name_of(&self, part: NodeId) -> String {
        let node = self.document.node(part);
        match node.space {
            crate::xml::Space::Zeebe => format!("zeebe:{}", node.name),
            crate::xml::Space::Bpmn => node.name.to_owned(),
        }
    }
}

/// Names start with a letter or underscore, go on with letters, digits and underscores, and are not reserved.
fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
        && !RESERVED_WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_variable_names() {
        for name in ["a", "_a", "orderId2", "größe", "注文"] {
            assert!(is_variable_name(name), "{name}");
        }
        for name in ["", "2a", "a b", "a-b", "null", "true", "a+b", "=a"] {
            assert!(!is_variable_name(name), "{name}");
        }
    }
}
