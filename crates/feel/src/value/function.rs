//! Function values.

use super::{Extent, Value};
use crate::ast::{self, Definition, NodeId};
use crate::builtins::BuiltinId;
use crate::environment::{Budget, Environment, Variables};
use crate::program::Program;
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
    Builtin(BuiltinId),
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

    /// A built-in function as a value.
    pub(crate) fn builtin(id: BuiltinId, parameters: Vec<Arc<str>>) -> Self {
        Self(Arc::new(Node { parameters, body: Body::Builtin(id), extent: Extent::POINT }))
    }

    pub(crate) fn as_builtin(&self) -> Option<BuiltinId> {
        if let Body::Builtin(id) = self.0.body { Some(id) } else { None }
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
