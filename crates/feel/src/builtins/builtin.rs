//! A built-in function: its overloads, its implementation, and how it may fail.

use crate::evaluate::{Evaluator, Fatal};
use crate::value::Value;
use std::fmt;

/// A built-in function. Its overloads share one implementation, which selects by the number and the types of the
/// arguments.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) signatures: &'static [Signature],
    pub(crate) call: Implementation,
}

pub(super) type Implementation = fn(&mut Evaluator<'_>, &[Value]) -> Outcome;

/// The parameters of one overload; the last parameter of a variadic one is a list of all further arguments.
pub(crate) struct Signature {
    pub(crate) parameters: &'static [&'static str],
    pub(crate) variadic: bool,
}

/// Failure of a function.
pub(crate) enum Failure {
    /// The arguments have the wrong types: null and a warning that lists them.
    Illegal,
    /// Null and a warning of that text.
    Message(String),
    Fatal(Fatal),
}

pub(crate) type Outcome = Result<Value, Failure>;

impl fmt::Debug for Builtin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

pub(super) const fn fixed(parameters: &'static [&'static str]) -> Signature {
    Signature { parameters, variadic: false }
}

pub(super) const fn variadic(parameters: &'static [&'static str]) -> Signature {
    Signature { parameters, variadic: true }
}

pub(super) const fn function(
    name: &'static str,
    signatures: &'static [Signature],
    call: Implementation,
) -> Builtin {
    Builtin { name, signatures, call }
}

/// The value, or a failure with a message.
pub(super) fn or_message(value: Option<impl Into<Value>>, message: impl FnOnce() -> String) -> Outcome {
    value.map(Into::into).ok_or_else(|| Failure::Message(message()))
}

pub(super) fn message<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Message(text.into()))
}
