//! Functions that only processes have: timer cycles and parameters of ad-hoc tools.

use super::builtin::{Builtin, Failure, Outcome, fixed, function};
use crate::evaluate::Evaluator;
use crate::number::Rounding;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("cycle", &[fixed(&["interval"]), fixed(&["repetitions", "interval"])], cycle),
    function(
        "fromAi",
        &[
            fixed(&["value"]),
            fixed(&["value", "description"]),
            fixed(&["value", "description", "type"]),
            fixed(&["value", "description", "type", "schema"]),
            fixed(&["value", "description", "type", "schema", "options"]),
        ],
        from_ai,
    ),
];

/// The ISO 8601 repeating interval of a duration.
fn cycle(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let (repetitions, interval) = match arguments {
        [interval] | [Value::Null, interval] => (String::new(), interval),
        [Value::Number(count), interval] => {
            let whole = count.round(0, Rounding::Down).ok_or(Failure::Illegal)?;
            (whole.to_string(), interval)
        }
        _ => return Err(Failure::Illegal),
    };
    match interval {
        Value::Duration(_) | Value::Period(_) => {
            let text = interval.to_text().unwrap_or_default();
            Ok(format!("R{repetitions}/{text}").into())
        }
        _ => Err(Failure::Illegal),
    }
}

/// Returns the value; the other arguments describe the parameter to readers of the model.
fn from_ai(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(arguments[0].clone())
}
