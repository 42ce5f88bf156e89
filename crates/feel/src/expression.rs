//! Compiled expressions: the interface of the crate.

use crate::ast::{Name, Node};
use crate::diagnostics::{Evaluation, EvaluationError, ParseError};
use crate::environment::{Budget, Environment, Variables};
use crate::evaluate::Evaluator;
use crate::parser;
use crate::program::Program;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A compiled expression or unary test. Cheap to clone.
#[derive(Clone)]
pub struct Expression(Arc<Program>);

impl Expression {
    /// Compiles a bare expression, without the `=` that attributes put in front.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::compile(text, &[], false)
    }

    /// Compiles unary tests as input entries of decision tables have them.
    pub fn parse_unary_tests(text: &str) -> Result<Self, ParseError> {
        Self::compile(text, &[], true)
    }

    /// As [`Self::parse`]; the given names may occur in the text without back-ticks, although they contain spaces or
    /// symbols.
    pub fn parse_with_names(text: &str, names: &[&str]) -> Result<Self, ParseError> {
        Self::compile(text, names, false)
    }

    /// As [`Self::parse_unary_tests`], with names as in [`Self::parse_with_names`].
    pub fn parse_unary_tests_with_names(text: &str, names: &[&str]) -> Result<Self, ParseError> {
        Self::compile(text, names, true)
    }

    fn compile(text: &str, names: &[&str], unary: bool) -> Result<Self, ParseError> {
        let mut names: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let parsed = parser::parse(text, &names, unary)?;
        Ok(Self(Arc::new(Program {
            text: Box::from(text),
            nodes: parsed.nodes,
            root: parsed.root,
            variables: parsed.variables,
            unary,
        })))
    }

    pub(crate) fn program(&self) -> &Program {
        &self.0
    }

    /// The text that was compiled.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The names of the root variables that the expression may read, in order of appearance.
    pub fn variables(&self) -> &[Arc<str>] {
        &self.0.variables
    }

    /// The value if the expression is a literal, such as a number or a string.
    pub fn as_literal(&self) -> Option<&Value> {
        if let Node::Literal(value) = self.0.node(self.0.root) { Some(value) } else { None }
    }

    /// The root variable if the expression is just a variable or a path of names from one, such as `order.customer`.
    pub fn as_path_root(&self) -> Option<&str> {
        let variable = match self.0.node(self.0.root) {
            Node::Postfix { base, steps } if steps.iter().all(|step| step.name().is_some()) => {
                self.0.node(*base)
            }
            node => node,
        };
        match variable {
            Node::Variable(Name::Global(slot)) => Some(&self.0.variables[*slot as usize]),
            _ => None,
        }
    }

    /// Whether it reads no variable and calls no function other than those for temporal values.
    pub(crate) fn is_constant(&self) -> bool {
        self.0.nodes.iter().all(|node| match node {
            Node::Literal(_) | Node::Negate(_) => true,
            Node::Call(call) => matches!(&*call.name, "date" | "time" | "date and time" | "duration"),
            _ => false,
        })
    }

    /// Computes the value. Unary tests are given null as input then, with a warning.
    pub fn evaluate(
        &self,
        variables: &dyn Variables,
        environment: &Environment,
    ) -> Result<Evaluation, EvaluationError> {
        Evaluator::new(variables, environment, None).run(&self.0)
    }

    /// Tests an input value; the result is true, false, or null.
    pub fn evaluate_unary(
        &self,
        input: &Value,
        variables: &dyn Variables,
        environment: &Environment,
    ) -> Result<Evaluation, EvaluationError> {
        Evaluator::new(variables, environment, Some(input.clone())).run(&self.0)
    }

    /// Computes the value, or tests the input, as a part of a larger computation.
    pub fn evaluate_within(
        &self,
        input: Option<&Value>,
        variables: &dyn Variables,
        environment: &Environment,
        budget: &mut Budget,
    ) -> Result<Evaluation, EvaluationError> {
        if let Some(input) = input
            && let Some(passes) = self.0.test_literals(input)
            && let Some(fuel) = budget.fuel.checked_sub(1)
        {
            budget.fuel = fuel;
            return Ok(Evaluation { value: Value::Bool(passes), warnings: Vec::new() });
        }
        let mut evaluator = Evaluator::new(variables, environment, input.cloned()).within(budget);
        let result = evaluator.run_once(&self.0);
        *budget = Budget { depth: budget.depth, ..evaluator.budget() };
        result
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Expression").field(&self.0.text).finish()
    }
}

/// Two expressions are the same if their texts are.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Expression {}
