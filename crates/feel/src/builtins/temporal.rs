//! Functions of dates and the clock (DMN 1.5 tables 78 and 79, and Camunda's additions).

use super::builtin::{Builtin, Failure, Outcome, fixed, function};
use crate::evaluate::Evaluator;
use crate::temporal::Date;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("now", &[fixed(&[])], now),
    function("today", &[fixed(&[])], today),
    function("day of week", &[fixed(&["date"])], day_of_week),
    function("day of year", &[fixed(&["date"])], day_of_year),
    function("week of year", &[fixed(&["date"])], week_of_year),
    function("month of year", &[fixed(&["date"])], month_of_year),
    function("last day of month", &[fixed(&["date"])], last_day_of_month),
];

fn now(evaluator: &mut Evaluator<'_>, _: &[Value]) -> Outcome {
    Ok(evaluator.environment.now().into())
}

fn today(evaluator: &mut Evaluator<'_>, _: &[Value]) -> Outcome {
    Ok(evaluator.environment.now().map(|now| now.date()).into())
}

fn date(arguments: &[Value]) -> Result<Date, Failure> {
    match &arguments[0] {
        Value::Date(date) => Ok(*date),
        Value::DateTime(value) => Ok(value.date()),
        _ => Err(Failure::Illegal),
    }
}

fn day_of_week(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(date(arguments)?.weekday_name().into())
}

fn day_of_year(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(date(arguments)?.day_of_year().into())
}

fn week_of_year(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(date(arguments)?.week_of_year().into())
}

fn month_of_year(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(date(arguments)?.month_name().into())
}

fn last_day_of_month(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    Ok(date(arguments)?.last_of_month().into())
}
