//! Writes JSON into one buffer.

/// A string literal.
pub(crate) use json::write_string as write_text;
use protocol::{Key, Name};

/// An integer.
pub(crate) fn write_integer(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A key: digits in quotes, because JavaScript's numbers cannot hold it.
pub(crate) fn write_key(key: Key, out: &mut Vec<u8>) {
    out.push(b'"');
    write_integer(key, out);
    out.push(b'"');
}

/// A key, or null.
pub(crate) fn write_optional_key(key: Option<Key>, out: &mut Vec<u8>) {
    match key {
        Some(key) => write_key(key, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// A string literal, or null.
pub(crate) fn write_optional_text(text: Option<&Name>, out: &mut Vec<u8>) {
    match text {
        Some(text) => write_text(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// A boolean.
pub(crate) fn write_flag(flag: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// A moment in UTC. What no calendar holds becomes its last moment.
pub(crate) fn write_time(unix_ms: i64, out: &mut Vec<u8>) {
    let time = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or(jiff::Timestamp::MAX);
    write_text(&format!("{time:.3}"), out);
}

/// An array, element by element.
pub(crate) fn write_list<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// The beginning of a long value, and whether that is not all of it.
pub(crate) fn cut(value: &str, chars_max: usize) -> (&str, bool) {
    match value.char_indices().nth(chars_max) {
        Some((end, _)) => (&value[..end], true),
        None => (value, false),
    }
}

/// A list of strings.
pub(crate) fn write_names(names: &[Name], out: &mut Vec<u8>) {
    write_list(names, out, |name, out| write_text(name, out));
}

/// `"name":`, with a comma before it unless it is the first member. The name needs no escapes.
pub(crate) fn member(name: &'static str, out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// A member that is a string.
pub(crate) fn text_member(name: &'static str, text: &str, out: &mut Vec<u8>) {
    member(name, out);
    write_text(text, out);
}

/// A member that is a string, or null.
pub(crate) fn optional_text_member(name: &'static str, text: Option<&Name>, out: &mut Vec<u8>) {
    member(name, out);
    write_optional_text(text, out);
}

/// A member that is a string, or null if that is empty.
pub(crate) fn text_or_null_member(name: &'static str, text: &Name, out: &mut Vec<u8>) {
    optional_text_member(name, (!text.is_empty()).then_some(text), out);
}

/// A member that is a key.
pub(crate) fn key_member(name: &'static str, key: Key, out: &mut Vec<u8>) {
    member(name, out);
    write_key(key, out);
}

/// A member that is an integer.
pub(crate) fn integer_member(name: &'static str, number: impl itoa::Integer, out: &mut Vec<u8>) {
    member(name, out);
    write_integer(number, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_between_characters() {
        assert_eq!(cut("äöü", 2), ("äö", true));
        assert_eq!(cut("äöü", 3), ("äöü", false));
        assert_eq!(cut("äöü", usize::MAX), ("äöü", false));
    }
}
