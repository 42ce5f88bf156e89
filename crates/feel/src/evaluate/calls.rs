//! Calls of built-in functions, of functions written in FEEL, and of functions of the host.

use super::cost::{FUNCTION_BYTES, cost};
use super::evaluator::{Eval, Evaluator, Fatal, Frame};
use crate::ast::{Arguments, Call, Definition, NodeId, Plan};
use crate::builtins::{self, Builtin, Failure};
use crate::diagnostics::WarningKind;
use crate::program::Program;
use crate::value::{Caller, Closure, Function, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// Levels of depth of a call: it takes about as much stack as this number of nodes.
const CALL_LEVELS: u32 = 3;

/// Levels of depth of a call of a function of the host, which may evaluate expressions in turn.
const NATIVE_LEVELS: u32 = 10;

type Values = SmallVec<[Value; 4]>;

impl Evaluator<'_> {
    /// A function together with the names around it that it reads.
    pub(super) fn make_function(
        &mut self,
        program: &Arc<Program>,
        node: NodeId,
        definition: &Definition,
        own_name: Option<Arc<str>>,
    ) -> Value {
        let free = definition.free.iter();
        let captured = free.filter_map(|name| Some((name.clone(), self.find_bound(name)?))).collect();
        let roots = if self.variables.is_captured() {
            definition.roots.iter().map(|slot| (*slot, self.find_root(program, *slot))).collect()
        } else {
            Vec::new()
        };
        // If the fuel is not enough, the next operation fails.
        self.bytes = self.bytes.saturating_sub(FUNCTION_BYTES as u64);
        let closure = Closure { program: program.clone(), node, captured, own_name, roots };
        Value::Function(Function::closure(definition.parameters.to_vec(), closure))
    }

    pub(super) fn eval_call(&mut self, program: &Arc<Program>, call: &Call) -> Eval<Value> {
        if let Some(name) = &call.variable
            && let Some(Value::Function(function)) = self.find(program, name)
        {
            return self.call_function(program, &call.name, &function, &call.arguments);
        }
        match &call.builtin {
            Some((id, plan)) => self.call_builtin(program, builtins::get(*id), plan, &call.arguments),
            None => Ok(self.no_function(&call.name, &call.arguments)),
        }
    }

    /// `context.name(…)`
    pub(super) fn call_method(
        &mut self,
        program: &Arc<Program>,
        value: &Value,
        name: &str,
        arguments: &Arguments,
    ) -> Eval<Value> {
        if let Some(context) = value.as_context() {
            self.search_context(context)?;
        }
        match value.as_context().and_then(|context| context.get(name)) {
            Some(Value::Function(function)) => self.call_function(program, name, &function, arguments),
            _ => Ok(self.no_function(name, arguments)),
        }
    }

    /// `(function(x) …)(…)`
    pub(super) fn call_value(
        &mut self,
        program: &Arc<Program>,
        value: &Value,
        arguments: &Arguments,
    ) -> Eval<Value> {
        match value {
            Value::Function(function) => self.call_function(program, "", function, arguments),
            other => Ok(self.null(WarningKind::InvalidType, || {
                format!("Expected function but found '{}'", other.to_message_text())
            })),
        }
    }

    fn call_function(
        &mut self,
        program: &Arc<Program>,
        name: &str,
        function: &Function,
        arguments: &Arguments,
    ) -> Eval<Value> {
        let parameters = function.parameters();
        let mut values: Values = smallvec::smallvec![Value::Null; parameters.len()];
        match arguments {
            Arguments::Positional(nodes) => {
                if nodes.len() != parameters.len() {
                    return Ok(self.no_function(name, arguments));
                }
                for (value, node) in values.iter_mut().zip(nodes) {
                    *value = self.eval(program, *node)?;
                }
            }
            Arguments::Named(named) => {
                for (argument, node) in named {
                    let Some(place) = parameters.iter().position(|parameter| parameter == argument) else {
                        return Ok(self.no_function(name, arguments));
                    };
                    values[place] = self.eval(program, *node)?;
                }
            }
        }
        self.invoke(function, &values)
    }

    /// Runs a function with one value for each parameter.
    pub(crate) fn invoke(&mut self, function: &Function, arguments: &[Value]) -> Eval<Value> {
        if let Some(native) = function.as_native() {
            self.spend(1)?;
            self.enter(NATIVE_LEVELS)?;
            let mut budget = self.budget();
            let (variables, environment) = (self.variables, self.environment);
            let result = native.call(arguments, Caller { variables, environment, budget: &mut budget });
            self.go_on(&budget);
            self.depth -= NATIVE_LEVELS;
            return match result {
                Ok(value) => self.check_extent(value),
                Err(message) if self.budget().is_spent() => Err(Fatal::new(message)),
                Err(message) => Ok(self.null(WarningKind::FunctionInvocationFailure, || message)),
            };
        }
        if let Some(builtin) = function.as_builtin().map(builtins::get) {
            self.enter(CALL_LEVELS)?;
            let result = self.apply(builtin, arguments);
            self.depth -= CALL_LEVELS;
            return result;
        }
        let Some((closure, definition)) =
            function.as_closure().and_then(|closure| Some((closure, closure.definition()?)))
        else {
            return Ok(Value::Null);
        };
        if self.is_standard() && !self.fit(definition, arguments) {
            let name = closure.own_name.as_deref().unwrap_or_default();
            return Ok(self.refuse(name, Failure::Illegal, arguments));
        }
        self.enter(CALL_LEVELS)?;
        // The scope of the body has its captures and its parameters, nothing of its caller.
        let outer_base = std::mem::replace(&mut self.base, self.frames.len());
        let place = self.base;
        for (name, value) in &closure.captured {
            self.frames.push(Frame::Binding(name.clone(), value.clone()));
        }
        if let Some(name) = &closure.own_name {
            self.frames.push(Frame::Binding(name.clone(), Value::Function(function.clone())));
        }
        for (name, value) in function.parameters().iter().zip(arguments) {
            self.frames.push(Frame::Binding(name.clone(), value.clone()));
        }
        let result = self.run_body(closure, definition.body);
        self.frames.truncate(place);
        self.base = outer_base;
        self.depth -= CALL_LEVELS;
        result
    }

    /// Whether the arguments have the types that the definition states.
    fn fit(&self, definition: &Definition, arguments: &[Value]) -> bool {
        definition
            .types
            .iter()
            .zip(arguments)
            .all(|(kind, value)| kind.as_ref().is_none_or(|kind| self.conforms(value, kind)))
    }

    /// Another program has its own slots of root variables, so those of the caller are saved.
    fn run_body(&mut self, closure: &Closure, body: NodeId) -> Eval<Value> {
        let program = &closure.program;
        if closure.roots.is_empty() && std::ptr::eq(self.program, Arc::as_ptr(program)) {
            return self.eval(program, body);
        }
        let mut fresh = SmallVec::from_elem(None, program.variables.len());
        for (slot, value) in &closure.roots {
            fresh[*slot as usize] = Some(value.clone());
        }
        let slots = std::mem::replace(&mut self.slots, fresh);
        let outer = std::mem::replace(&mut self.program, Arc::as_ptr(program));
        let result = self.eval(program, body);
        self.slots = slots;
        self.program = outer;
        result
    }

    fn call_builtin(
        &mut self,
        program: &Arc<Program>,
        builtin: &'static Builtin,
        plan: &Plan,
        arguments: &Arguments,
    ) -> Eval<Value> {
        let mut values = Values::new();
        match (plan, arguments) {
            (Plan::Direct(nodes), _) => {
                for node in nodes {
                    values.push(match node {
                        Some(node) => self.eval(program, *node)?,
                        None => Value::Null,
                    });
                }
            }
            (Plan::Variadic(leading), Arguments::Positional(nodes)) => {
                for node in nodes {
                    values.push(self.eval(program, *node)?);
                }
                // A single list stands for the arguments.
                let is_list = *leading == 0 && matches!(values.as_slice(), [Value::List(_)]);
                if !is_list {
                    let collected = values.drain(*leading..).collect();
                    let collected = self.new_list(collected)?;
                    values.push(collected);
                }
            }
            _ => return Ok(self.no_function(builtin.name, arguments)),
        }
        if self.is_standard() && !is_standard_call(builtin, arguments, &values) {
            return Ok(self.no_function(builtin.name, arguments));
        }
        self.apply(builtin, &values)
    }

    /// Runs a built-in function with all its arguments.
    fn apply(&mut self, builtin: &'static Builtin, values: &[Value]) -> Eval<Value> {
        for value in values {
            self.open(value)?;
            self.spend(cost(value))?;
        }
        let mut outcome = (builtin.call)(self, values);
        if matches!(outcome, Err(Failure::Illegal)) && self.is_standard() {
            outcome = self.call_coerced(builtin, values);
        }
        match outcome {
            Ok(value) => {
                self.check_text(&value)?;
                self.spend(cost(&value))?;
                let value = self.hold_value(value)?;
                self.check_extent(value)
            }
            Err(Failure::Fatal(fatal)) => Err(fatal),
            Err(failure) => Ok(self.refuse(builtin.name, failure, values)),
        }
    }

    /// Lists of one item stand for the item, and a value for the list of it (DMN 1.5 §10.3.2.9.4).
    fn call_coerced(&mut self, builtin: &Builtin, values: &[Value]) -> Result<Value, Failure> {
        let mut single: Values = values.iter().cloned().collect();
        for value in &mut single {
            if let Value::List(list) = value
                && let [item] = list.items()
            {
                *value = item.clone();
            }
        }
        match (builtin.call)(self, &single) {
            Err(Failure::Illegal) => {}
            outcome => return outcome,
        }
        let mut listed: Values = values.iter().cloned().collect();
        match listed.first_mut() {
            Some(first) if !matches!(first, Value::List(_) | Value::Null) => {
                *first = Value::list(vec![first.clone()]);
            }
            _ => return Err(Failure::Illegal),
        }
        (builtin.call)(self, &listed)
    }

    fn refuse(&mut self, name: &str, failure: Failure, values: &[Value]) -> Value {
        self.null(WarningKind::FunctionInvocationFailure, || {
            let reason = if let Failure::Message(message) = failure {
                message
            } else {
                let values: Vec<String> =
                    values.iter().map(|value| format!("'{}'", value.to_message_text())).collect();
                format!("Illegal arguments: {}", values.join(", "))
            };
            format!("Failed to invoke function '{name}': {reason}")
        })
    }

    fn no_function(&mut self, name: &str, arguments: &Arguments) -> Value {
        self.null(WarningKind::NoFunctionFound, || match arguments {
            Arguments::Positional(values) => {
                format!("No function found with name '{name}' and {} parameters", values.len())
            }
            Arguments::Named(values) => {
                let names: Vec<&str> = values.iter().map(|(name, _)| &**name).collect();
                format!("No function found with name '{name}' and parameters: {}", names.join(","))
            }
        })
    }
}

impl From<Fatal> for Failure {
    fn from(fatal: Fatal) -> Self {
        Self::Fatal(fatal)
    }
}

/// Whether the standard has the names of the arguments; it is stricter with some of them.
fn is_standard_call(builtin: &Builtin, arguments: &Arguments, values: &[Value]) -> bool {
    let Arguments::Named(named) = arguments else { return true };
    named.iter().all(|(name, _)| match (builtin.name, &**name) {
        ("abs", "number") => false,
        ("context put", "key") => !matches!(values.get(1), Some(Value::List(_))),
        _ => true,
    })
}
