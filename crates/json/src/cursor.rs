//! A cursor over text from outside: it checks each value as it passes it.

#![expect(missing_docs, reason = "names say what is held")]

use std::borrow::Cow;

use crate::grammar::{colon_end, number_end, space_end, string_end, value_end, word_end};
use crate::string::decode;
use crate::{DEPTH_MAX, Error};

/// The kind of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Token {
    /// For people, with its article.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A string as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub struct Literal<'a> {
    pub literal: &'a str,
    is_escaped: bool,
}

impl<'a> Literal<'a> {
    /// Its text; borrowed unless there are escapes.
    pub fn text(self) -> Cow<'a, str> {
        let content = &self.literal[1..self.literal.len() - 1];
        if !self.is_escaped {
            return Cow::Borrowed(content);
        }
        decode(content).expect("Cursor::string has decoded it once")
    }
}

/// A place in JSON text.
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Bytes from the start.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text from `start` to here.
    pub fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    fn error<T>(&self, reason: &'static str) -> Result<T, Error> {
        Err(Error { reason, at: self.at })
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Skips white space and returns the byte behind it.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        self.at = space_end(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    /// The kind of the next value.
    pub fn token(&mut self) -> Result<Token, Error> {
        match self.next_byte() {
            Some(b'{') => Ok(Token::Object),
            Some(b'[') => Ok(Token::Array),
            Some(b'"') => Ok(Token::String),
            Some(b't' | b'f') => Ok(Token::Boolean),
            Some(b'n') => Ok(Token::Null),
            Some(b'-' | b'0'..=b'9') => Ok(Token::Number),
            Some(_) => self.error("expected a value"),
            None => self.error("unexpected end, expected a value"),
        }
    }

    /// Takes `[` or `{`.
    pub fn open(&mut self) {
        debug_assert!(matches!(self.bytes().get(self.at), Some(b'[' | b'{')));
        self.at += 1;
    }

    /// Whether another array element follows. `first` is set before the first one.
    pub fn element(&mut self, first: bool) -> Result<bool, Error> {
        match self.next_byte() {
            Some(b']') => {
                self.at += 1;
                Ok(false)
            }
            _ if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => self.error("expected ',' or ']'"),
        }
    }

    /// The name of the next member, past its colon; `None` at the end of the object.
    pub fn member(&mut self, first: bool) -> Result<Option<Literal<'a>>, Error> {
        match self.next_byte() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            _ if first => {}
            Some(b',') => self.at += 1,
            _ => return self.error("expected ',' or '}'"),
        }
        if self.next_byte() != Some(b'"') {
            return self.error("expected a property name");
        }
        let name = self.string()?;
        self.at = colon_end(self.bytes(), self.at)?;
        Ok(Some(name))
    }

    /// A string; the cursor stands at its quote.
    pub fn string(&mut self) -> Result<Literal<'a>, Error> {
        let start = self.at;
        let (end, is_escaped) = string_end(self.bytes(), start)?;
        if is_escaped && decode(&self.text[start + 1..end - 1]).is_none() {
            return self.error("invalid escape in a string");
        }
        self.at = end;
        Ok(Literal { literal: self.since(start), is_escaped })
    }

    /// A number, by its grammar, with its text.
    pub fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        self.at = number_end(self.bytes(), start)?;
        Ok(self.since(start))
    }

    /// `true`, `false` or `null`.
    pub fn word(&mut self) -> Result<(), Error> {
        self.at = word_end(self.bytes(), self.at)?;
        Ok(())
    }

    /// Skips the value that begins here, of at most `depth_max` levels.
    pub fn skip_within(&mut self, depth_max: usize) -> Result<(), Error> {
        (self.at, _) = value_end(self.bytes(), self.at, depth_max)?;
        Ok(())
    }

    /// Skips the value that begins here, of at most [`DEPTH_MAX`] levels.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_within(DEPTH_MAX)
    }

    /// Checks that only white space follows.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.next_byte().is_some() { self.error("unexpected text after the value") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks a value the way a validator does, without a schema.
    fn walk(cursor: &mut Cursor<'_>) -> Result<(), Error> {
        match cursor.token()? {
            Token::Array => {
                cursor.open();
                let mut first = true;
                while cursor.element(first)? {
                    first = false;
                    walk(cursor)?;
                }
                Ok(())
            }
            Token::Object => {
                cursor.open();
                let mut first = true;
                while cursor.member(first)?.is_some() {
                    first = false;
                    walk(cursor)?;
                }
                Ok(())
            }
            _ => cursor.skip(),
        }
    }

    fn accepts(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        walk(&mut cursor).and_then(|()| cursor.finish()).is_ok()
    }

    fn skips(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.token().and_then(|_| cursor.skip()).and_then(|()| cursor.finish()).is_ok()
    }

    proptest! {
        #[test]
        fn both_walks_accept_the_same_texts_as_serde_json(text in r#"[\[\]{},:"\\u0019eE.+\-tna ]{0,24}"#) {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(accepts(&text), expected, "{}", text);
            prop_assert_eq!(skips(&text), expected, "skip: {}", text);
            prop_assert_eq!(crate::depth(&text).is_ok(), expected, "depth: {}", text);
        }

        #[test]
        fn both_walks_accept_the_same_pieces_as_serde_json(pieces in prop::collection::vec(prop::sample::select(
            vec!["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\n\"", "\"\\ud83d\\ude00\"", "1", "-0.5e3", "true", "null", " "]
        ), 0..12)) {
            let text = pieces.concat();
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(accepts(&text), expected, "{}", text);
            prop_assert_eq!(skips(&text), expected, "skip: {}", text);
        }
    }

    #[test]
    fn errors_say_where() {
        let mut cursor = Cursor::new(r#"{"a" 1}"#);
        cursor.token().unwrap();
        cursor.open();
        assert_eq!(cursor.member(true).unwrap_err(), Error { reason: "expected ':'", at: 5 });
    }

    #[test]
    fn escapes_are_resolved() {
        let mut cursor = Cursor::new(r#""a\u00e4\n""#);
        assert_eq!(cursor.string().unwrap().text(), "aä\n");
        let mut half = Cursor::new(r#""\ud800""#);
        assert!(half.string().is_err());
    }
}
