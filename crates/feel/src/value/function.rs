//! Function values.

use super::{Extent, Value};
use crate::ast::NodeId;
use crate::environment::Environment;
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
}

/// A function that the host provides, such as a business knowledge model of a decision.
pub trait NativeFunction: Send + Sync {
    /// Computes the result; arguments come in the order of the parameters, missing ones as null.
    /// An error becomes a warning and null.
    fn call(&self, arguments: &[Value], environment: &Environment) -> Result<Value, String>;
}

/// The body of a FEEL function and the local names that it can see.
pub(crate) struct Closure {
    pub(crate) program: Arc<Program>,
    pub(crate) body: NodeId,
    pub(crate) captured: Vec<(Arc<str>, Value)>,
    /// The key under which a context literal holds the function, so that it can call itself.
    pub(crate) own_name: Option<Arc<str>>,
}

impl Function {
    /// A function of the host.
    pub fn native(parameters: Vec<Arc<str>>, function: Box<dyn NativeFunction>) -> Self {
        Self(Arc::new(Node {
            parameters,
            body: Body::Native(function),
            extent: Extent { depth: 1, weight: 1 },
        }))
    }

    pub(crate) fn closure(parameters: Vec<Arc<str>>, closure: Closure) -> Self {
        // What is captured is never written out, so only its depth counts.
        let mut extent = Extent::around(closure.captured.iter().map(|(_, value)| value.extent()));
        extent.weight = 1;
        Self(Arc::new(Node { parameters, body: Body::Closure(closure), extent }))
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[Arc<str>] {
        &self.0.parameters
    }

    pub(crate) fn as_closure(&self) -> Option<&Closure> {
        if let Body::Closure(closure) = &self.0.body { Some(closure) } else { None }
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
