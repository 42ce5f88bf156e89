//! Variables as they travel: each top-level variable keeps its raw JSON bytes.
//!
//! A document is checked once, where it enters, and split at its top level. No code parses a value again unless an
//! expression reads it.

#![expect(missing_docs, reason = "names say what is held")]

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use json::{Cursor, DEPTH_MAX, write_string};
use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};
use serde_json::value::RawValue;

use crate::{ENTRIES_MAX, ENTRIES_SETTING, Name};

/// The values of a document of so many bytes share one copy of it; those of longer ones have one each. A value may
/// be kept for long, and must not keep the rest of the request alive.
const SHARED_BYTES_MAX: usize = 256;

/// Room at the end of a written value that is not worth a copy, in bytes.
const SMALL_ROOM_BYTES: usize = 256;

/// One JSON value as bytes. Always valid JSON, because it comes out of a [`Document`] or of our own encoder.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// Wraps bytes that are known to be one valid JSON value.
    pub fn from_valid(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// Wraps JSON text that was just written. Its buffer may be twice as long: values are kept, so room that is left is
    /// given back.
    pub fn from_written(bytes: Vec<u8>) -> Self {
        let is_exact = bytes.capacity() - bytes.len() <= bytes.len() / 8 + SMALL_ROOM_BYTES;
        Self(if is_exact { bytes.into() } else { Bytes::copy_from_slice(&bytes) })
    }

    pub fn string(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut bytes);
        Self(bytes.into())
    }

    pub const fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// The text in the one spelling that the value has wherever it is compared, searched or shown.
    pub fn canonical(&self) -> Cow<'_, str> {
        json::canonical(self.as_str())
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON values are checked to be UTF-8 where they enter")
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<C> minicbor::Encode<C> for Json {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, _: &mut C) -> Result<(), EncodeError<W::Error>> {
        e.bytes(&self.0)?.ok()
    }
}

impl<'b, C> minicbor::Decode<'b, C> for Json {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, DecodeError> {
        Ok(Self(Bytes::copy_from_slice(d.bytes()?)))
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.canonical();
        let raw: &RawValue = serde_json::from_str(&text).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A set of variables: names with raw JSON values, in the order given; a repeated name keeps its last value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Document(Vec<(Name, Json)>);

/// Why bytes are not a set of variables.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DocumentError {
    /// Not JSON at all.
    #[error("invalid JSON: {0}")]
    Syntax(String),
    /// JSON, but not an object.
    #[error("expected a JSON object, but found {0}")]
    NotAnObject(&'static str),
    #[error("JSON nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    #[error("expected at most {ENTRIES_MAX} members, the most that {ENTRIES_SETTING} may allow")]
    TooManyMembers,
}

impl Document {
    pub const fn empty() -> Self {
        Self(Vec::new())
    }

    /// Checks and splits a JSON object from outside, of [`ENTRIES_MAX`] members at most. Empty input and `null` are no
    /// variables.
    pub fn parse(bytes: Bytes) -> Result<Self, DocumentError> {
        Self::parse_within(bytes, ENTRIES_MAX)
    }

    /// Checks and splits a JSON object that is stored.
    pub fn parse_stored(bytes: Bytes) -> Result<Self, DocumentError> {
        Self::parse_within(bytes, usize::MAX)
    }

    fn parse_within(bytes: Bytes, max_members: usize) -> Result<Self, DocumentError> {
        let text = std::str::from_utf8(&bytes).map_err(|e| DocumentError::Syntax(e.to_string()))?;
        let start = text.trim_ascii_start();
        match start.as_bytes().first() {
            None => return Ok(Self::empty()),
            Some(b'{') => {}
            Some(_) => return Err(not_an_object(start)),
        }
        let shared = (bytes.len() <= SHARED_BYTES_MAX).then(|| Bytes::copy_from_slice(&bytes));
        let text = std::str::from_utf8(shared.as_ref().unwrap_or(&bytes)).expect("checked above");
        let entries = split(text, max_members)?;
        let mut document = Self(Vec::with_capacity(entries.len()));
        let many = entries.len() > 16;
        let mut seen = std::collections::HashMap::<_, usize>::new();
        for (name, raw) in entries {
            let value = raw.as_bytes();
            let value = Json(match &shared {
                Some(shared) => shared.slice_ref(value),
                None => Bytes::copy_from_slice(value),
            });
            if many {
                match seen.entry(name.clone()) {
                    std::collections::hash_map::Entry::Occupied(at) => document.0[*at.get()].1 = value,
                    std::collections::hash_map::Entry::Vacant(at) => {
                        at.insert(document.0.len());
                        document.0.push((Name::from(&*name), value));
                    }
                }
            } else {
                document.set(Name::from(&*name), value);
            }
        }
        Ok(document)
    }

    pub fn set(&mut self, name: Name, value: Json) {
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Appends a variable whose name is known to be absent.
    pub fn push_new(&mut self, name: Name, value: Json) {
        debug_assert!(self.get(&name).is_none(), "variable {name} is there already");
        self.0.push((name, value));
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(n, _)| &**n == name).map(|(_, value)| value)
    }

    /// All variables in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &(Name, Json)> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes of the JSON object that [`Document::write_json`] makes, at most (names may need escapes: not counted).
    pub fn json_len(&self) -> usize {
        2 + self.0.iter().map(|(name, value)| name.len() + value.0.len() + 4).sum::<usize>()
    }

    /// Appends the JSON object.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.reserve(self.json_len());
        out.push(b'{');
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(name, out);
            out.push(b':');
            out.extend_from_slice(&value.0);
        }
        out.push(b'}');
    }

    /// The JSON object as text.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        String::from_utf8(out).expect("made of UTF-8 parts")
    }
}

impl FromIterator<(Name, Json)> for Document {
    fn from_iter<T: IntoIterator<Item = (Name, Json)>>(iter: T) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl serde::Serialize for Document {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<C> minicbor::Encode<C> for Document {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, ctx: &mut C) -> Result<(), EncodeError<W::Error>> {
        e.map(self.0.len() as u64)?;
        for (name, value) in &self.0 {
            name.encode(e, ctx)?;
            value.encode(e, ctx)?;
        }
        Ok(())
    }
}

impl<'b, C> minicbor::Decode<'b, C> for Document {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, DecodeError> {
        let len = d.map()?.ok_or_else(|| DecodeError::message("document of unknown length"))?;
        let mut entries = Vec::with_capacity(len.min(1024) as usize);
        for _ in 0..len {
            entries.push((Name::decode(d, ctx)?, Json::decode(d, ctx)?));
        }
        Ok(Self(entries))
    }
}

fn not_an_object(start: &str) -> DocumentError {
    if start.trim_ascii_end() == "null" {
        return DocumentError::NotAnObject("null");
    }
    match json::depth(start) {
        Err(error) => error.into(),
        Ok(_) => DocumentError::NotAnObject(match start.as_bytes()[0] {
            b'[' => "an array",
            b'"' => "a string",
            b't' | b'f' => "a boolean",
            _ => "a number",
        }),
    }
}

impl From<json::Error> for DocumentError {
    fn from(error: json::Error) -> Self {
        if error.is_too_deep() { Self::TooDeep } else { Self::Syntax(error.to_string()) }
    }
}

/// The members of the object that the text is, with the text of each value.
fn split(text: &str, max_members: usize) -> Result<Vec<(Cow<'_, str>, &str)>, DocumentError> {
    let mut cursor = Cursor::new(text);
    cursor.token()?;
    cursor.open();
    let mut entries = Vec::new();
    while let Some(name) = cursor.member(entries.is_empty())? {
        if entries.len() == max_members {
            return Err(DocumentError::TooManyMembers);
        }
        let start = cursor.at();
        cursor.skip_within(DEPTH_MAX - 1)?;
        entries.push((name.text(), cursor.since(start)));
    }
    cursor.finish()?;
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, DocumentError> {
        Document::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn values_keep_their_bytes_and_the_last_of_a_name_wins() {
        let document = parse(r#" {"a": 1.50, "b\n":{"x":[ 1 ]}, "a":2} "#).unwrap();
        assert_eq!(document.to_json(), r#"{"a":2,"b\n":{"x":[ 1 ]}}"#);
        assert_eq!(parse("").unwrap(), Document::empty());
    }

    #[test]
    fn no_value_keeps_the_request_alive() {
        let long = format!(r#"{{"small":1,"large":"{}"}}"#, "x".repeat(5000));
        for text in [r#"{"small":1}"#, &long] {
            let request = Bytes::copy_from_slice(text.as_bytes());
            let document = Document::parse(request.clone()).unwrap();
            assert_eq!(document.get("small").unwrap().as_bytes(), &b"1"[..]);
            assert!(request.is_unique(), "{} bytes", text.len());
            let values: Vec<_> = document.iter().map(|(_, value)| value.as_bytes().clone()).collect();
            drop(document);
            let are_alone = values.iter().all(Bytes::is_unique);
            assert_eq!(are_alone, text.len() > SHARED_BYTES_MAX || values.len() == 1);
        }
    }

    #[test]
    fn a_written_value_keeps_no_room() {
        let mut written = Vec::with_capacity(4000);
        written.extend_from_slice(b"[1,2]");
        let start = written.as_ptr();
        let value = Json::from_written(written);
        assert_eq!(value.as_bytes(), &b"[1,2]"[..]);
        assert_ne!(value.as_bytes().as_ptr(), start);
    }

    #[test]
    fn what_is_not_an_object_is_named() {
        assert_eq!(parse("[1]"), Err(DocumentError::NotAnObject("an array")));
        assert_eq!(parse("\"x\""), Err(DocumentError::NotAnObject("a string")));
        assert!(matches!(parse("{\"a\":}"), Err(DocumentError::Syntax(_))));
        assert!(matches!(parse("{} x"), Err(DocumentError::Syntax(_))));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX - 1)).is_ok());
        assert_eq!(parse(&nested(DEPTH_MAX)), Err(DocumentError::TooDeep));
        assert!(parse(&format!("{{\"a\":\"{}\"}}", "[".repeat(5000))).is_ok());
    }

    #[test]
    fn members_from_outside_are_bounded() {
        let object = |members: usize| {
            let members: Vec<_> = (0..members).map(|at| format!("\"v{at}\":0")).collect();
            Bytes::from(format!("{{{}}}", members.join(",")))
        };
        assert_eq!(Document::parse(object(ENTRIES_MAX)).unwrap().len(), ENTRIES_MAX);
        assert_eq!(Document::parse(object(ENTRIES_MAX + 1)), Err(DocumentError::TooManyMembers));
        assert_eq!(Document::parse_stored(object(ENTRIES_MAX + 1)).unwrap().len(), ENTRIES_MAX + 1);
    }

    #[test]
    fn the_encoding_round_trips() {
        let document = parse(r#"{"a":1,"b":{"c":"d"}}"#).unwrap();
        let bytes = minicbor::to_vec(&document).unwrap();
        assert_eq!(minicbor::decode::<Document>(&bytes).unwrap(), document);
    }
}
