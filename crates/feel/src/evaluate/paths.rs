//! `value.name`: entries of contexts and properties of temporal values (DMN 1.5 table 62).

use super::evaluator::{Eval, Evaluator};
use crate::diagnostics::WarningKind;
use crate::number::Number;
use crate::temporal::{Date, Time};
use crate::value::{Context, Value};
use jiff::SignedDuration;

const DATE: &[&str] = &["year", "month", "day", "weekday"];
const TIME: &[&str] = &["timezone", "second", "time offset", "minute", "hour"];
const DATE_TIME: &[&str] =
    &["timezone", "year", "second", "month", "day", "time offset", "weekday", "minute", "hour"];
const PERIOD: &[&str] = &["years", "months"];
const DURATION: &[&str] = &["days", "hours", "minutes", "seconds"];
const RANGE: &[&str] = &["start", "end", "start included", "end included"];

impl Evaluator<'_> {
    pub(super) fn property(&mut self, value: &Value, name: &str) -> Eval<Value> {
        let found = match value {
            Value::Context(context) => {
                self.search_context(context)?;
                let found = self.entry(context, name);
                return self.hold_value(found);
            }
            Value::List(list) => {
                self.open_list(list)?;
                self.spend(list.len())?;
                let mut items = Vec::with_capacity(list.len());
                for item in list {
                    // Lists in lists are mapped too, and they are bounded in depth.
                    items.push(self.property(item, name)?);
                }
                return self.new_list(items);
            }
            Value::Null => {
                return Ok(self.null(WarningKind::NoContextEntryFound, || {
                    format!("No context entry found with key '{name}'. The context is null")
                }));
            }
            Value::Date(date) => date_property(*date, name),
            Value::Time(time) => time_property(time, time.offset_seconds(), name),
            Value::DateTime(value) => date_property(value.date(), name)
                .or_else(|| time_property(&value.time(), value.offset_seconds(), name)),
            Value::Period(months) => period_property(*months, name),
            Value::Duration(duration) => duration_property(*duration, name),
            Value::Range(range) => match name {
                "start" => Some(range.start.clone()),
                "end" => Some(range.end.clone()),
                "start included" => Some(Value::Bool(range.start_included)),
                "end included" => Some(Value::Bool(range.end_included)),
                _ => None,
            },
            _ => None,
        };
        Ok(found.unwrap_or_else(|| self.no_property(value, name)))
    }

    fn entry(&mut self, context: &Context, name: &str) -> Value {
        if let Some(value) = context.get(name) {
            return value;
        }
        self.null(WarningKind::NoContextEntryFound, || {
            let keys: Vec<String> = context.keys().take(50).map(|key| format!("'{key}'")).collect();
            if keys.is_empty() {
                format!("No context entry found with key '{name}'. The context is empty")
            } else {
                format!("No context entry found with key '{name}'. Available keys: {}", keys.join(", "))
            }
        })
    }

    fn no_property(&mut self, value: &Value, name: &str) -> Value {
        let names = match value {
            Value::Date(_) => DATE,
            Value::Time(_) => TIME,
            Value::DateTime(_) => DATE_TIME,
            Value::Period(_) => PERIOD,
            Value::Duration(_) => DURATION,
            Value::Range(_) => RANGE,
            _ => &[],
        };
        self.null(WarningKind::NoPropertyFound, || {
            let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            let text = value.to_message_text();
            format!(
                "No property found with name '{name}' of value '{text}'. Available properties: {}",
                names.join(", ")
            )
        })
    }
}

fn date_property(date: Date, name: &str) -> Option<Value> {
    Some(Value::from(match name {
        "year" => i64::from(date.year()),
        "month" => i64::from(date.month()),
        "day" => i64::from(date.day()),
        "weekday" => date.weekday(),
        _ => return None,
    }))
}

fn time_property(time: &Time, offset: Option<i32>, name: &str) -> Option<Value> {
    Some(match name {
        "hour" => time.hour().into(),
        "minute" => time.minute().into(),
        "second" => time.second().into(),
        "time offset" => offset.map(|seconds| SignedDuration::from_secs(seconds.into())).into(),
        "timezone" => time.zone().name().into(),
        _ => return None,
    })
}

fn period_property(months: i64, name: &str) -> Option<Value> {
    match name {
        "years" => Some((months / 12).into()),
        "months" => Some((months % 12).into()),
        _ => None,
    }
}

fn duration_property(duration: SignedDuration, name: &str) -> Option<Value> {
    let seconds = duration.as_secs();
    Some(match name {
        "days" => (seconds / 86_400).into(),
        "hours" => (seconds / 3_600 % 24).into(),
        "minutes" => (seconds / 60 % 60).into(),
        "seconds" => {
            let nanos = i128::from(seconds % 60) * 1_000_000_000 + i128::from(duration.subsec_nanos());
            Number::from_parts(nanos, 9).map(Number::without_trailing_zeros).into()
        }
        _ => return None,
    })
}
