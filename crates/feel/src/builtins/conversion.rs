//! Conversions between types (DMN 1.5 table 72).

use super::argument::{self, integer, number, text};
use super::builtin::{Builtin, Failure, Outcome, fixed, function, message, or_message};
use super::json;
use crate::evaluate::Evaluator;
use crate::number::{Number, Rounding};
use crate::temporal::{Date, DateTime, NANOS_PER_SECOND, Time, Zone, parse_days_time, parse_years_months};
use crate::value::{Range, Value};
use std::sync::Arc;

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("string", &[fixed(&["from"])], string),
    function(
        "number",
        &[
            fixed(&["from"]),
            fixed(&["from", "grouping separator"]),
            fixed(&["from", "grouping separator", "decimal separator"]),
        ],
        to_number,
    ),
    function("context", &[fixed(&["entries"])], context),
    function("date", &[fixed(&["from"]), fixed(&["year", "month", "day"])], date),
    function(
        "time",
        &[
            fixed(&["from"]),
            fixed(&["hour", "minute", "second"]),
            fixed(&["hour", "minute", "second", "offset"]),
        ],
        time,
    ),
    function(
        "date and time",
        &[
            fixed(&["from"]),
            fixed(&["date", "time"]),
            fixed(&["date", "timezone"]),
            fixed(&["year", "month", "day", "hour", "minute", "second"]),
            fixed(&["year", "month", "day", "hour", "minute", "second", "offset"]),
        ],
        date_and_time,
    ),
    function("duration", &[fixed(&["from"])], duration),
    function("years and months duration", &[fixed(&["from", "to"])], years_and_months_duration),
    function("from json", &[fixed(&["json"])], json::from_json),
    function("to json", &[fixed(&["value"])], json::to_json),
    function("range", &[fixed(&["from"])], range),
];

fn string(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.walk(&arguments[0])?;
    Ok(match &arguments[0] {
        Value::String(text) => Value::String(text.clone()),
        other => other.to_text().into(),
    })
}

fn to_number(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let from = text(&arguments[0])?;
    let separator = |index: usize, allowed: &[&str]| -> Result<Option<char>, Failure> {
        match arguments.get(index) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(separator)) if allowed.contains(&&**separator) => Ok(separator.chars().next()),
            Some(Value::String(separator)) => message(format!("illegal separator '{separator}'")),
            Some(_) => Err(Failure::Illegal),
        }
    };
    let grouping = separator(1, &[" ", ",", "."])?;
    let decimal = separator(2, &[",", "."])?;
    if grouping.is_some() && grouping == decimal {
        return message("the separators must differ");
    }
    let plain: String = from
        .chars()
        .filter(|character| Some(*character) != grouping)
        .map(|character| if Some(character) == decimal { '.' } else { character })
        .collect();
    or_message(Number::parse(&plain), || format!("Can't parse '{from}' as a number"))
}

fn context(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let list = argument::list(&arguments[0])?;
    let mut entries: Vec<(Arc<str>, Value)> = Vec::with_capacity(list.len());
    for item in list {
        let entry = argument::context(item)?;
        let (Some(Value::String(key)), Some(value)) = (entry.get("key"), entry.get("value")) else {
            return Err(Failure::Illegal);
        };
        entries.push((key, value));
    }
    let given = entries.len();
    let context = evaluator.new_context(entries)?;
    if evaluator.is_standard() && argument::context(&context)?.len() < given {
        return message("a key is used twice");
    }
    Ok(context)
}

fn date(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            or_message(Date::parse(text), || format!("Failed to parse date from '{text}'"))
        }
        [Value::Date(date)] => Ok((*date).into()),
        [Value::DateTime(value)] => Ok(value.date().into()),
        [year, month, day] => {
            let (year, month, day) = (integer(year)?, integer(month)?, integer(day)?);
            or_message(Date::new(year, month, day), || {
                format!("Failed to create date from year={year}, month={month}, day={day}")
            })
        }
        _ => Err(Failure::Illegal),
    }
}

fn time(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            or_message(Time::parse(text), || format!("Failed to parse time from '{text}'"))
        }
        [Value::Time(_)] => Ok(arguments[0].clone()),
        [Value::DateTime(value)] => Ok(value.time().into()),
        [Value::Date(_)] => Ok(Time::midnight(Zone::UTC).into()),
        [hour, minute, second] => clock(hour, minute, second, Zone::Local).map(Value::from),
        [hour, minute, second, offset] => clock(hour, minute, second, zone_of(offset)?).map(Value::from),
        _ => Err(Failure::Illegal),
    }
}

/// A zone from a duration as an offset; none is local.
fn zone_of(offset: &Value) -> Result<Zone, Failure> {
    match offset {
        Value::Null => Ok(Zone::Local),
        Value::Duration(offset) if offset.as_secs().unsigned_abs() <= 18 * 3600 => {
            Ok(Zone::Offset(offset.as_secs() as i32))
        }
        _ => Err(Failure::Illegal),
    }
}

/// A time of numbers; a fraction of the second becomes nanoseconds.
fn clock(hour: &Value, minute: &Value, second: &Value, zone: Zone) -> Result<Time, Failure> {
    let (hour, minute, second) = (integer(hour)?, integer(minute)?, number(second)?);
    let whole = second.round(0, Rounding::Floor).and_then(Number::as_i64).ok_or(Failure::Illegal)?;
    let nanos = second
        .minus(whole.into())
        .and_then(|fraction| fraction.times((NANOS_PER_SECOND as i64).into()))
        .map_or(0, Number::truncate_to_i64);
    Time::new(hour, minute, whole, nanos as u32, zone).ok_or_else(|| {
        Failure::Message(format!("Failed to create time from hour={hour}, minute={minute}, second={second}"))
    })
}

fn date_and_time(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::String(text)] => {
            or_message(DateTime::parse(text), || format!("Failed to parse date and time from '{text}'"))
        }
        [Value::DateTime(_)] => Ok(arguments[0].clone()),
        [Value::Date(date)] => Ok(DateTime::new(*date, &Time::midnight(Zone::Local)).into()),
        [Value::Date(date), Value::Time(time)] => Ok(DateTime::new(*date, time).into()),
        [Value::DateTime(value), Value::Time(time)] => Ok(DateTime::new(value.date(), time).into()),
        [Value::DateTime(value), Value::String(zone)] => {
            let Some(zone) = Zone::parse(zone) else { return message(format!("Unknown time zone '{zone}'")) };
            Ok(value.in_zone(zone).into())
        }
        [year, month, day, hour, minute, second, rest @ ..] => {
            let date = Date::new(integer(year)?, integer(month)?, integer(day)?);
            let zone = rest.first().map_or(Ok(Zone::Local), zone_of)?;
            let time = clock(hour, minute, second, zone)?;
            or_message(date.and_then(|date| DateTime::new(date, &time)), || {
                "the date does not exist".to_owned()
            })
        }
        _ => Err(Failure::Illegal),
    }
}

fn duration(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    match &arguments[0] {
        Value::String(text) => match parse_years_months(text) {
            Some(months) => Ok(Value::Period(months)),
            None => or_message(parse_days_time(text), || format!("Failed to parse duration from '{text}'")),
        },
        value @ (Value::Duration(_) | Value::Period(_)) => Ok(value.clone()),
        _ => Err(Failure::Illegal),
    }
}

fn years_and_months_duration(_: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let date = |value: &Value| match value {
        Value::Date(date) => Ok(*date),
        Value::DateTime(value) => Ok(value.date()),
        _ => Err(Failure::Illegal),
    };
    let (from, to) = (date(&arguments[0])?, date(&arguments[1])?);
    let months = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
    let mut difference = months(to) - months(from);
    // Only whole months count.
    if difference > 0 && to.day() < from.day() {
        difference -= 1;
    } else if difference < 0 && to.day() > from.day() {
        difference += 1;
    }
    Ok(Value::Period(difference))
}

/// A range from its text with literal ends (DMN 1.5 table 72).
fn range(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    let source = text(&arguments[0])?;
    // Its ends are parsed.
    evaluator.spend(2 * source.len())?;
    let refuse = || Failure::Message(format!("Failed to parse range from '{source}'"));
    let source = source.trim();
    let start_included = source.starts_with('[');
    let end_included = source.ends_with(']');
    let inner = source
        .strip_prefix(['[', '(', ']'])
        .and_then(|rest| rest.strip_suffix([']', ')', '[']))
        .ok_or_else(refuse)?;
    let (start, end) = inner.split_once("..").ok_or_else(refuse)?;
    let end_of = |text: &str, included: bool| -> Result<Value, Failure> {
        if text.trim().is_empty() {
            return if included { Err(refuse()) } else { Ok(Value::Null) };
        }
        let expression = crate::Expression::parse(text).map_err(|_| refuse())?;
        if !expression.is_constant() {
            return Err(refuse());
        }
        let result = expression.evaluate(&(), evaluator.environment).map_err(|_| refuse())?;
        if result.value.is_null() { Err(refuse()) } else { Ok(result.value) }
    };
    let range = Range {
        start: end_of(start, start_included)?,
        start_included,
        end: end_of(end, end_included)?,
        end_included,
    };
    let open = range.start.is_null() || range.end.is_null();
    let ordered =
        crate::evaluate::compare::order(&range.start, &range.end).is_some_and(std::cmp::Ordering::is_le);
    if (open && range.start.is_null() && range.end.is_null()) || !(open || ordered) {
        return Err(refuse());
    }
    Ok(Value::Range(Arc::new(range)))
}
