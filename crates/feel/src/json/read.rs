//! Values from JSON text, one level at a time.

use crate::number::Number;
use crate::value::{Context, List, Value};
use ::json::Scanner;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// The value of a valid document with an upper bound of its nesting; arrays and objects stay raw. Invalid text reads
/// as null.
pub(crate) fn read(bytes: Bytes, depth: u16) -> Value {
    let start = bytes.iter().position(|byte| !is_space(*byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    value_of(&bytes, start, end, depth)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

/// The items of a raw array.
pub(crate) fn read_items(bytes: &Bytes, depth: u16) -> Vec<Value> {
    item_ranges(bytes).map(|range| value_of(bytes, range.start, range.end, depth)).collect()
}

/// The text of each item of a raw array.
pub(crate) fn item_texts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    item_ranges(bytes).map(|range| &bytes[range])
}

/// Positions of the items of a raw array.
fn item_ranges(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut scanner = Scanner::new(bytes);
    let mut goes_on = scanner.take(b'[');
    std::iter::from_fn(move || {
        if !goes_on {
            return None;
        }
        scanner.skip_space();
        let start = scanner.position();
        scanner.skip_value()?;
        let range = start..scanner.position();
        scanner.skip_space();
        goes_on = scanner.take(b',');
        (!range.is_empty()).then_some(range)
    })
}

/// The entries of a raw object. Of a repeated key only the first is read, as [`find_entry`] does.
pub(crate) fn read_entries(bytes: &Bytes, depth: u16) -> Vec<(Arc<str>, Value)> {
    let mut entries: Vec<(Arc<str>, Value)> = Vec::new();
    let mut scanner = Scanner::new(bytes);
    if !scanner.take(b'{') {
        return entries;
    }
    loop {
        scanner.skip_space();
        let Some((key, escaped)) = scanner.string() else { break };
        let key = text(key, escaped);
        scanner.skip_space();
        scanner.take(b':');
        scanner.skip_space();
        let Some(value) = next_value(bytes, &mut scanner, depth) else { break };
        entries.push((key, value));
        scanner.skip_space();
        if !scanner.take(b',') {
            break;
        }
    }
    // Duplicates keep the last value when a context is built, so the first is put there.
    keep_first(&mut entries);
    entries
}

fn keep_first(entries: &mut Vec<(Arc<str>, Value)>) {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|left, right| entries[*left].0.cmp(&entries[*right].0));
    let mut drop = vec![false; entries.len()];
    let mut found = false;
    for pair in order.windows(2) {
        if entries[pair[0]].0 == entries[pair[1]].0 {
            drop[pair[1]] = true;
            found = true;
        }
    }
    if found {
        let mut drop = drop.into_iter();
        entries.retain(|_| !drop.next().unwrap_or(false));
    }
}

/// The value of one entry of a raw object, found without reading the others.
pub(crate) fn find_entry(bytes: &Bytes, wanted: &str, depth: u16) -> Option<Value> {
    let mut scanner = Scanner::new(bytes);
    if !scanner.take(b'{') {
        return None;
    }
    loop {
        scanner.skip_space();
        let (key, escaped) = scanner.string()?;
        let found = if escaped { &*text(key, true) == wanted } else { key == wanted.as_bytes() };
        scanner.skip_space();
        scanner.take(b':');
        scanner.skip_space();
        if found {
            return next_value(bytes, &mut scanner, depth);
        }
        scanner.skip_value()?;
        scanner.skip_space();
        if !scanner.take(b',') {
            return None;
        }
    }
}

fn next_value(bytes: &Bytes, scanner: &mut Scanner<'_>, depth: u16) -> Option<Value> {
    let start = scanner.position();
    scanner.skip_value()?;
    (scanner.position() > start).then(|| value_of(bytes, start, scanner.position(), depth))
}

/// The value that the bytes from start to end are.
fn value_of(bytes: &Bytes, start: usize, end: usize, depth: u16) -> Value {
    let source = &bytes[start..end];
    match source.first() {
        Some(b'{') => Value::Context(Context::from_raw(bytes.slice(start..end), depth)),
        Some(b'[') => Value::List(List::from_raw(bytes.slice(start..end), depth)),
        Some(b'"') if source.len() >= 2 => {
            let content = &source[1..source.len() - 1];
            Value::String(text(content, memchr::memchr(b'\\', content).is_some()))
        }
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'-' | b'0'..=b'9') => {
            std::str::from_utf8(source).ok().and_then(Number::parse_json).map_or(Value::Null, Value::Number)
        }
        _ => Value::Null,
    }
}

fn text(content: &[u8], escaped: bool) -> Arc<str> {
    let content = String::from_utf8_lossy(content);
    if escaped { Arc::from(::json::unescape(&content)) } else { Arc::from(content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::from_json(Bytes::from(text.to_owned())).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn scalars_and_escapes() {
        assert_eq!(value(" 12 ").as_i64(), Some(12));
        assert_eq!(value("-1.5e1").as_f64(), Some(-15.0));
        assert_eq!(value(r#""a\"\\\/\n\u00e9\ud83d\ude00\ud800x""#).as_str(), Some("a\"\\/\né😀\u{fffd}x"));
        assert!(value("null").is_null());
    }

    #[test]
    fn the_texts_of_items_are_found_without_reading_them() {
        let value = value(r#" [ 1.50 , "a,\"]" ,{"b":[1,2]},[ ] , null] "#);
        let texts: Vec<&[u8]> = value.as_list().unwrap().json_items().unwrap().collect();
        let expected: [&[u8]; 5] = [b"1.50", br#""a,\"]""#, br#"{"b":[1,2]}"#, b"[ ]", b"null"];
        assert_eq!(texts, expected);
        assert_eq!(self::value("[ ]").as_list().unwrap().json_items().unwrap().count(), 0);
        assert!(List::new(vec![]).json_items().is_none());
    }

    #[test]
    fn the_first_of_repeated_keys_counts_however_it_is_read() {
        let value = value(r#"{"a":1,"b":2,"a":3}"#);
        let context = value.as_context().unwrap();
        assert_eq!(context.get("a").unwrap().as_i64(), Some(1));
        assert_eq!(context.len(), 2);
        assert_eq!(context.get("a").unwrap().as_i64(), Some(1));
    }

    #[test]
    fn broken_text_reads_as_something_without_panic() {
        for text in ["{", "[1,", "{\"a\"", "{\"a\":", "\"", "[\"\\", "{\"\\u12\":1}", "[[[", "}"] {
            let value = Value::from_json_lazy(Bytes::from(text));
            if let Some(list) = value.as_list() {
                assert!(list.len() < 3);
            }
            if let Some(context) = value.as_context() {
                assert!(context.get("a").is_none());
                assert!(context.len() < 2);
            }
        }
    }
}
