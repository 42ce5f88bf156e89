//! JSON text from values.

use ::json::write_string;

use crate::dialect::Dialect;
use crate::temporal::{format_days_time, format_years_months};
use crate::value::Value;

/// Appends a value in the form of a variable.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) {
    write_within(value, out, usize::MAX, Dialect::Camunda);
}

/// Appends a value in the form of a variable in a dialect, up to a length; false if the text is longer. Nothing beyond
/// the length is written, and nothing of a list or context known to be longer, since such a value may be cheap to
/// create and immense as JSON. Recursion is bounded by the depth of values.
pub(crate) fn write_within(value: &Value, out: &mut Vec<u8>, max: usize, dialect: Dialect) -> bool {
    let fits = |more: usize, out: &Vec<u8>| more <= max.saturating_sub(out.len());
    if value.extent().json_bytes > max.saturating_sub(out.len()) as u64 {
        return false;
    }
    match value {
        Value::Null | Value::Range(_) | Value::Function(_) => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => {
            if !fits(text.len(), out) {
                return false;
            }
            write_string(text, out);
        }
        Value::Date(date) => write_string(&date.to_string(), out),
        Value::Time(time) if dialect == Dialect::Standard => {
            write_string(&time.to_string(), out);
        }
        Value::Time(time) => write_string(&time.to_short(), out),
        Value::DateTime(value) => write_string(&value.to_iso(), out),
        Value::Duration(duration) => write_string(&format_days_time(*duration), out),
        Value::Period(months) => write_string(&format_years_months(*months), out),
        Value::List(list) => {
            if let Some(raw) = list.raw() {
                return write_raw(raw, out, max);
            }
            out.push(b'[');
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                if !write_within(item, out, max, dialect) {
                    return false;
                }
            }
            out.push(b']');
        }
        Value::Context(context) => {
            if let Some(raw) = context.raw() {
                return write_raw(raw, out, max);
            }
            out.push(b'{');
            for (index, (key, value)) in context.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_string(key, out);
                out.push(b':');
                if !write_within(value, out, max, dialect) {
                    return false;
                }
            }
            out.push(b'}');
        }
    }
    out.len() <= max
}

fn write_raw(raw: &[u8], out: &mut Vec<u8>, max: usize) -> bool {
    if raw.len() > max.saturating_sub(out.len()) {
        return false;
    }
    out.extend_from_slice(raw);
    true
}
