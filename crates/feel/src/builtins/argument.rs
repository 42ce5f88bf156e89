//! Arguments of the types that functions ask for.

use super::builtin::Failure;
use crate::number::Number;
use crate::value::{Context, List, Value};

pub(super) fn number(value: &Value) -> Result<Number, Failure> {
    value.as_number().ok_or(Failure::Illegal)
}

/// A number cut to an integer, as the reference cuts counts and positions.
pub(super) fn integer(value: &Value) -> Result<i64, Failure> {
    number(value).map(Number::truncate_to_i64)
}

pub(super) fn text(value: &Value) -> Result<&str, Failure> {
    value.as_str().ok_or(Failure::Illegal)
}

pub(super) fn list(value: &Value) -> Result<&List, Failure> {
    value.as_list().ok_or(Failure::Illegal)
}

pub(super) fn context(value: &Value) -> Result<&Context, Failure> {
    value.as_context().ok_or(Failure::Illegal)
}
