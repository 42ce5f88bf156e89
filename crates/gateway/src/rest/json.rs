//! A cursor over JSON text: one pass, no tree, no copies. It finds where values end; what they must be is
//! `validate`'s business.

use std::borrow::Cow;

use memchr::memchr2;

/// How deeply free values may nest; the same as for documents.
pub(crate) const MAX_DEPTH: usize = protocol::MAX_DEPTH;

/// The first thing that a value shows of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Token {
    /// For people, with its article.
    pub(crate) const fn describe(self) -> &'static str {
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

/// Text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// What was wrong.
    pub(crate) reason: &'static str,
    /// Where, in bytes from the start.
    pub(crate) at: usize,
}

/// A string as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawString<'a> {
    /// With its quotes.
    pub(crate) literal: &'a str,
    escaped: bool,
}

impl<'a> RawString<'a> {
    /// Its text; borrowed unless there are escapes.
    pub(crate) fn text(self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(serde_json::from_str(self.literal).expect("checked by Cursor::string"))
        } else {
            Cow::Borrowed(&self.literal[1..self.literal.len() - 1])
        }
    }
}

/// A place in JSON text.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Bytes from the start.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The text from `start` to here.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    fn error<T>(&self, reason: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError { reason, at: self.at })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and returns what comes next.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// What kind of value comes next.
    pub(crate) fn token(&mut self) -> Result<Token, SyntaxError> {
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

    /// Takes a byte that must come next.
    fn take(&mut self, byte: u8, reason: &'static str) -> Result<(), SyntaxError> {
        if self.next_byte() != Some(byte) {
            return self.error(reason);
        }
        self.at += 1;
        Ok(())
    }

    /// Takes `[` or `{`.
    pub(crate) fn open(&mut self) {
        debug_assert!(matches!(self.byte(), Some(b'[' | b'{')));
        self.at += 1;
    }

    /// Whether another array element follows. `first` is set before the first one.
    pub(crate) fn element(&mut self, first: bool) -> Result<bool, SyntaxError> {
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
    pub(crate) fn member(&mut self, first: bool) -> Result<Option<RawString<'a>>, SyntaxError> {
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
        self.take(b':', "expected ':'")?;
        Ok(Some(name))
    }

    /// A string; the cursor stands at its quote.
    pub(crate) fn string(&mut self) -> Result<RawString<'a>, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 2;
                }
                Some(0..=0x1f) => return self.error("control character in a string"),
                Some(_) => self.at += 1,
                None => {
                    self.at = self.text.len();
                    return self.error("unexpected end of a string");
                }
            }
        }
        self.at += 1;
        let literal = &self.text[start..self.at];
        if escaped && serde_json::from_str::<Cow<'_, str>>(literal).is_err() {
            self.at = start;
            return self.error("invalid escape in a string");
        }
        Ok(RawString { literal, escaped })
    }

    /// A number, by its grammar, with its text.
    pub(crate) fn number(&mut self) -> Result<&'a str, SyntaxError> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.error("expected a digit") } else { Ok(()) }
    }

    /// `true`, `false` or `null`.
    pub(crate) fn word(&mut self) -> Result<(), SyntaxError> {
        for word in ["true", "false", "null"] {
            if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(());
            }
        }
        self.error("expected a value")
    }

    /// Skips a value of any kind and checks it.
    pub(crate) fn skip(&mut self, token: Token) -> Result<(), SyntaxError> {
        let start = self.at;
        match token {
            Token::Null | Token::Boolean => self.word(),
            Token::Number => self.number().map(drop),
            Token::String => self.string().map(drop),
            Token::Array | Token::Object => {
                self.skip_unchecked()?;
                let skipped = &self.text[start..self.at];
                if serde_json::from_str::<serde::de::IgnoredAny>(skipped).is_err() {
                    self.at = start;
                    return self.error("malformed value");
                }
                Ok(())
            }
        }
    }

    /// Skips an array or object by its brackets alone: whoever reads the skipped text checks it.
    pub(crate) fn skip_unchecked(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        let mut open = Brackets { depth: 0, objects: [0; Brackets::WORDS] };
        loop {
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.skip_string()?;
                    continue;
                }
                Some(bracket @ (b'{' | b'[')) => {
                    if !open.push(*bracket == b'{') {
                        return self.error("nested too deeply");
                    }
                }
                Some(bracket @ (b'}' | b']')) => {
                    if !open.pop(*bracket == b'}') {
                        return self.error("mismatched bracket");
                    }
                    if open.depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                Some(_) => {}
                None => return self.error("unexpected end"),
            }
            self.at += 1;
        }
    }

    fn skip_string(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            let Some(found) = bytes.get(self.at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
                self.at = bytes.len();
                return self.error("unexpected end of a string");
            };
            self.at += found + 1;
            if bytes[self.at - 1] == b'"' {
                return Ok(());
            }
            self.at += 1;
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn finish(&mut self) -> Result<(), SyntaxError> {
        if self.next_byte().is_some() { self.error("unexpected text after the value") } else { Ok(()) }
    }
}

/// The kinds of the open brackets, one bit each.
struct Brackets {
    depth: usize,
    objects: [u64; Self::WORDS],
}

impl Brackets {
    const WORDS: usize = MAX_DEPTH.div_ceil(64);

    /// Whether there was room.
    fn push(&mut self, is_object: bool) -> bool {
        if self.depth == MAX_DEPTH {
            return false;
        }
        let (word, bit) = (&mut self.objects[self.depth / 64], 1 << (self.depth % 64));
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        true
    }

    /// Whether it was of this kind.
    fn pop(&mut self, is_object: bool) -> bool {
        self.depth -= 1;
        (self.objects[self.depth / 64] >> (self.depth % 64) & 1 == 1) == is_object
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks a value the way the validator does, without a schema.
    fn walk(cursor: &mut Cursor<'_>) -> Result<(), SyntaxError> {
        let token = cursor.token()?;
        match token {
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
            _ => cursor.skip(token),
        }
    }

    fn accepts(text: &str) -> bool {
        let mut cursor = Cursor::new(text);
        walk(&mut cursor).and_then(|()| cursor.finish()).is_ok()
    }

    proptest! {
        #[test]
        fn the_cursor_accepts_what_serde_json_accepts(text in r#"[\[\]{},:"\\u0019eE.+\-tna ]{0,24}"#) {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(accepts(&text), expected, "{}", text);
        }

        #[test]
        fn the_cursor_accepts_json_pieces(pieces in prop::collection::vec(prop::sample::select(
            vec!["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\n\"", "\"\\ud83d\\ude00\"", "1", "-0.5e3", "true", "null", " "]
        ), 0..12)) {
            let text = pieces.concat();
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(accepts(&text), expected, "{}", text);
            let mut cursor = Cursor::new(&text);
            let skipped = cursor.token().and_then(|token| cursor.skip(token)).and_then(|()| cursor.finish());
            prop_assert_eq!(skipped.is_ok(), expected, "skip: {}", text);
        }
    }

    #[test]
    fn errors_say_where() {
        let mut cursor = Cursor::new(r#"{"a" 1}"#);
        cursor.token().unwrap();
        cursor.open();
        assert_eq!(cursor.member(true).unwrap_err(), SyntaxError { reason: "expected ':'", at: 5 });
    }

    #[test]
    fn escapes_are_resolved() {
        let mut cursor = Cursor::new(r#""a\u00e4\n""#);
        assert_eq!(cursor.string().unwrap().text(), "aä\n");
    }
}
