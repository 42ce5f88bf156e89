//! The text of a value: that of `string()`, and that of messages.

use super::Value;
use crate::temporal::{format_days_time, format_years_months};
use std::fmt::{self, Write};

/// Longest text of a value inside a message, in bytes.
const MESSAGE_TEXT_MAX: usize = 1_000;

impl Value {
    /// The text that `string(value)` gives; a string is itself, null has none.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::String(text) => Some(text.to_string()),
            _ => {
                let mut out = String::new();
                // Writing to a String cannot fail.
                let _ = write_text(self, &mut out, false);
                Some(out)
            }
        }
    }

    /// The beginning of the text, for a message: a string is itself, null is `null`. Copies no more than a message
    /// shows, even of a large value.
    pub fn to_short_text(&self) -> String {
        match self {
            Self::String(text) => Limited::collect(|out| out.write_str(text)),
            _ => self.to_message_text(),
        }
    }

    /// The text for a message: strings are quoted, long texts cut.
    pub(crate) fn to_message_text(&self) -> String {
        Limited::collect(|out| write_text(self, out, true))
    }
}

/// Collects text up to the limit for messages, then fails and so ends the formatting.
struct Limited {
    text: String,
}

impl Limited {
    /// The beginning of a text; one that goes on ends with `…`.
    fn collect(write: impl FnOnce(&mut Self) -> fmt::Result) -> String {
        let mut out = Self { text: String::new() };
        if write(&mut out).is_err() {
            out.text.push('…');
        }
        out.text
    }
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MESSAGE_TEXT_MAX.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
            return Ok(());
        }
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

/// Recursion is bounded by the depth of values. `cut`: only the beginning is needed, so large JSON objects are not
/// parsed.
fn write_text(value: &Value, out: &mut dyn Write, cut: bool) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) => {
            out.write_str("\"")?;
            out.write_str(text)?;
            out.write_str("\"")
        }
        Value::Date(date) => write!(out, "{date}"),
        Value::Time(time) => write!(out, "{time}"),
        Value::DateTime(value) => write!(out, "{value}"),
        Value::Duration(duration) => out.write_str(&format_days_time(*duration)),
        Value::Period(months) => out.write_str(&format_years_months(*months)),
        Value::List(list) => {
            out.write_str("[")?;
            if let (Some(raw), Some(items)) = (list.unread(), list.json_items()) {
                for (index, item) in items.enumerate() {
                    if index > 0 {
                        out.write_str(", ")?;
                    }
                    write_text(&Value::from_json_lazy(raw.slice_ref(item)), out, cut)?;
                }
                return out.write_str("]");
            }
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.write_str(", ")?;
                }
                write_text(item, out, cut)?;
            }
            out.write_str("]")
        }
        Value::Context(context) => {
            if let (true, Some(raw)) = (cut, context.unread().filter(|raw| raw.len() > MESSAGE_TEXT_MAX)) {
                let end = raw
                    .utf8_chunks()
                    .next()
                    .map_or("", |chunk| chunk.valid())
                    .floor_char_boundary(MESSAGE_TEXT_MAX);
                return out.write_str(&String::from_utf8_lossy(&raw[..end])).and(Err(fmt::Error));
            }
            out.write_str("{")?;
            for (index, (key, value)) in context.iter().enumerate() {
                if index > 0 {
                    out.write_str(", ")?;
                }
                write!(out, "{key}:")?;
                write_text(value, out, cut)?;
            }
            out.write_str("}")
        }
        Value::Range(range) => {
            out.write_str(if range.start_included { "[" } else { "(" })?;
            write_text(&range.start, out, cut)?;
            out.write_str("..")?;
            write_text(&range.end, out, cut)?;
            out.write_str(if range.end_included { "]" } else { ")" })
        }
        Value::Function(function) => write!(out, "{function:?}"),
    }
}
