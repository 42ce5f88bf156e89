//! FEEL, the expression language of DMN, in the dialect that Camunda 8 executes.
//!
//! [`Expression::parse`] compiles a text once, without knowing variables or their values. [`Expression::evaluate`]
//! computes a value from variables, a clock, a seed, and limits given in an [`Environment`]; it reads nothing else,
//! so the same inputs give the same result everywhere. Most failures make a part of the expression null and leave a
//! [`Warning`]; few failures end the evaluation.
//!
//! Modules of an expression: `lexer` → `parser` → `ast` → `evaluate` with `builtins`.
//!
//! This crate must not know processes, decisions, files, sockets, the machine's clock or its randomness. Nothing in
//! it recurses without a bound over input that a user controls: the parser bounds nesting and the height of trees,
//! the evaluator bounds depth, fuel, and the depth of values.

mod ast;
mod builtins;
mod diagnostics;
mod dialect;
mod environment;
mod evaluate;
mod expression;
mod from_ai;
mod json;
mod lexer;
mod number;
mod parser;
mod program;
mod temporal;
mod value;

pub use ::json::DEPTH_MAX as JSON_DEPTH_MAX;
pub use diagnostics::{Evaluation, EvaluationError, ParseError, Warning, WarningKind};
pub use dialect::Dialect;
pub use environment::{Budget, Environment, Limits, Types, Variables};
pub use expression::Expression;
pub use from_ai::AiParameter;
pub use json::{JsonError, SIZE_MAX as JSON_SIZE_MAX};
pub use number::{Number, PRECISION, Rounding};
pub use temporal::{Date, DateTime, NamedZone, Time, Zone};
pub use value::{
    Caller, Context, Function, List, NativeFunction, Range, VALUE_DEPTH_MAX, VALUE_EXCESS, VALUE_WEIGHT_MAX,
    Value,
};

/// Names of all built-in functions, in order.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}
