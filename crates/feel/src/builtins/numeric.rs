//! Functions of numbers (DMN 1.5 table 76, and Camunda's additions).

use super::argument::{self, integer, number};
use super::builtin::{Builtin, Failure, Outcome, fixed, function, message, or_message};
use crate::evaluate::{Evaluator, Fatal};
use crate::number::{Number, Rounding};
use crate::value::Value;
use std::ops::RangeInclusive;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("decimal", &[fixed(&["n", "scale"]), fixed(&["n", "scale", "mode"])], decimal),
    function("floor", &[fixed(&["n"]), fixed(&["n", "scale"])], floor),
    function("ceiling", &[fixed(&["n"]), fixed(&["n", "scale"])], ceiling),
    function("round up", &[fixed(&["n", "scale"])], round_up),
    function("round down", &[fixed(&["n", "scale"])], round_down),
    function("round half up", &[fixed(&["n", "scale"])], round_half_up),
    function("round half down", &[fixed(&["n", "scale"])], round_half_down),
    function("abs", &[fixed(&["number"]), fixed(&["n"])], abs),
    function("modulo", &[fixed(&["dividend", "divisor"])], modulo),
    function("sqrt", &[fixed(&["number"])], sqrt),
    function("log", &[fixed(&["number"])], log),
    function("exp", &[fixed(&["number"])], exp),
    function("odd", &[fixed(&["number"])], odd),
    function("even", &[fixed(&["number"])], even),
    function("random number", &[fixed(&[])], random_number),
];

/// Scales that a function may be given (DMN 1.5 table 76).
const SCALES: RangeInclusive<i32> = -6_111..=6_176;

fn round(arguments: &[Value], mode: Rounding) -> Outcome {
    let value = number(&arguments[0])?;
    let scale = arguments.get(1).map_or(Ok(0), integer)?;
    let scale_in_range = i32::try_from(scale).ok().filter(|scale| SCALES.contains(scale));
    let rounded = scale_in_range.and_then(|scale| value.round(scale, mode));
    or_message(rounded, || format!("scale '{scale}' is out of range"))
}

fn decimal(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let Some(mode) = arguments.get(2) else { return round(arguments, Rounding::HalfEven) };
    let mode = argument::text(mode)?;
    let rounding = match mode.to_ascii_uppercase().as_str() {
        "UP" => Rounding::Up,
        "DOWN" => Rounding::Down,
        "CEILING" => Rounding::Ceiling,
        "FLOOR" => Rounding::Floor,
        "HALF_UP" => Rounding::HalfUp,
        "HALF_DOWN" => Rounding::HalfDown,
        "HALF_EVEN" => Rounding::HalfEven,
        "UNNECESSARY" => {
            let rounded = round(arguments, Rounding::Down)?;
            return if rounded == arguments[0] { Ok(rounded) } else { message("Rounding necessary") };
        }
        _ => return message(format!("Illegal argument '{mode}' for rounding mode")),
    };
    round(arguments, rounding)
}

fn floor(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::Floor)
}

fn ceiling(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::Ceiling)
}

fn round_up(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::Up)
}

fn round_down(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::Down)
}

fn round_half_up(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::HalfUp)
}

fn round_half_down(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    round(arguments, Rounding::HalfDown)
}

fn abs(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    match &arguments[0] {
        Value::Number(value) => Ok(value.magnitude().into()),
        Value::Duration(duration) => Ok(duration.abs().into()),
        Value::Period(months) => Ok(Value::Period(months.saturating_abs())),
        _ => Err(Failure::Illegal),
    }
}

fn modulo(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (dividend, divisor) = (number(&arguments[0])?, number(&arguments[1])?);
    if divisor.is_zero() && !evaluator.is_standard() {
        return Err(Failure::Fatal(Fatal::new("Division by zero")));
    }
    or_message(dividend.modulo(divisor), || "Division by zero".to_owned())
}

/// Fuel of a root, a logarithm or an exponential.
const FUNCTION_STEPS: usize = 20;

fn sqrt(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.spend(FUNCTION_STEPS)?;
    Ok(number(&arguments[0])?.square_root().into())
}

fn log(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.spend(FUNCTION_STEPS)?;
    let value = number(&arguments[0])?;
    match value.logarithm() {
        Some(logarithm) => Ok(logarithm.into()),
        None if evaluator.is_standard() => message("the logarithm is not defined"),
        None => Err(Failure::Fatal(Fatal::new(format!("the logarithm of '{value}' is not defined")))),
    }
}

fn exp(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.spend(FUNCTION_STEPS)?;
    or_message(number(&arguments[0])?.exponential(), || "the result is out of range".to_owned())
}

fn is_odd(arguments: &[Value]) -> Result<bool, Failure> {
    let remainder = number(&arguments[0])?.modulo(2.into());
    Ok(remainder.is_some_and(|remainder| remainder == Number::ONE))
}

fn odd(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    is_odd(arguments).map(Value::Bool)
}

fn even(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let remainder = number(&arguments[0])?.modulo(2.into());
    Ok(Value::Bool(remainder.is_some_and(Number::is_zero)))
}

/// Between 0 and below 1, drawn from the seed.
fn random_number(evaluator: &mut Evaluator<'_>, _: &[Value]) -> Outcome {
    let drawn = (evaluator.next_random() >> 11) as f64 / (1u64 << 53) as f64;
    Ok(Number::from_f64(drawn).into())
}
