//! `from json` and `to json`.

use super::argument::text;
use super::builtin::{Failure, Outcome};
use crate::evaluate::Evaluator;
use crate::temporal::{format_iso_hours, format_years_months};
use crate::value::Value;
use ::json::write_string;
use bytes::Bytes;

pub(super) fn from_json(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let source = text(&arguments[0])?;
    evaluator.hold(source.len())?;
    Value::from_json(Bytes::copy_from_slice(source.as_bytes()))
        .map_err(|_| Failure::Message(format!("Failed to parse JSON from '{source}'")))
}

pub(super) fn to_json(evaluator: &mut Evaluator<'_>, arguments: &[Value]) -> Outcome {
    evaluator.walk(&arguments[0])?;
    let mut out = Vec::new();
    write(&arguments[0], &mut out);
    Ok(String::from_utf8_lossy(&out).into_owned().into())
}

/// The JSON of variables, but with all seconds, durations in hours, and texts of ranges and functions. Recursion is
/// bounded by the depth of values.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::List(list) => {
            out.push(b'[');
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Context(context) => {
            out.push(b'{');
            for (index, (key, value)) in context.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
        Value::Time(time) => write_string(&time.to_iso(), out),
        Value::DateTime(value) => write_string(&value.to_iso(), out),
        Value::Duration(duration) => write_string(&format_iso_hours(*duration), out),
        Value::Period(months) => write_string(&format_years_months(*months), out),
        Value::Range(_) | Value::Function(_) => write_string(&value.to_text().unwrap_or_default(), out),
        other => other.to_json(out),
    }
}
