//! The grammar: where a value that begins at a byte ends. Text is UTF-8, which its owner has checked.

use crate::{DEPTH_MAX, Error};

type End = Result<usize, Error>;

fn error<T>(reason: &'static str, at: usize) -> Result<T, Error> {
    Err(Error { reason, at })
}

/// Checks that the text is one value with nothing but white space around it. Returns its levels of nesting, 0 for a
/// scalar.
pub fn depth(text: &str) -> Result<usize, Error> {
    let bytes = text.as_bytes();
    let (end, depth) = value_end(bytes, space_end(bytes, 0), DEPTH_MAX)?;
    let end = space_end(bytes, end);
    if end == bytes.len() { Ok(depth) } else { error("unexpected text after the value", end) }
}

pub(crate) fn space_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The end of a value and its levels of nesting. One flat loop: it goes over every byte of every variable.
pub(crate) fn value_end(bytes: &[u8], start: usize, depth_max: usize) -> Result<(usize, usize), Error> {
    // An entry for each open level: whether it is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut deepest = 0;
    let mut at = start;
    loop {
        // A value begins here.
        match bytes.get(at) {
            Some(byte @ (b'{' | b'[')) => {
                if open.len() == depth_max {
                    return error(Error::TOO_DEEP, at);
                }
                deepest = deepest.max(open.len() + 1);
                let is_object = *byte == b'{';
                at = space_end(bytes, at + 1);
                if bytes.get(at) != Some(if is_object { &b'}' } else { &b']' }) {
                    open.push(is_object);
                    if is_object {
                        at = name_end(bytes, at)?;
                    }
                    continue;
                }
                at += 1;
            }
            _ => at = scalar_end(bytes, at)?,
        }
        // A value has ended here.
        loop {
            let Some(is_object) = open.last().copied() else { return Ok((at, deepest)) };
            at = space_end(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    at = space_end(bytes, at + 1);
                    if is_object {
                        at = name_end(bytes, at)?;
                    }
                    break;
                }
                Some(b'}') if is_object => {}
                Some(b']') if !is_object => {}
                _ => return error(if is_object { "expected ',' or '}'" } else { "expected ',' or ']'" }, at),
            }
            open.pop();
            at += 1;
        }
    }
}

/// The start of a member's value, behind its name and colon.
pub(crate) fn name_end(bytes: &[u8], at: usize) -> End {
    if bytes.get(at) != Some(&b'"') {
        return error("expected a property name", at);
    }
    let (end, _) = string_end(bytes, at)?;
    colon_end(bytes, end)
}

/// The start of a member's value, behind its colon.
pub(crate) fn colon_end(bytes: &[u8], at: usize) -> End {
    let at = space_end(bytes, at);
    if bytes.get(at) == Some(&b':') { Ok(space_end(bytes, at + 1)) } else { error("expected ':'", at) }
}

fn scalar_end(bytes: &[u8], at: usize) -> End {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at).map(|(end, _)| end),
        Some(b'-' | b'0'..=b'9') => number_end(bytes, at),
        _ => word_end(bytes, at),
    }
}

pub(crate) fn word_end(bytes: &[u8], at: usize) -> End {
    let rest = bytes.get(at..).unwrap_or_default();
    let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word));
    match word {
        Some(word) => Ok(at + word.len()),
        None if rest.is_empty() => error("unexpected end, expected a value", at),
        None => error("expected a value", at),
    }
}

/// The end of a string, and whether it has escapes.
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Result<(usize, bool), Error> {
    debug_assert_eq!(bytes.get(start), Some(&b'"'));
    let mut at = start + 1;
    let mut is_escaped = false;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
            return error("unexpected end of a string", bytes.len());
        };
        if has_control(&rest[..found]) {
            let control = rest.iter().position(|byte| *byte < 0x20).unwrap_or(found);
            return error("control character in a string", at + control);
        }
        at += found;
        if bytes[at] == b'"' {
            return Ok((at + 1, is_escaped));
        }
        is_escaped = true;
        at += match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if bytes.get(at + 2..at + 6).is_some_and(|u| u.iter().all(u8::is_ascii_hexdigit)) => 6,
            _ => return error("invalid escape in a string", at),
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

pub(crate) fn number_end(bytes: &[u8], start: usize) -> End {
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits_end(bytes, at)? };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at = digits_end(bytes, at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+'))))?;
    }
    Ok(at)
}

fn digits_end(bytes: &[u8], start: usize) -> End {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == start { error("expected a digit", at) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_the_standard() {
        for good in ["1", " -0.5e+3 ", "[]", "[ ]", "{}", r#"{"a":[1,{"b":null}],"c":"\u00e9\n"}"#, "\"\""] {
            assert!(depth(good).is_ok(), "{good}");
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
            assert!(depth(bad).is_err(), "{bad}");
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
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(depth(&nested(DEPTH_MAX)), Ok(DEPTH_MAX));
        assert_eq!(depth(r#"[{"a":[1]},[],"[[[["]"#), Ok(3));
        assert_eq!(depth("1"), Ok(0));
        assert!(
            depth(&nested(DEPTH_MAX + 1)).is_err_and(|error| error.is_too_deep() && error.at == DEPTH_MAX)
        );
        assert!(depth(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn errors_name_the_reason_and_the_byte() {
        for (text, expected) in [
            (r#"{"a" 1}"#, "expected ':' at byte 5"),
            (r#"{"a":1 "b":2}"#, "expected ',' or '}' at byte 7"),
            ("[1 2]", "expected ',' or ']' at byte 3"),
            ("{1}", "expected a property name at byte 1"),
            ("[", "unexpected end, expected a value at byte 1"),
            ("\"a\tb\"", "control character in a string at byte 2"),
            (r#"["\q"]"#, "invalid escape in a string at byte 2"),
            ("1 2", "unexpected text after the value at byte 2"),
            ("-x", "expected a digit at byte 1"),
        ] {
            assert_eq!(depth(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
