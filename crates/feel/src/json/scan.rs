//! Walking over JSON text. Nothing recurses.

use super::{DEPTH_MAX, JsonError};

/// Bytes of a string that are looked at one by one.
const SHORT_STRING: usize = 24;

/// A position in JSON text.
pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) position: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.position += 1;
        }
    }

    /// Takes one byte if it is the expected one.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    /// The content of the string that begins here, escapes unread, and whether there are escapes.
    pub(super) fn string(&mut self) -> Option<(&'a [u8], bool)> {
        if !self.take(b'"') {
            return None;
        }
        let start = self.position;
        // Most strings are short: look at a few bytes before calling for help.
        let near = &self.bytes[start..self.bytes.len().min(start + SHORT_STRING)];
        for (length, byte) in near.iter().enumerate() {
            match byte {
                b'"' => {
                    self.position = start + length + 1;
                    return Some((&near[..length], false));
                }
                b'\\' => break,
                _ => {}
            }
        }
        let mut escaped = false;
        loop {
            let offset = memchr::memchr2(b'"', b'\\', self.bytes.get(self.position..)?)?;
            self.position += offset + 1;
            if self.bytes[self.position - 1] == b'"' {
                return Some((&self.bytes[start..self.position - 1], escaped));
            }
            escaped = true;
            self.position += 1;
        }
    }

    /// Moves behind the value that begins here; the text is known to be valid.
    pub(super) fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    match self.peek()? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth = depth.checked_sub(1)?,
                        _ => {}
                    }
                    self.position += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
            }
            _ => {
                self.plain();
                Some(())
            }
        }
    }

    /// The number or word that begins here.
    pub(super) fn plain(&mut self) -> &'a [u8] {
        let start = self.position;
        while let Some(byte) = self.peek() {
            if matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r' | b':') {
                break;
            }
            self.position += 1;
        }
        &self.bytes[start..self.position]
    }
}

/// Checks the grammar of RFC 8259 and the depth.
pub(super) fn validate(bytes: &[u8]) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(bytes);
    // One entry a level: whether it is an object.
    let mut open: Vec<bool> = Vec::new();
    scanner.skip_space();
    loop {
        // A value begins here.
        match scanner.peek() {
            Some(byte @ (b'{' | b'[')) => {
                scanner.position += 1;
                if open.len() == DEPTH_MAX {
                    return Err(JsonError::TooDeep(scanner.position));
                }
                open.push(byte == b'{');
                scanner.skip_space();
                let close = if byte == b'{' { b'}' } else { b']' };
                if scanner.take(close) {
                    open.pop();
                } else {
                    if byte == b'{' {
                        key(&mut scanner)?;
                    }
                    continue;
                }
            }
            _ => scalar(&mut scanner)?,
        }
        // A value ended here.
        loop {
            scanner.skip_space();
            let Some(object) = open.last().copied() else {
                let at_end = scanner.position == bytes.len();
                return if at_end { Ok(()) } else { Err(JsonError::Syntax(scanner.position)) };
            };
            if scanner.take(b',') {
                scanner.skip_space();
                if object {
                    key(&mut scanner)?;
                }
                break;
            }
            if !scanner.take(if object { b'}' } else { b']' }) {
                return Err(JsonError::Syntax(scanner.position));
            }
            open.pop();
        }
    }
}

fn key(scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
    check_string(scanner)?;
    scanner.skip_space();
    if !scanner.take(b':') {
        return Err(JsonError::Syntax(scanner.position));
    }
    scanner.skip_space();
    Ok(())
}

fn scalar(scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
    let start = scanner.position;
    if scanner.peek() == Some(b'"') {
        return check_string(scanner);
    }
    match scanner.plain() {
        b"true" | b"false" | b"null" => Ok(()),
        text if is_number(text) => Ok(()),
        _ => Err(JsonError::Syntax(start)),
    }
}

fn check_string(scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
    let start = scanner.position;
    let error = || JsonError::Syntax(start);
    let (content, escaped) = scanner.string().ok_or_else(error)?;
    if content.iter().any(|byte| *byte < 0x20) {
        return Err(error());
    }
    if escaped {
        let mut rest = content;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            let length = match rest.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u')
                    if rest.len() >= at + 6 && rest[at + 2..at + 6].iter().all(u8::is_ascii_hexdigit) =>
                {
                    6
                }
                _ => return Err(error()),
            };
            rest = &rest[at + length..];
        }
    }
    Ok(())
}

fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned[0] == b'0') {
        return false;
    }
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let unsigned =
            exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let count = digits(unsigned);
        return count > 0 && count == unsigned.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_the_standard() {
        for good in ["1", " -0.5e+3 ", "[]", "[ ]", "{}", r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#, "\"\""] {
            assert_eq!(validate(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "[1,]",
            "[,]",
            "{",
            "}",
            "[}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r"{a:1}",
            r#""\x""#,
            "\"\n\"",
            "tru",
            "1 2",
            "[1 2]",
            r#"{"a":1,}"#,
            "nan",
            "\"abc",
            r#""\u12""#,
            "1e",
            "-",
        ] {
            assert!(validate(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(validate(nested(DEPTH_MAX).as_bytes()), Ok(()));
        assert!(matches!(validate(nested(DEPTH_MAX + 1).as_bytes()), Err(JsonError::TooDeep(_))));
        assert!(validate("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
