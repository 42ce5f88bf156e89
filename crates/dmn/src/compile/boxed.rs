//! Boxed expressions. Recursion is bounded by the nesting of the XML.

use super::Compiler;
use crate::model::{Boxed, Entry, Formula, Lambda, Logic};
use crate::problem::excerpt;
use crate::types::TypeRef;
use crate::xml::NodeId;
use feel::{Expression, Value};
use std::sync::Arc;

/// The XML names of boxed expressions.
const KINDS: [&str; 12] = [
    "literalExpression",
    "decisionTable",
    "context",
    "list",
    "relation",
    "invocation",
    "functionDefinition",
    "conditional",
    "filter",
    "for",
    "some",
    "every",
];

impl Compiler<'_> {
    /// The boxed expression directly inside an element.
    pub(super) fn boxed_child(&mut self, node: NodeId) -> Option<Boxed> {
        let child = self.document.children(node).find(|child| KINDS.contains(&self.document.name(*child)))?;
        Some(self.boxed(child))
    }

    /// The boxed expression in a child element of that name; null if there is none.
    fn boxed_in(&mut self, node: NodeId, name: &str) -> Box<Boxed> {
        let boxed = self.document.child(node, name).and_then(|child| self.boxed_child(child));
        Box::new(boxed.unwrap_or_else(|| self.missing(name)))
    }

    fn missing(&mut self, name: &str) -> Boxed {
        let reason = "the expression is missing".to_owned();
        self.strict_problem(Some(name), reason.clone());
        Boxed { kind: TypeRef::Any, logic: Logic::Literal(Formula::Broken(reason)) }
    }

    fn boxed_list(&mut self, node: NodeId) -> Vec<Boxed> {
        let children: Vec<NodeId> = self.document.children(node).collect();
        children
            .into_iter()
            .filter(|child| KINDS.contains(&self.document.name(*child)))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|child| self.boxed(child))
            .collect()
    }

    fn boxed(&mut self, node: NodeId) -> Boxed {
        let name = self.document.name(node).to_owned();
        let iterator = Arc::from(self.attribute(node, "iteratorVariable").trim());
        let logic = match name.as_str() {
            "literalExpression" => Logic::Literal(self.formula(node, "literalExpression")),
            "decisionTable" => Logic::Table(Box::new(self.table(node))),
            "context" => Logic::Context(self.context(node)),
            "list" => Logic::List(self.boxed_list(node)),
            "relation" => self.relation(node),
            "invocation" => self.invocation(node),
            "functionDefinition" => self.function(node),
            "conditional" => Logic::Conditional {
                condition: self.boxed_in(node, "if"),
                then: self.boxed_in(node, "then"),
                otherwise: self.boxed_in(node, "else"),
            },
            "filter" => {
                Logic::Filter { source: self.boxed_in(node, "in"), condition: self.boxed_in(node, "match") }
            }
            "for" => Logic::For {
                variable: iterator,
                source: self.boxed_in(node, "in"),
                body: self.boxed_in(node, "return"),
            },
            _ => Logic::Quantified {
                every: name == "every",
                variable: iterator,
                source: self.boxed_in(node, "in"),
                condition: self.boxed_in(node, "satisfies"),
            },
        };
        Boxed { kind: self.kind(node), logic }
    }

    fn context(&mut self, node: NodeId) -> Vec<Entry> {
        let entries: Vec<NodeId> = self.document.named(node, "contextEntry").collect();
        entries
            .into_iter()
            .map(|entry| {
                let variable = self.document.child(entry, "variable");
                Entry {
                    name: variable.map(|variable| self.name_of(variable)),
                    kind: variable.map(|variable| self.kind(variable)).unwrap_or_default(),
                    value: self.boxed_child(entry).unwrap_or_else(|| self.missing("contextEntry")),
                }
            })
            .collect()
    }

    fn relation(&mut self, node: NodeId) -> Logic {
        let columns: Vec<NodeId> = self.document.named(node, "column").collect();
        let columns: Vec<_> =
            columns.iter().map(|column| (self.name_of(*column), self.kind(*column))).collect();
        let rows: Vec<NodeId> = self.document.named(node, "row").collect();
        let rows: Vec<Vec<Boxed>> = rows.into_iter().map(|row| self.boxed_list(row)).collect();
        if let Some(row) = rows.iter().position(|row| row.len() != columns.len()) {
            let reason = format!(
                "row {} has {} cells, but the relation has {} columns",
                row + 1,
                rows[row].len(),
                columns.len()
            );
            self.problem(Some("relation"), reason);
        }
        Logic::Relation { columns, rows }
    }

    fn invocation(&mut self, node: NodeId) -> Logic {
        let callee = match self.document.child(node, "literalExpression") {
            Some(literal) => self.formula(literal, "invocation"),
            None => self.broken("invocation", "the called function is missing".to_owned()),
        };
        self.check_callee(&callee);
        let bindings: Vec<NodeId> = self.document.named(node, "binding").collect();
        let bindings = bindings
            .into_iter()
            .map(|binding| {
                let parameter = self.document.child(binding, "parameter");
                let name = parameter.map(|parameter| self.name_of(parameter)).unwrap_or_default();
                (name, self.boxed_child(binding))
            })
            .collect();
        Logic::Invocation { callee, bindings }
    }

    /// Refuses an invocation of a name that is not a function; a variable never is one. An invocation of a business
    /// knowledge model also is a requirement.
    fn check_callee(&mut self, callee: &Formula) {
        let Formula::Compiled(expression) = callee else { return };
        if let Some(place) = self.knowledge_names.get(expression.text()) {
            self.invoked.push(*place);
        } else if let Some(root) = expression.as_path_root()
            && !self.names.is_declared(root)
        {
            let reason = format!("there is no business knowledge model '{}' to invoke", excerpt(root));
            self.strict_problem(Some("invocation"), reason);
        }
    }

    fn function(&mut self, node: NodeId) -> Logic {
        let lambda = self.lambda(node).unwrap_or_else(|| Lambda {
            parameters: Vec::new(),
            body: Boxed {
                kind: TypeRef::Any,
                logic: Logic::Literal(Formula::Broken("the function has no body in FEEL".to_owned())),
            },
        });
        Logic::Function(Arc::new(lambda))
    }

    pub(super) fn broken(&mut self, element_type: &str, reason: String) -> Formula {
        self.strict_problem(Some(element_type), reason.clone());
        Formula::Broken(reason)
    }

    /// The expression in an element.
    pub(super) fn formula(&mut self, node: NodeId, element_type: &str) -> Formula {
        if let Err(reason) = self.check_language(node) {
            return self.broken(element_type, reason);
        }
        let text = self.document.inner_text(node);
        if text.is_empty() {
            return self.broken(element_type, "the expression is empty".to_owned());
        }
        match Expression::parse_with_names(text, &self.names.within(text)) {
            Ok(expression) => Formula::Compiled(expression),
            Err(error) => {
                let reason = format!("failed to parse expression '{}': {error}", excerpt(text));
                self.broken(element_type, reason)
            }
        }
    }

    /// The unary tests of an input entry; nothing if any value passes.
    pub(super) fn condition(&mut self, node: NodeId) -> Option<Formula> {
        if let Err(reason) = self.check_language(node) {
            return Some(self.broken("inputEntry", reason));
        }
        let text = self.document.inner_text(node);
        if text.is_empty() || text == "-" {
            return None;
        }
        Some(match Expression::parse_unary_tests_with_names(text, &self.names.within(text)) {
            Ok(tests) => Formula::Compiled(tests),
            Err(error) => {
                let reason = format!("failed to parse expression '{}': {error}", excerpt(text));
                self.broken("inputEntry", reason)
            }
        })
    }

    /// The literal values in a list of allowed values, in order.
    pub(super) fn literal_values(&self, text: &str) -> Vec<Value> {
        let list = format!("[{text}]");
        let names = self.names.within(text);
        let environment = feel::Environment::default();
        let value = Expression::parse_with_names(&list, &names)
            .ok()
            .and_then(|expression| expression.evaluate(&(), &environment).ok())
            .map(|evaluation| evaluation.value);
        value.as_ref().and_then(Value::as_list).map(|list| list.items().to_vec()).unwrap_or_default()
    }

    fn check_language(&self, node: NodeId) -> Result<(), String> {
        let Some(language) = self.document.attribute(node, "expressionLanguage") else { return Ok(()) };
        let plain = language.trim().to_ascii_lowercase();
        let is_feel = plain.is_empty()
            || plain == "feel"
            || (plain.contains("omg.org/spec/") && !plain.contains("xpath"));
        if is_feel {
            Ok(())
        } else {
            Err(format!("expression language '{}' is not supported", excerpt(language)))
        }
    }
}
