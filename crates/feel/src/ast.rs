//! The parsed form of an expression: nodes in one vector that refer to each other by number, so
//! that neither cloning nor dropping recurses. Operators of one precedence are one flat node.

use crate::builtins::BuiltinId;
use crate::value::Value;
use std::sync::Arc;

/// The place of a node in its program.
pub(crate) type NodeId = u32;

/// An expression or a unary test.
#[derive(Debug)]
pub(crate) enum Node {
    Literal(Value),
    Variable(Name),
    /// `?`
    Input,
    List(Box<[NodeId]>),
    Context(Box<[(Arc<str>, NodeId)]>),
    Range {
        start: NodeId,
        start_included: bool,
        end: NodeId,
        end_included: bool,
    },
    /// Operators of one precedence, left to right.
    Arithmetic {
        first: NodeId,
        rest: Box<[(Operator, NodeId)]>,
    },
    Negate(NodeId),
    Compare {
        comparison: Comparison,
        left: NodeId,
        right: NodeId,
    },
    Between {
        value: NodeId,
        low: NodeId,
        high: NodeId,
    },
    In {
        value: NodeId,
        tests: Box<[NodeId]>,
    },
    InstanceOf {
        value: NodeId,
        kind: TypeName,
    },
    /// Conjunction or disjunction of all operands.
    Logic {
        conjunction: bool,
        operands: Box<[NodeId]>,
    },
    /// `if … then …` steps of one ladder, and the last `else`.
    If {
        branches: Box<[(NodeId, NodeId)]>,
        otherwise: NodeId,
    },
    For {
        iterators: Box<[Iterator]>,
        body: NodeId,
        partial: bool,
    },
    Quantified {
        every: bool,
        iterators: Box<[Iterator]>,
        condition: NodeId,
    },
    Postfix {
        base: NodeId,
        steps: Box<[Step]>,
    },
    Function(Box<Definition>),
    Call(Box<Call>),
    /// Comma-separated unary tests, perhaps within `not(…)`.
    Tests {
        negated: bool,
        tests: Box<[NodeId]>,
    },
    /// `-`
    AnyInput,
    /// `< value` and its like.
    CompareInput {
        comparison: Comparison,
        value: NodeId,
    },
    /// An expression as a unary test.
    TestExpression {
        expression: NodeId,
        uses_input: bool,
    },
}

/// Location of the value of a name.
#[derive(Debug)]
pub(crate) enum Name {
    /// A root variable, by its slot.
    Global(u32),
    /// Bound in the expression.
    Local(Arc<str>),
    /// Inside a filter: perhaps an entry of the item, otherwise a root variable.
    Open(Arc<str>, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// `name in source` of loops.
#[derive(Debug)]
pub(crate) struct Iterator {
    pub(crate) name: Arc<str>,
    pub(crate) source: Source,
    /// Whether the source reads the name of an earlier iterator.
    pub(crate) dependent: bool,
}

/// The domain of a loop.
#[derive(Debug)]
pub(crate) enum Source {
    Value(NodeId),
    Range(NodeId, NodeId),
}

/// One postfix operation on a value: `.key`, `[filter]`, `.function(…)`, `(…)`.
#[derive(Debug)]
pub(crate) enum Step {
    Path(Arc<str>),
    Filter { condition: NodeId, kind: FilterKind },
    Method { name: Arc<str>, arguments: Arguments },
    Invoke(Arguments),
}

impl Step {
    /// The name of a step to an entry of a context, or to a property.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Path(name) => Some(name),
            Self::Filter { .. } | Self::Method { .. } | Self::Invoke(_) => None,
        }
    }
}

/// Static classification of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterKind {
    /// Arithmetic: always an index, if anything.
    Index,
    /// A name: an index if it is a number outside of the items.
    Name,
    /// Anything else: the result for the first item decides.
    Condition,
}

/// A call by name.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: Arc<str>,
    /// Location of a function value; none if the name can only be a built-in.
    pub(crate) variable: Option<Name>,
    pub(crate) builtin: Option<(BuiltinId, Plan)>,
    pub(crate) arguments: Arguments,
}

/// A function as written.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) parameters: Box<[Arc<str>]>,
    /// The types of the parameters, where stated.
    pub(crate) types: Box<[Option<TypeName>]>,
    pub(crate) body: NodeId,
    /// Names bound outside that the body may read.
    pub(crate) free: Box<[Arc<str>]>,
    /// Root variables that the body may read, by their slots.
    pub(crate) roots: Box<[u32]>,
}

#[derive(Debug)]
pub(crate) enum Arguments {
    Positional(Box<[NodeId]>),
    Named(Box<[(Arc<str>, NodeId)]>),
}

/// How the arguments of a call fill the parameters of a built-in.
#[derive(Debug)]
pub(crate) enum Plan {
    /// One by one; a missing argument is null.
    Direct(Box<[Option<NodeId>]>),
    /// This number of arguments one by one, the others as a list.
    Variadic(usize),
    Mismatch,
}

/// The type behind `instance of`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypeName {
    Any,
    Null,
    Number,
    Boolean,
    String,
    Date,
    Time,
    DateTime,
    Duration,
    Period,
    /// With the type of the items, if stated.
    List(Option<Box<TypeName>>),
    /// With the types of entries, if stated.
    Context(Box<[(Arc<str>, TypeName)]>),
    Range(Option<Box<TypeName>>),
    /// With the number of parameters, if stated.
    Function(Option<usize>),
    /// A name that FEEL does not define; the host may define it.
    Named(Arc<str>),
}
