//! Strings: their escapes, read and written.

use std::borrow::Cow;

/// The text of a string's content, without its quotes. `None` if an escape is half of a surrogate pair, which is no
/// character; the rest of the grammar has been checked.
pub(crate) fn decode(content: &str) -> Option<Cow<'_, str>> {
    let mut is_whole = true;
    let text = decoded(content, &mut is_whole);
    is_whole.then_some(text)
}

/// The text of a string's content, without its quotes. Half of a surrogate pair becomes U+FFFD.
pub fn unescape(content: &str) -> Cow<'_, str> {
    decoded(content, &mut true)
}

fn decoded<'a>(content: &'a str, is_whole: &mut bool) -> Cow<'a, str> {
    let Some(first) = memchr::memchr(b'\\', content.as_bytes()) else { return Cow::Borrowed(content) };
    let mut out = String::with_capacity(content.len());
    let (mut rest, mut next) = (content, Some(first));
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or("");
        match escape {
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'u' => {
                let (character, behind) = character(rest);
                *is_whole &= character.is_some();
                out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = behind;
            }
            other => out.push(char::from(other)),
        }
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character of the digits behind `\u`, and of the second half of a surrogate pair; and the text behind it.
fn character(rest: &str) -> (Option<char>, &str) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(rest) else { return (None, rest) };
    let rest = &rest[4..];
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = rest.strip_prefix("\\u").and_then(unit)
        && (0xdc00..0xe000).contains(&second)
    {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code), &rest[6..]);
    }
    (char::from_u32(first), rest)
}

/// Appends a string literal: quotes, and escapes where the grammar needs them.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut start = 0;
    for (index, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&text.as_bytes()[start..index]);
        start = index + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x8 => out.extend_from_slice(b"\\b"),
            0xc => out.extend_from_slice(b"\\f"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(&text.as_bytes()[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_pairs_are_no_characters() {
        assert_eq!(unescape(r#"a\"\\\/\n\u00e9\ud83d\ude00\ud800x"#), "a\"\\/\né😀\u{fffd}x");
        assert_eq!(decode(r"\ud83d\ude00").as_deref(), Some("😀"));
        for half in [r"\ud800", r"\ud800x", r"\ud800\u0041", r"\udc00"] {
            assert_eq!(decode(half), None, "{half}");
        }
    }

    #[test]
    fn broken_escapes_become_something_without_panic() {
        for content in ["\\", "\\u", "\\u12", "\\uzzzz", "\\ud800\\", "\\ud800\\u", "é\\u00é"] {
            unescape(content);
        }
    }

    proptest! {
        #[test]
        fn strings_are_written_as_serde_json_writes_and_read_back(text in "[\u{0}-\u{24}\\\\\"a-cäö😀]{0,12}") {
            let mut literal = Vec::new();
            write_string(&text, &mut literal);
            let literal = String::from_utf8(literal).unwrap();
            prop_assert_eq!(&literal, &serde_json::to_string(&text).unwrap());
            let content = &literal[1..literal.len() - 1];
            prop_assert_eq!(decode(content).unwrap(), text);
        }
    }
}
