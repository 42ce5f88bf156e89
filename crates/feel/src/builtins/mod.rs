//! The built-in functions of FEEL, one file for each family. Names of parameters are part of the language: calls may
//! use them.

// All of them have the type of `Builtin::call`, also those that cannot fail.
#![allow(clippy::unnecessary_wraps)]

mod boolean;
mod context;
mod conversion;
mod id;
mod json;
mod list;
mod numeric;
mod ordering;
mod process;
mod range;
mod regex;
mod string;
mod temporal;

use crate::evaluate::{Evaluator, Fatal};
use crate::number::Number;
use crate::value::{Context, List, Value};
pub(crate) use id::BuiltinId;
use std::fmt;
use std::sync::LazyLock;

/// A built-in function. Its overloads share one implementation, which selects by the number and the types of the
/// arguments.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) signatures: &'static [Signature],
    pub(crate) call: Implementation,
}

type Implementation = fn(&mut Evaluator<'_>, &[Value]) -> Outcome;

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

const fn fixed(parameters: &'static [&'static str]) -> Signature {
    Signature { parameters, variadic: false }
}

const fn variadic(parameters: &'static [&'static str]) -> Signature {
    Signature { parameters, variadic: true }
}

const fn function(name: &'static str, signatures: &'static [Signature], call: Implementation) -> Builtin {
    Builtin { name, signatures, call }
}

/// All built-ins, in the order of their names.
static TABLE: LazyLock<Vec<&'static Builtin>> = LazyLock::new(|| {
    let families: [&'static [Builtin]; 10] = [
        boolean::FUNCTIONS,
        context::FUNCTIONS,
        conversion::FUNCTIONS,
        list::FUNCTIONS,
        numeric::FUNCTIONS,
        ordering::FUNCTIONS,
        process::FUNCTIONS,
        range::FUNCTIONS,
        string::FUNCTIONS,
        temporal::FUNCTIONS,
    ];
    let mut table: Vec<_> = families.into_iter().flatten().collect();
    table.sort_unstable_by_key(|builtin| builtin.name);
    debug_assert!(table.is_sorted_by(|one, next| one.name < next.name), "names of built-ins are unique");
    table
});

/// The built-in of a name.
pub(crate) fn find(name: &str) -> Option<BuiltinId> {
    TABLE.binary_search_by_key(&name, |builtin| builtin.name).ok().map(BuiltinId)
}

/// The built-in of a number.
pub(crate) fn get(id: BuiltinId) -> &'static Builtin {
    TABLE[id.0]
}

/// The names of all built-ins, in order.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|builtin| builtin.name)
}

fn number(value: &Value) -> Result<Number, Failure> {
    value.as_number().ok_or(Failure::Illegal)
}

/// A number cut to an integer, as the reference cuts counts and positions.
fn integer(value: &Value) -> Result<i64, Failure> {
    number(value).map(Number::truncate_to_i64)
}

fn text(value: &Value) -> Result<&str, Failure> {
    value.as_str().ok_or(Failure::Illegal)
}

fn list(value: &Value) -> Result<&List, Failure> {
    value.as_list().ok_or(Failure::Illegal)
}

fn context(value: &Value) -> Result<&Context, Failure> {
    value.as_context().ok_or(Failure::Illegal)
}

/// The value, or a failure with a message.
fn or_message(value: Option<impl Into<Value>>, message: impl FnOnce() -> String) -> Outcome {
    value.map(Into::into).ok_or_else(|| Failure::Message(message()))
}

fn message<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Message(text.into()))
}
