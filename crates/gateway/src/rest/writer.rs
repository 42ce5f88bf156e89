//! Writes JSON into one buffer.

pub(crate) use json::write_string as write_text;
use protocol::{Key, Name};
use serde::{Serialize, Serializer};

pub(crate) fn write_integer(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A key: digits in quotes, because JavaScript's numbers cannot hold it.
pub(crate) fn write_key(key: Key, out: &mut Vec<u8>) {
    out.push(b'"');
    write_integer(key, out);
    out.push(b'"');
}

pub(crate) fn write_flag(flag: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// A moment in UTC. A moment beyond the calendar becomes its last one.
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

/// A key as the contract has it: digits in quotes.
#[derive(Clone, Copy)]
pub(crate) struct Digits(pub(crate) Key);

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(self.0))
    }
}

/// A moment in UTC, in Unix milliseconds. A moment beyond the calendar becomes its last one.
#[derive(Clone, Copy)]
pub(crate) struct Moment(pub(crate) i64);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        serializer.collect_str(&format_args!("{time:.3}"))
    }
}

/// A name, unless it is empty.
pub(crate) fn given(name: &Name) -> Option<&Name> {
    (!name.is_empty()).then_some(name)
}

pub(crate) fn object(out: &mut Vec<u8>) -> Object<'_> {
    out.push(b'{');
    Object(out)
}

/// An object being written, member by member in the order of the contract.
#[must_use = "`end` writes the closing brace"]
pub(crate) struct Object<'a>(&'a mut Vec<u8>);

impl Object<'_> {
    /// A member. The name needs no escapes.
    pub(crate) fn with(self, name: &'static str, value: impl Serialize) -> Self {
        member(name, self.0);
        serde_json::to_writer(&mut *self.0, &value).expect("values of the contract are JSON");
        self
    }

    /// A member that is an array, element by element.
    pub(crate) fn list<T>(
        self,
        name: &'static str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(T, &mut Vec<u8>),
    ) -> Self {
        member(name, self.0);
        write_list(items, self.0, write);
        self
    }

    /// A member that is an array, whose elements a function writes, each behind [`separate`].
    pub(crate) fn array(self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        member(name, self.0);
        self.0.push(b'[');
        write(self.0);
        self.0.push(b']');
        self
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(self, name: &'static str, json: &str) -> Self {
        member(name, self.0);
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    /// A member that is an object, whose members a function writes.
    pub(crate) fn object(
        self,
        name: &'static str,
        write: impl for<'o> FnOnce(Object<'o>) -> Object<'o>,
    ) -> Self {
        member(name, self.0);
        write(object(self.0)).end();
        self
    }

    pub(crate) fn end(self) {
        self.0.push(b'}');
    }
}

/// The comma before an element of an array, unless it is the first.
pub(crate) fn separate(out: &mut Vec<u8>) {
    if out.last() != Some(&b'[') {
        out.push(b',');
    }
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
