//! Evaluates nodes to values. One evaluator serves one evaluation.

mod calls;
pub(crate) mod compare;
mod control;
mod cost;
mod evaluator;
mod filters;
mod invoke;
mod literals;
mod operators;
mod paths;
mod unary;

use crate::ast::{Name, Node, NodeId, Operator, Step, TypeName};
use crate::builtins;
use crate::diagnostics::{Evaluation, EvaluationError, WarningKind};
use crate::program::Program;
use crate::value::{Function, Range, Value};
use evaluator::{Eval, Frame, Slot};
pub(crate) use evaluator::{Evaluator, Fatal};
use invoke::builtin_value;
use std::sync::Arc;

impl Evaluator<'_> {
    pub(crate) fn run(mut self, program: &Arc<Program>) -> Result<Evaluation, EvaluationError> {
        self.run_once(program)
    }

    pub(crate) fn run_once(&mut self, program: &Arc<Program>) -> Result<Evaluation, EvaluationError> {
        self.slots.resize_with(program.variables.len(), Slot::default);
        self.program = Arc::as_ptr(program);
        let result = self.eval(program, program.root);
        self.finish(&program.text, result)
    }

    /// Calls a function outside of any expression.
    pub(crate) fn run_function(
        &mut self,
        function: &Function,
        arguments: &[Value],
    ) -> Result<Evaluation, EvaluationError> {
        let mut arguments = arguments.to_vec();
        arguments.resize(function.parameters().len(), Value::Null);
        let result = self.invoke(function, &arguments);
        self.finish("function", result)
    }

    fn finish(&mut self, text: &str, result: Eval<Value>) -> Result<Evaluation, EvaluationError> {
        match result {
            Ok(value) => Ok(Evaluation { value, warnings: std::mem::take(&mut self.warnings) }),
            Err(fatal) => {
                let message = match fatal {
                    Fatal::Assertion(cause) => {
                        self.warn(WarningKind::AssertFailure, || cause.to_string());
                        format!("Assertion failure on evaluate the expression '{text}': {cause}")
                    }
                    Fatal::Failure(cause) => {
                        format!("failed to evaluate expression '{text}': {cause}")
                    }
                };
                Err(EvaluationError { message, warnings: std::mem::take(&mut self.warnings) })
            }
        }
    }

    /// The value of a node. Recursion comes through here and is bounded.
    fn eval(&mut self, program: &Arc<Program>, id: NodeId) -> Eval<Value> {
        self.spend(1)?;
        match program.node(id) {
            Node::Literal(value) => return Ok(value.clone()),
            Node::Variable(name) => return Ok(self.read(program, name)),
            Node::Input => return self.read_input(program),
            _ => {}
        }
        self.enter(1)?;
        let result = self.eval_composite(program, id);
        self.depth -= 1;
        result
    }

    /// Kept small: its frame is part of every level of recursion.
    fn eval_composite(&mut self, program: &Arc<Program>, id: NodeId) -> Eval<Value> {
        match program.node(id) {
            Node::Arithmetic { first, rest } => self.eval_arithmetic(program, *first, rest),
            Node::Compare { comparison, left, right } => {
                self.eval_compare(program, *comparison, *left, *right)
            }
            Node::Postfix { base, steps } => self.eval_postfix(program, *base, steps),
            Node::Logic { conjunction, operands } => self.eval_logic(program, *conjunction, operands),
            Node::If { branches, otherwise } => self.eval_if(program, branches, *otherwise),
            Node::Call(call) => self.eval_call(program, call),
            Node::List(items) => self.eval_list(program, items),
            Node::Context(entries) => self.eval_context(program, entries),
            Node::For { iterators, body, partial } => self.eval_for(program, iterators, *body, *partial),
            Node::Quantified { every, iterators, condition } => {
                self.eval_quantified(program, *every, iterators, *condition)
            }
            Node::Negate(operand) => self.eval_negate(program, *operand),
            Node::Between { value, low, high } => self.eval_between(program, [*value, *low, *high]),
            Node::In { value, tests } => self.eval_in(program, *value, tests),
            Node::InstanceOf { value, kind } => self.eval_instance_of(program, *value, kind),
            Node::Range { .. } => self.eval_range(program, id),
            Node::Function(definition) => Ok(self.make_function(program, id, definition, None)),
            Node::Tests { negated, tests } => self.eval_tests(program, *negated, tests),
            Node::AnyInput => Ok(Value::Bool(true)),
            Node::CompareInput { comparison, value } => self.eval_compare_input(program, *comparison, *value),
            Node::TestExpression { expression, uses_input } => {
                self.eval_test_expression(program, *expression, *uses_input)
            }
            Node::Literal(value) => Ok(value.clone()),
            Node::Variable(name) => Ok(self.read(program, name)),
            Node::Input => self.read_input(program),
        }
    }

    fn read_input(&mut self, program: &Program) -> Eval<Value> {
        if let Some(input) = &self.input {
            return Ok(input.clone());
        }
        if program.unary {
            return Ok(self.null(WarningKind::NoVariableFound, || "No input value found.".to_owned()));
        }
        Err(Fatal::new("No input value available. '?' can only be used inside an unary-test expression."))
    }

    fn read(&mut self, program: &Arc<Program>, name: &Name) -> Value {
        if let Some(value) = self.find(program, name) {
            return value;
        }
        let name: &str = match name {
            Name::Global(slot) => &program.variables[*slot as usize],
            Name::Local(name) | Name::Open(name, _) => name,
        };
        // By the standard, built-in functions are values of their names.
        if self.is_standard()
            && let Some(function) = builtins::find(name).and_then(builtin_value)
        {
            return Value::Function(function);
        }
        self.null(WarningKind::NoVariableFound, || format!("No variable found with name '{name}'"))
    }

    /// The value of a name, if there is one.
    fn find(&mut self, program: &Arc<Program>, name: &Name) -> Option<Value> {
        match name {
            Name::Global(slot) => self.find_root(program, *slot),
            Name::Local(name) => self.find_bound(name),
            Name::Open(name, slot) => self.find_bound(name).or_else(|| self.find_root(program, *slot)),
        }
    }

    fn find_bound(&self, name: &str) -> Option<Value> {
        self.frames[self.base..].iter().rev().find_map(|frame| match frame {
            Frame::Binding(bound, value) => (**bound == *name).then(|| value.clone()),
            Frame::Item(item) => {
                let entry = item.as_context().and_then(|context| context.get(name));
                entry.or_else(|| (name == "item").then(|| item.clone()))
            }
        })
    }

    fn find_root(&mut self, program: &Arc<Program>, slot: u32) -> Option<Value> {
        let variables = self.variables;
        let slot = slot as usize;
        if let Some(known) = &self.slots[slot] {
            return known.clone();
        }
        let value = variables.get(&program.variables[slot]);
        if let Some(value) = &value {
            self.pay_for_variable(value);
        }
        self.slots[slot].insert(value).clone()
    }

    fn eval_list(&mut self, program: &Arc<Program>, items: &[NodeId]) -> Eval<Value> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.eval(program, *item)?);
        }
        self.new_list(values)
    }

    fn eval_context(&mut self, program: &Arc<Program>, entries: &[(Arc<str>, NodeId)]) -> Eval<Value> {
        let start = self.frames.len();
        let mut values = Vec::with_capacity(entries.len());
        for (key, node) in entries {
            let value = match program.node(*node) {
                Node::Function(definition) => {
                    self.make_function(program, *node, definition, Some(key.clone()))
                }
                _ => self.eval(program, *node)?,
            };
            self.frames.push(Frame::Binding(key.clone(), value.clone()));
            values.push((key.clone(), value));
        }
        self.frames.truncate(start);
        let written = values.len();
        let context = self.new_context(values)?;
        if self.is_standard() && context.as_context().is_some_and(|context| context.len() < written) {
            return Ok(self.null(WarningKind::InvalidType, || "The context has a key twice".to_owned()));
        }
        Ok(context)
    }

    fn eval_range(&mut self, program: &Arc<Program>, id: NodeId) -> Eval<Value> {
        let Some((range, bounds)) = self.range_of(program, id)? else { return Ok(Value::Null) };
        let comparable = match bounds {
            [true, true] => compare::order(&range.start, &range.end).is_some(),
            [true, false] => compare::order(&range.start, &range.start).is_some(),
            [false, _] => compare::order(&range.end, &range.end).is_some(),
        };
        if !comparable {
            let text = Value::Range(Arc::new(range)).to_message_text();
            return Ok(self.null(WarningKind::InvalidType, || format!("Invalid range definition '{text}'")));
        }
        let range = self.hold_value(Value::Range(Arc::new(range)))?;
        self.check_extent(range)
    }

    /// The ends of a range as they are, and which of them are stated.
    fn range_of(&mut self, program: &Arc<Program>, id: NodeId) -> Eval<Option<(Range, [bool; 2])>> {
        let Node::Range { start, start_included, end, end_included } = program.node(id) else {
            return Ok(None);
        };
        let mut values = [Value::Null, Value::Null];
        let mut stated = [false, false];
        for ((value, stated), node) in values.iter_mut().zip(&mut stated).zip([*start, *end]) {
            if !matches!(program.node(node), Node::AnyInput) {
                *stated = true;
                *value = self.eval(program, node)?;
            }
        }
        let [start, end] = values;
        Ok(Some((Range { start, start_included: *start_included, end, end_included: *end_included }, stated)))
    }

    fn eval_postfix(&mut self, program: &Arc<Program>, base: NodeId, steps: &[Step]) -> Eval<Value> {
        let mut value = self.eval(program, base)?;
        for step in steps {
            self.spend(1)?;
            value = match step {
                Step::Path(name) => self.property(&value, name)?,
                Step::Filter { condition, kind } => self.filter(program, value, *condition, *kind)?,
                Step::Method { name, arguments } => self.call_method(program, &value, name, arguments)?,
                Step::Invoke(arguments) => self.call_value(program, &value, arguments)?,
            };
        }
        Ok(value)
    }

    fn eval_instance_of(&mut self, program: &Arc<Program>, value: NodeId, kind: &TypeName) -> Eval<Value> {
        let value = self.eval(program, value)?;
        // Types with parameters are compared in all parts.
        if !matches!(kind, TypeName::List(None)) {
            self.walk(&value)?;
        }
        Ok(Value::Bool(self.is_instance(&value, kind)))
    }

    fn eval_arithmetic(
        &mut self,
        program: &Arc<Program>,
        first: NodeId,
        rest: &[(Operator, NodeId)],
    ) -> Eval<Value> {
        let mut value = self.eval(program, first)?;
        for (operator, operand) in rest {
            let operand = self.eval(program, *operand)?;
            value = self.arithmetic(*operator, value, operand)?;
        }
        Ok(value)
    }

    /// Recursion is bounded by the nesting of the type's text.
    fn is_instance(&self, value: &Value, kind: &TypeName) -> bool {
        match (kind, value) {
            (TypeName::Any, value) => !value.is_null(),
            (TypeName::Null, Value::Null)
            | (TypeName::Number, Value::Number(_))
            | (TypeName::Boolean, Value::Bool(_))
            | (TypeName::String, Value::String(_))
            | (TypeName::Date, Value::Date(_))
            | (TypeName::Time, Value::Time(_))
            | (TypeName::DateTime, Value::DateTime(_))
            | (TypeName::Duration, Value::Duration(_))
            | (TypeName::Period, Value::Period(_)) => true,
            (TypeName::List(parameter), Value::List(list)) => match parameter {
                None => true,
                Some(parameter) => list.iter().all(|item| self.conforms(item, parameter)),
            },
            (TypeName::Context(entries), Value::Context(context)) => entries
                .iter()
                .all(|(key, kind)| context.get(key).is_some_and(|value| self.conforms(&value, kind))),
            (TypeName::Range(parameter), Value::Range(range)) => match parameter {
                None => true,
                Some(parameter) => {
                    self.conforms(&range.start, parameter) && self.conforms(&range.end, parameter)
                }
            },
            (TypeName::Function(count), Value::Function(function)) => {
                count.is_none_or(|count| function.parameters().len() == count)
            }
            (TypeName::Named(name), value) => {
                self.environment.types.as_ref().is_some_and(|types| types.is_instance(name, value))
            }
            _ => false,
        }
    }

    /// Inside of other types, null conforms to any type.
    fn conforms(&self, value: &Value, kind: &TypeName) -> bool {
        value.is_null() || self.is_instance(value, kind)
    }
}
