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

/// Checks the grammar of RFC 8259 and the depth. One flat loop: it goes over every byte of every variable that is read.
pub(super) fn validate(bytes: &[u8]) -> Result<u16, JsonError> {
    // One entry a level: whether it is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut deepest = 0;
    let mut at = skip_space(bytes, 0);
    loop {
        // A value begins here.
        match bytes.get(at) {
            Some(byte @ (b'{' | b'[')) => {
                at += 1;
                if open.len() == DEPTH_MAX {
                    return Err(JsonError::TooDeep(at));
                }
                deepest = deepest.max(open.len() + 1);
                at = skip_space(bytes, at);
                let is_object = *byte == b'{';
                if bytes.get(at) != Some(if is_object { &b'}' } else { &b']' }) {
                    open.push(is_object);
                    if is_object {
                        at = check_key(bytes, at)?;
                    }
                    continue;
                }
                at += 1;
            }
            Some(b'"') => at = check_string(bytes, at)?,
            Some(b'-' | b'0'..=b'9') => at = check_number(bytes, at)?,
            _ => at = check_word(bytes, at)?,
        }
        // A value ended here.
        loop {
            at = skip_space(bytes, at);
            let Some(is_object) = open.last().copied() else {
                return if at == bytes.len() { Ok(deepest as u16) } else { Err(JsonError::Syntax(at)) };
            };
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_space(bytes, at + 1);
                    if is_object {
                        at = check_key(bytes, at)?;
                    }
                    break;
                }
                Some(b'}') if is_object => {}
                Some(b']') if !is_object => {}
                _ => return Err(JsonError::Syntax(at)),
            }
            open.pop();
            at += 1;
        }
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && matches!(bytes[at], b' ' | b'\n' | b'\t' | b'\r') {
        at += 1;
    }
    at
}

/// A key and its colon. Gives where its value begins.
fn check_key(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = skip_space(bytes, check_string(bytes, at)?);
    if bytes.get(at) == Some(&b':') { Ok(skip_space(bytes, at + 1)) } else { Err(JsonError::Syntax(at)) }
}

fn check_word(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let rest = &bytes[at..];
    let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word));
    word.map(|word| at + word.len()).ok_or(JsonError::Syntax(at))
}

fn check_string(bytes: &[u8], start: usize) -> Result<usize, JsonError> {
    let error = Err(JsonError::Syntax(start));
    if bytes.get(start) != Some(&b'"') {
        return error;
    }
    let mut at = start + 1;
    loop {
        let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else { return error };
        if has_control(&bytes[at..at + found]) {
            return error;
        }
        at += found;
        if bytes[at] == b'"' {
            return Ok(at + 1);
        }
        at += match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u')
                if bytes.len() >= at + 6 && bytes[at + 2..at + 6].iter().all(u8::is_ascii_hexdigit) =>
            {
                6
            }
            _ => return error,
        };
    }
}

/// Whether there is a control character, which a string may not hold as it is. Eight bytes at a time.
fn has_control(text: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        let word = u64::from_ne_bytes(*word);
        // A borrow reaches the high bit of a byte that is less than 0x20 and has no high bit itself.
        if word.wrapping_sub(ONES * 0x20) & !word & HIGH != 0
            && word.to_ne_bytes().iter().any(|byte| *byte < 0x20)
        {
            return true;
        }
    }
    rest.iter().any(|byte| *byte < 0x20)
}

fn check_number(bytes: &[u8], start: usize) -> Result<usize, JsonError> {
    let whole = start + usize::from(bytes[start] == b'-');
    let mut at = skip_digits(bytes, whole);
    if at == whole || (at > whole + 1 && bytes[whole] == b'0') {
        return Err(JsonError::Syntax(start));
    }
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = skip_digits(bytes, fraction);
        if at == fraction {
            return Err(JsonError::Syntax(start));
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        at = skip_digits(bytes, exponent);
        if at == exponent {
            return Err(JsonError::Syntax(start));
        }
    }
    Ok(at)
}

fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_digit() {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_the_standard() {
        for good in ["1", " -0.5e+3 ", "[]", "[ ]", "{}", r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#, "\"\""] {
            assert!(validate(good.as_bytes()).is_ok(), "{good}");
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
            r#"{"a":1"#,
            "[1.5e]",
            "truex",
            "[1}",
            "1x",
            "\"ab\u{1}\"",
            "\"\\",
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
    fn control_characters_are_found_wherever_they_stand() {
        for length in 0..20 {
            for place in 0..length {
                let mut text = vec![b'x'; length];
                assert!(!has_control(&text));
                text[place] = 0x1f;
                assert!(has_control(&text), "{place} of {length}");
                text[place] = 0xc3;
                assert!(!has_control(&text));
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(validate(nested(DEPTH_MAX).as_bytes()), Ok(DEPTH_MAX as u16));
        assert_eq!(validate(br#"[{"a":[1]},[],"[[[["]"#), Ok(3));
        assert_eq!(validate(b"1"), Ok(0));
        assert!(matches!(validate(nested(DEPTH_MAX + 1).as_bytes()), Err(JsonError::TooDeep(_))));
        assert!(validate("[".repeat(1_000_000).as_bytes()).is_err());
    }
}
