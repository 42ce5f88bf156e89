//! Rows as documents.

use std::fmt::Write as _;

use protocol::Name;
use search::model::{Column, Entity, Kind};
use search::{Row, Value};
use serde_json::{Map, Value as Json};
use xxhash_rust::xxh3::xxh3_128;

use crate::change::RowId;

/// The longest ID of a document, in bytes.
const ID_BYTES_MAX: usize = 512;
/// The longest text that can be looked for and sorted by, in units of UTF-16: 32,766 bytes are the limit of what lies
/// below, and each unit takes up to three of them.
pub(super) const TEXT_UNITS_MAX: usize = 8191;

/// The ID of a row's document.
pub(super) fn document_id(id: &RowId) -> String {
    match id.value() {
        Value::Integer(key) => key.to_string(),
        Value::Text(text) if text.len() <= ID_BYTES_MAX && !text.is_empty() && !text.starts_with('~') => {
            text.to_string()
        }
        Value::Text(text) => format!("~{:032x}", xxh3_128(text.as_bytes())),
        Value::Null => String::new(),
    }
}

/// A part of a path, whatever stands in it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A value as a document has it; `None` if a list is none.
pub(super) fn to_json(value: &Value, kind: Kind) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Integer(number) => Json::from(*number),
        Value::Text(text) if kind == Kind::List => {
            let list: Vec<String> = serde_json::from_str(text).ok()?;
            Json::from(list)
        }
        Value::Text(text) => Json::from(text.as_str()),
    })
}

/// A value as a row has it.
pub(super) fn from_json(value: Option<&Json>) -> Value {
    match value {
        None | Some(Json::Null) => Value::Null,
        Some(Json::String(text)) => Value::Text(Name::from(text.as_str())),
        Some(Json::Bool(flag)) => Value::from(*flag),
        Some(Json::Number(number)) => {
            number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)).into()
        }
        Some(list) => Value::from(list.to_string()),
    }
}

/// The row of a document.
pub(super) fn read(entity: &Entity, source: &Map<String, Json>) -> Row {
    entity.columns.iter().map(|Column { name, .. }| from_json(source.get(*name))).collect()
}

/// Whether a document's value is a text that is too long to be looked for, or a list with one.
pub(super) fn holds_too_long(value: &Json) -> bool {
    match value {
        Json::String(text) => is_too_long(text),
        Json::Array(list) => list.iter().filter_map(Json::as_str).any(is_too_long),
        _ => false,
    }
}

/// Whether a text is too long to be looked for.
pub(super) fn is_too_long(text: &str) -> bool {
    text.len() > TEXT_UNITS_MAX && text.encode_utf16().count() > TEXT_UNITS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fit_and_differ() {
        let id = |text: &str| document_id(&RowId::Text(Name::from(text)));
        assert_eq!(document_id(&RowId::Key(7)), "7");
        assert_eq!(id("a b"), "a b");
        let (long, other) = ("x".repeat(513), format!("{}y", "x".repeat(512)));
        assert!(id(&long).len() <= ID_BYTES_MAX);
        assert_ne!(id(&long), id(&other));
        // No name collides with the hash of a long one.
        assert_ne!(id(&id(&long)), id(&long));
        assert_ne!(id(""), "");
    }

    #[test]
    fn paths_are_safe() {
        assert_eq!(escaped("../_search?q=*&ä"), "..%2F_search%3Fq%3D%2A%26%C3%A4");
    }

    #[test]
    fn length_is_counted_in_units() {
        assert!(!is_too_long(&"x".repeat(8191)));
        assert!(is_too_long(&"x".repeat(8192)));
        assert!(!is_too_long(&"ä".repeat(8191)));
        assert!(is_too_long(&"😀".repeat(4096)));
    }
}
