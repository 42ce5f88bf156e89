//! Unary tests of numbers and texts whose operands are literals, as most cells of decision tables
//! are. They need no names, no warnings, and no recursion, so they are tested without an evaluator.

use super::compare;
use super::operators::holds;
use crate::ast::{Comparison, Node, NodeId};
use crate::program::Program;
use crate::value::Value;
use std::cmp::Ordering;

impl Program {
    /// Whether the input passes; `None` if the test needs an evaluation.
    pub(crate) fn test_literals(&self, input: &Value) -> Option<bool> {
        let Node::Tests { negated, tests } = self.node(self.root) else { return None };
        for test in tests {
            if self.test_literal(*test, input)? {
                return Some(!negated);
            }
        }
        Some(*negated)
    }

    fn test_literal(&self, test: NodeId, input: &Value) -> Option<bool> {
        match self.node(test) {
            Node::CompareInput { comparison, value } => {
                Some(holds(*comparison, self.order_of(input, *value)?))
            }
            Node::TestExpression { expression, uses_input: false } => match self.node(*expression) {
                Node::Literal(_) => Some(self.order_of(input, *expression)?.is_eq()),
                Node::Range { start, start_included, end, end_included } => {
                    let lowest =
                        if *start_included { Comparison::GreaterOrEqual } else { Comparison::Greater };
                    let highest = if *end_included { Comparison::LessOrEqual } else { Comparison::Less };
                    let (start, end) = (self.order_of(input, *start)?, self.order_of(input, *end)?);
                    Some(holds(lowest, start) && holds(highest, end))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// How the input is ordered to a literal of its type.
    fn order_of(&self, input: &Value, literal: NodeId) -> Option<Ordering> {
        let Node::Literal(literal) = self.node(literal) else { return None };
        match (input, literal) {
            (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_)) => {
                compare::order(input, literal)
            }
            _ => None,
        }
    }
}
