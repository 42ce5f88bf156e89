//! Unary tests of decision tables and of the operator `in`.

use super::evaluator::{Eval, Evaluator};
use crate::ast::{Comparison, Node, NodeId};
use crate::program::Program;
use crate::value::{Range, Value};
use std::sync::Arc;

impl Evaluator<'_> {
    /// Any of the tests, perhaps negated; null if none holds and one cannot be decided.
    pub(super) fn eval_tests(
        &mut self,
        program: &Arc<Program>,
        negated: bool,
        tests: &[NodeId],
    ) -> Eval<Value> {
        let mut unknown = false;
        for test in tests {
            match self.eval(program, *test)? {
                Value::Bool(true) => return Ok(Value::Bool(!negated)),
                Value::Bool(false) => {}
                _ => unknown = true,
            }
        }
        Ok(if unknown { Value::Null } else { Value::Bool(negated) })
    }

    pub(super) fn eval_in(&mut self, program: &Arc<Program>, value: NodeId, tests: &[NodeId]) -> Eval<Value> {
        let value = self.eval(program, value)?;
        let outer = self.input.replace(value);
        let result = self.eval_tests(program, false, tests);
        self.input = outer;
        result
    }

    pub(super) fn eval_compare_input(
        &mut self,
        program: &Arc<Program>,
        comparison: Comparison,
        value: NodeId,
    ) -> Eval<Value> {
        let input = self.read_input(program)?;
        let value = self.eval(program, value)?;
        self.compare(comparison, &input, &value)
    }

    pub(super) fn eval_test_expression(
        &mut self,
        program: &Arc<Program>,
        expression: NodeId,
        uses_input: bool,
    ) -> Eval<Value> {
        if let Some((range, stated)) = self.range_of(program, expression)? {
            let input = self.read_input(program)?;
            let nothing = (stated[0] && range.start.is_null()) || (stated[1] && range.end.is_null());
            return Ok(if nothing {
                self.outside_types(&input, &range.start, &range.end)
            } else {
                self.in_range(&input, &range)?
            });
        }
        let result = self.eval(program, expression)?;
        if uses_input {
            return Ok(if matches!(result, Value::Bool(_)) { result } else { Value::Null });
        }
        let input = self.read_input(program)?;
        let is_literal = matches!(program.node(expression), Node::Literal(_));
        match &result {
            Value::Bool(true) if !(is_literal || self.is_standard() && matches!(input, Value::Bool(_))) => {
                Ok(result)
            }
            Value::Bool(false) if !is_literal && !matches!(input, Value::Bool(_)) => Ok(result),
            Value::Range(range) => self.in_range(&input, range),
            Value::List(list) if self.equals(&input, &result)? != Some(true) => {
                self.open_list(list)?;
                self.spend(list.len())?;
                let mut found = false;
                for item in list {
                    found |= match item {
                        Value::Range(range) if !matches!(input, Value::Range(_)) => {
                            range.contains(&input) == Some(true)
                        }
                        item => self.equals(&input, item)? == Some(true),
                    };
                }
                Ok(Value::Bool(found))
            }
            _ => self.compare(Comparison::Equal, &input, &result),
        }
    }

    /// Whether the input is in a range whose end is open beyond all values where it is null.
    fn in_range(&mut self, input: &Value, range: &Range) -> Eval<Value> {
        self.pay_for_comparison(input, &range.start)?;
        self.pay_for_comparison(input, &range.end)?;
        Ok(match range.contains(input) {
            Some(contained) => Value::Bool(contained),
            None => self.outside_types(input, &range.start, &range.end),
        })
    }
}
