//! Boolean functions, and those about null.

use super::builtin::{Builtin, Failure, Outcome, fixed, function};
use crate::evaluate::{Evaluator, Fatal};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("not", &[fixed(&["negand"])], not),
    function("is defined", &[fixed(&["value"])], is_defined),
    function("get or else", &[fixed(&["value", "default"])], get_or_else),
    function("assert", &[fixed(&["value", "condition"]), fixed(&["value", "condition", "cause"])], assert),
    function("is", &[fixed(&["value1", "value2"])], is),
];

fn not(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    arguments[0].as_bool().map(|value| Value::Bool(!value)).ok_or(Failure::Illegal)
}

fn is_defined(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(!arguments[0].is_null()))
}

fn get_or_else(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(if arguments[0].is_null() { arguments[1].clone() } else { arguments[0].clone() })
}

fn assert(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    if arguments[1].as_bool() == Some(true) {
        return Ok(arguments[0].clone());
    }
    let cause = arguments.get(2).and_then(Value::as_str).unwrap_or("The condition is not fulfilled");
    Err(Failure::Fatal(Fatal::Assertion(Box::from(cause))))
}

/// Same type and same value, also the same zone (DMN 1.5 table 70).
fn is(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let same = match (&arguments[0], &arguments[1]) {
        (Value::Time(left), Value::Time(right)) => {
            left.nanos_of_day() == right.nanos_of_day() && left.zone() == right.zone()
        }
        (Value::DateTime(left), Value::DateTime(right)) => left.is_same(right) && left.zone() == right.zone(),
        (left, right) => left == right,
    };
    Ok(Value::Bool(same))
}
