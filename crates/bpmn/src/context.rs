//! What the reader of an element kind sees and how it reports.

use std::sync::Arc;

use feel::Expression;

use crate::catalogue::Catalogue;
use crate::extension::Extensions;
use crate::graph::{ElementIndex, Text};
use crate::limits::Limits;
use crate::outline::{Draft, Outline, problem_at};
use crate::problem::{Report, excerpt};
use crate::xml::{Document, NodeId};

/// Words that FEEL reserves; no variable can have such a name.
const RESERVED_WORDS: [&str; 11] =
    ["null", "true", "false", "function", "if", "then", "else", "for", "between", "instance", "of"];

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
        self.problem_at(self.node(), reason);
    }

    /// Reports a finding about another element, such as a referenced message.
    pub(crate) fn problem_at(&mut self, node: NodeId, reason: impl Into<String>) {
        self.report.add(problem_at(self.document, node, reason));
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
        match value.strip_prefix('=') {
            Some(expression) => self.parse(expression, place).map(Text::Expression),
            None if value.len() > self.limits.max_name_chars => {
                self.problem(format!("{place} is longer than {} bytes", self.limits.max_name_chars));
                None
            }
            None => Some(Text::Static(Arc::from(value))),
        }
    }

    /// An expression; static text is not accepted.
    pub(crate) fn expression(&mut self, value: &str, place: &str) -> Option<Expression> {
        if let Some(expression) = value.strip_prefix('=') {
            return self.parse(expression, place);
        }
        self.problem(format!(
            "{place} must be an expression that starts with '=', but is '{}'",
            excerpt(value)
        ));
        None
    }

    fn parse(&mut self, expression: &str, place: &str) -> Option<Expression> {
        match parse_expression(expression, place) {
            Ok(expression) => Some(expression),
            Err(reason) => {
                self.problem(reason);
                None
            }
        }
    }

    /// A variable path such as `order.customer.name`.
    pub(crate) fn path(&mut self, value: &str, place: &str) -> Option<Vec<Arc<str>>> {
        let names = value.split('.');
        if value.len() <= self.limits.max_name_chars && names.clone().all(is_variable_name) {
            return Some(names.map(Arc::from).collect());
        }
        self.problem(format!(
            "{place} must be a variable name or a path of names, but is '{}'",
            excerpt(value)
        ));
        None
    }

    /// How a part of this element is called in a finding.
    pub(crate) fn name_of(&self, part: NodeId) -> String {
        let node = self.document.node(part);
        match node.space {
            crate::xml::Space::Zeebe => format!("zeebe:{}", node.name),
            crate::xml::Space::Bpmn => node.name.to_owned(),
        }
    }
}

/// Parses FEEL without its leading `=`; the error names the place, the position and the cause.
pub(crate) fn parse_expression(expression: &str, place: &str) -> Result<Expression, String> {
    Expression::parse(expression).map_err(|error| {
        format!(
            "{place} is not a valid expression: {} at line {}, column {} of '{}'",
            error.message,
            error.line,
            error.column,
            excerpt(expression.trim())
        )
    })
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
