//! Function values.

use super::{Extent, Value};
use crate::EvaluationError;
use crate::ast::{self, Definition, NodeId};
use crate::builtins::Builtin;
use crate::environment::{Budget, Environment, Variables};
use crate::evaluate::Evaluator;
use crate::expression::Program;
use std::fmt;
use std::sync::Arc;

/// A function: one written in FEEL together with what it captured, or one of the host.
#[derive(Clone)]
pub struct Function(Arc<Node>);

struct Node {
    parameters: Vec<Arc<str>>,
    body: Body,
    extent: Extent,
}

enum Body {
    Closure(Closure),
    Native(Box<dyn NativeFunction>),
    Builtin(&'static Builtin),
}

/// A function that the host provides, such as a business knowledge model of a decision.
pub trait NativeFunction: Send + Sync {
    /// Computes the result; arguments come in the order of the parameters, missing ones as null.
    /// An error becomes a warning and null, unless it left no fuel.
    fn call(&self, arguments: &[Value], caller: Caller<'_>) -> Result<Value, String>;
}

/// Context that a function of the host gets from the calling evaluation.
pub struct Caller<'a> {
    /// The root variables of the calling expression.
    pub variables: &'a dyn Variables,
    /// The environment of the evaluation.
    pub environment: &'a Environment,
    /// The remaining budget; the function must subtract its own use.
    pub budget: &'a mut Budget,
}

/// The body of a FEEL function and its captured local names.
pub(crate) struct Closure {
    pub(crate) program: Arc<Program>,
    /// Where the function is written.
    pub(crate) node: NodeId,
    pub(crate) captured: Vec<(Arc<str>, Value)>,
    /// The key under which a context literal holds the function, so that it can call itself.
    pub(crate) own_name: Option<Arc<str>>,
    /// Root variables that were kept when the function was made, with their slots.
    pub(crate) roots: Vec<(u32, Option<Value>)>,
}

impl Closure {
    pub(crate) fn definition(&self) -> Option<&Definition> {
        if let ast::Node::Function(definition) = self.program.node(self.node) {
            Some(definition)
        } else {
            None
        }
    }
}

impl Function {
    /// A function of the host.
    pub fn native(parameters: Vec<Arc<str>>, function: Box<dyn NativeFunction>) -> Self {
        Self::native_around(parameters, std::iter::empty(), function)
    }

    /// A function of the host that holds values, which count for the depth of the function.
    pub fn native_around<'v>(
        parameters: Vec<Arc<str>>,
        held: impl Iterator<Item = &'v Value>,
        function: Box<dyn NativeFunction>,
    ) -> Self {
        let extent = Extent { depth: Extent::around(held.map(Value::extent)).depth, ..Extent::POINT };
        Self(Arc::new(Node { parameters, body: Body::Native(function), extent }))
    }

    /// Runs the function with one value for each parameter, outside of any expression.
    pub fn invoke(
        &self,
        arguments: &[Value],
        variables: &dyn Variables,
        environment: &Environment,
        budget: &mut Budget,
    ) -> Result<crate::Evaluation, EvaluationError> {
        let mut evaluator = Evaluator::new(variables, environment, None).within(budget);
        let result = evaluator.run_function(self, arguments);
        *budget = Budget { depth: budget.depth, ..evaluator.budget() };
        result
    }

    pub(crate) fn closure(parameters: Vec<Arc<str>>, closure: Closure) -> Self {
        // Captured values are never written as JSON, so only their depth counts.
        let captured = closure.captured.iter().map(|(_, value)| value);
        let roots = closure.roots.iter().filter_map(|(_, value)| value.as_ref());
        let extent =
            Extent { depth: Extent::around(captured.chain(roots).map(Value::extent)).depth, ..Extent::POINT };
        Self(Arc::new(Node { parameters, body: Body::Closure(closure), extent }))
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[Arc<str>] {
        &self.0.parameters
    }

    pub(crate) fn as_closure(&self) -> Option<&Closure> {
        if let Body::Closure(closure) = &self.0.body { Some(closure) } else { None }
    }

    /// A built-in function as a value; none if it takes any number of arguments.
    pub(crate) fn builtin(builtin: &'static Builtin) -> Option<Self> {
        let signature = builtin.signatures.iter().find(|signature| !signature.variadic)?;
        let parameters = signature.parameters.iter().map(|name| Arc::from(*name)).collect();
        Some(Self(Arc::new(Node { parameters, body: Body::Builtin(builtin), extent: Extent::POINT })))
    }

    pub(crate) fn as_builtin(&self) -> Option<&'static Builtin> {
        if let Body::Builtin(builtin) = &self.0.body { Some(builtin) } else { None }
    }

    pub(crate) fn as_native(&self) -> Option<&dyn NativeFunction> {
        if let Body::Native(native) = &self.0.body { Some(&**native) } else { None }
    }

    pub(crate) fn extent(&self) -> Extent {
        self.0.extent
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "function({})", self.0.parameters.join(", "))
    }
}
