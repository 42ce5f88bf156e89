//! The context of the reader of an element kind: attributes, extension elements, findings.

use std::sync::Arc;

use feel::Expression;

use crate::catalogue::Catalogue;
use crate::extension::Extensions;
use crate::graph::{ElementIndex, Text};
use crate::limits::Limits;
use crate::outline::{Draft, Outline};
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

/// A part of a root element that others may refer to.
#[derive(Debug)]
pub(crate) enum Parsed<T> {
    /// The model does not have it.
    Absent,
    /// It is invalid, which is reported at its own position.
    Broken,
    /// It is there.
    Valid(T),
}

impl<T> Parsed<T> {
    /// The result of parsing a part that is present; passes the reason on if it is invalid.
    pub(crate) fn from_result(parsed: Result<T, String>, report: impl FnOnce(String)) -> Self {
        match parsed {
            Ok(value) => Self::Valid(value),
            Err(reason) => {
                report(reason);
                Self::Broken
            }
        }
    }
}

/// Static text or, after `=`, an expression; the error names the place.
pub(crate) fn parse_text(value: &str, place: &str, limits: &Limits) -> Result<Text, String> {
    if value.starts_with('=') {
        return parse_expression(value, place).map(Text::Expression);
    }
    if value.len() > limits.max_name_chars {
        return Err(format!("{place} is longer than {} bytes", limits.max_name_chars));
    }
    Ok(Text::Static(Arc::from(value)))
}

/// An expression with its leading `=`; the error names the place, the position and the cause.
pub(crate) fn parse_expression(value: &str, place: &str) -> Result<Expression, String> {
    let Some(expression) = value.strip_prefix('=') else {
        return Err(format!(
            "{place} must be an expression that starts with '=', but is '{}'",
            excerpt(value)
        ));
    };
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
