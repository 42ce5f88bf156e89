//! The one spelling of a value, so that equal values are equal texts: no white space, escapes only where the grammar
//! needs them, members sorted by name, the last of those that have the same name, numbers without needless digits.
//!
//! Text that has it already is found by a walk over it, without a copy.

use std::borrow::Cow;
use std::ops::Range;

use crate::scanner::Scanner;
use crate::string::{unescape, write_string};

/// Digits up to which a number is written without an exponent. Longer ones are mostly zeros: a few bytes from outside
/// must not become thousands.
pub const PLAIN_DIGITS_MAX: usize = 40;

/// Levels whose members are sorted. Each level moves what is inside once more, so there is an end to it.
const SORTED_LEVELS_MAX: usize = 32;

/// Levels that are spelled anew; what is deeper stays as it is. Values that were put together of others are deeper than
/// [`crate::DEPTH_MAX`].
const LEVELS_MAX: usize = 2 * crate::DEPTH_MAX;

/// The canonical spelling of text that is known to be JSON. Other text gives some text.
pub fn canonical(text: &str) -> Cow<'_, str> {
    if is_canonical(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    write(&mut Scanner::new(text.as_bytes()), &mut out, 0);
    String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Whether a walk over the text finds nothing that has another spelling.
fn is_canonical(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::new(bytes);
    // Of each open object its last name, of each open array nothing.
    let mut open: Vec<Option<&[u8]>> = Vec::new();
    loop {
        match scanner.peek() {
            Some(b'{') => {
                scanner.take(b'{');
                if !scanner.take(b'}') {
                    let Some(name) = plain_name(&mut scanner) else { return false };
                    open.push(Some(name));
                    continue;
                }
            }
            Some(b'[') => {
                scanner.take(b'[');
                if !scanner.take(b']') {
                    open.push(None);
                    continue;
                }
            }
            Some(b'"') => match scanner.string() {
                Some((_, false)) => {}
                Some((content, true)) if has_plain_escapes(content) => {}
                _ => return false,
            },
            Some(b'-' | b'0'..=b'9') => {
                if !is_plain_number(scanner.plain()) {
                    return false;
                }
            }
            Some(b't' | b'f' | b'n') => drop(scanner.plain()),
            _ => return false,
        }
        // A value has ended here.
        loop {
            let level = open.len();
            let Some(last) = open.last_mut() else { return scanner.position() == bytes.len() };
            if scanner.take(b',') {
                if let Some(last) = last {
                    let Some(name) = plain_name(&mut scanner) else { return false };
                    if level <= SORTED_LEVELS_MAX && *last >= name {
                        return false;
                    }
                    *last = name;
                }
                break;
            }
            if !scanner.take(if last.is_some() { b'}' } else { b']' }) {
                return false;
            }
            open.pop();
        }
    }
}

/// The name of a member without escapes, and its colon.
fn plain_name<'a>(scanner: &mut Scanner<'a>) -> Option<&'a [u8]> {
    let (name, is_escaped) = scanner.string()?;
    (!is_escaped && scanner.take(b':')).then_some(name)
}

/// Whether the escapes of a string are those that [`write_string`] writes.
fn has_plain_escapes(content: &[u8]) -> bool {
    let mut rest = content;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let Some(escape) = rest.get(at + 1) else { return false };
        let digits = match escape {
            b'"' | b'\\' | b'n' | b'r' | b't' | b'b' | b'f' => 0,
            b'u' => {
                let code = rest.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
                let is_control = |code: &str| {
                    let number = u8::from_str_radix(code, 16).unwrap_or(u8::MAX);
                    number < 0x20
                        && !matches!(number, 0x8..=0xa | 0xc | 0xd)
                        && *code == format!("{number:04x}")
                };
                if !code.is_some_and(is_control) {
                    return false;
                }
                4
            }
            _ => return false,
        };
        rest = &rest[at + 2 + digits..];
    }
    true
}

fn is_plain_number(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    if digits.iter().all(u8::is_ascii_digit) {
        return digits.len() <= PLAIN_DIGITS_MAX && number != b"-0";
    }
    let Ok(text) = std::str::from_utf8(number) else { return false };
    let mut out = Vec::with_capacity(number.len());
    write_number(text, &mut out);
    out == number
}

/// Appends the canonical spelling of the value that begins here.
fn write(scanner: &mut Scanner<'_>, out: &mut Vec<u8>, level: usize) {
    scanner.skip_space();
    match scanner.peek() {
        Some(b'{' | b'[') if level == LEVELS_MAX => {
            let start = scanner.position();
            // Text that is cut off ends here.
            let _ = scanner.skip_value();
            out.extend_from_slice(scanner.since(start));
        }
        Some(b'{') => write_object(scanner, out, level),
        Some(b'[') => {
            scanner.take(b'[');
            out.push(b'[');
            loop {
                scanner.skip_space();
                if scanner.take(b']') || scanner.peek().is_none() {
                    break;
                }
                if scanner.take(b',') {
                    out.push(b',');
                }
                let before = scanner.position();
                write(scanner, out, level + 1);
                if scanner.position() == before {
                    break;
                }
            }
            out.push(b']');
        }
        Some(b'"') => drop(write_text(scanner, out)),
        Some(b'-' | b'0'..=b'9') => {
            let number = scanner.plain();
            write_number(std::str::from_utf8(number).unwrap_or_default(), out);
        }
        _ => out.extend_from_slice(scanner.plain()),
    }
}

/// Appends the string that begins here; `None` if there is none.
fn write_text<'a>(scanner: &mut Scanner<'a>, out: &mut Vec<u8>) -> Option<Cow<'a, str>> {
    let (content, is_escaped) = scanner.string()?;
    let content = std::str::from_utf8(content).unwrap_or_default();
    let text = if is_escaped { unescape(content) } else { Cow::Borrowed(content) };
    write_string(&text, out);
    Some(text)
}

fn write_object(scanner: &mut Scanner<'_>, out: &mut Vec<u8>, level: usize) {
    scanner.take(b'{');
    out.push(b'{');
    let start = out.len();
    let mut members: Vec<(Cow<'_, str>, Range<usize>)> = Vec::new();
    loop {
        scanner.skip_space();
        if scanner.take(b',') {
            out.push(b',');
            scanner.skip_space();
        }
        let from = out.len();
        let Some(name) = write_text(scanner, out) else { break };
        out.push(b':');
        scanner.skip_space();
        scanner.take(b':');
        write(scanner, out, level + 1);
        members.push((name, from..out.len()));
    }
    scanner.take(b'}');
    let is_sorted = members.is_sorted_by(|one, other| one.0 < other.0);
    if !is_sorted && level < SORTED_LEVELS_MAX {
        members.sort_by(|one, other| one.0.cmp(&other.0));
        let mut sorted = Vec::with_capacity(out.len() - start);
        for (at, (name, range)) in members.iter().enumerate() {
            // Of equal names the last one stands last, for the order of equals stays.
            if members.get(at + 1).is_some_and(|next| next.0 == *name) {
                continue;
            }
            if !sorted.is_empty() {
                sorted.push(b',');
            }
            sorted.extend_from_slice(&out[range.clone()]);
        }
        out.truncate(start);
        out.append(&mut sorted);
    }
    out.push(b'}');
}

/// Appends the canonical spelling of a number: all its digits but zeros at their ends, a point where there is a
/// fraction, an exponent only if it would be longer than [`PLAIN_DIGITS_MAX`] digits without.
pub fn write_number(text: &str, out: &mut Vec<u8>) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (is_negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let kept = digits.trim_end_matches('0');
    let zeros = digits.len() - kept.len();
    let kept = kept.trim_start_matches('0');
    if kept.is_empty() {
        return out.push(b'0');
    }
    // The number is `kept` times ten to the power of `scale`.
    let scale = exponent_of(exponent).saturating_add(zeros as i64).saturating_sub(fraction.len() as i64);
    if is_negative {
        out.push(b'-');
    }
    let length = kept.len() as i64;
    let most = PLAIN_DIGITS_MAX as i64;
    if scale >= 0 && scale.saturating_add(length) <= most {
        out.extend_from_slice(kept.as_bytes());
        out.resize(out.len() + scale as usize, b'0');
    } else if scale < 0 && length <= most && scale >= -most {
        let places = scale.unsigned_abs() as usize;
        let padded = format!("{kept:0>width$}", width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        out.extend_from_slice(whole.as_bytes());
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    } else {
        let (first, rest) = kept.split_at(1);
        out.extend_from_slice(first.as_bytes());
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest.as_bytes());
        }
        let exponent = scale.saturating_add(length - 1);
        out.extend_from_slice(format!("e{exponent}").as_bytes());
    }
}

/// An exponent; one beyond 64 bits is as good as the largest.
fn exponent_of(text: &str) -> i64 {
    let text = text.strip_prefix('+').unwrap_or(text);
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_value_has_one_spelling() {
        for (spellings, expected) in [
            (&[r#""M\u00fcller""#, r#""Müller""#, r#" "M\u00FCller" "#][..], r#""Müller""#),
            (&[r#""a\/b""#, r#""a/b""#, r#""\u0061/b""#], r#""a/b""#),
            (&[r#""\n\u000a\u001F\u0008""#, r#""\n\n\u001f\b""#], r#""\n\n\u001f\b""#),
            (&[r#""\ud83d\ude00""#, r#""😀""#], r#""😀""#),
            (&["1.5", "1.50", "15e-1", "0.15E+1", "150e-2"], "1.5"),
            (&["1", "1.0", "10e-1", "1E0", "1.000"], "1"),
            (&["100", "1e2", "1E+2", "100.0", "0.1e3"], "100"),
            (&["0", "-0", "0.0", "-0.0e7", "0e999"], "0"),
            (&["-0.001", "-1e-3", "-0.0010"], "-0.001"),
            (&["12345678901234567.89", "12345678901234567.890"], "12345678901234567.89"),
            (&["89014103211118510721"], "89014103211118510721"),
            (&["1e50", "10e49", "1.0e+50"], "1e50"),
            (&["1.5e-50", "15e-51"], "1.5e-50"),
            (&[r#"{"a":1,"b":2}"#, r#"{ "b" : 2.0, "a" :1}"#, r#"{"a":9,"b":2,"a":1}"#], r#"{"a":1,"b":2}"#),
            (&[r#"[1,{"a":[],"b":{}}]"#, "[ 1 ,\n{\"b\":{ },\"\\u0061\":[ ]}\t] "], r#"[1,{"a":[],"b":{}}]"#),
            (&["true", " true "], "true"),
            (&[r#"{"":null,"\"":[null]}"#, r#"{"\"":[null],"":null}"#], r#"{"":null,"\"":[null]}"#),
        ] {
            for spelling in spellings {
                assert_eq!(canonical(spelling), expected, "{spelling}");
            }
        }
    }

    #[test]
    fn what_is_canonical_is_not_copied() {
        for text in [r#"{"a":[1,-2.5,"x\n",true,null],"b":{"c":"é"}}"#, "[]", "\"\"", "[[[{}]]]"] {
            assert!(matches!(canonical(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn numbers_of_any_exponent_stay_short() {
        for text in ["1e999999999999999999999", "-1e-999999999999999999999", "1e9223372036854775807"] {
            assert!(canonical(text).len() < 30, "{text}");
        }
        let deep = format!("{}1{}", r#"{"b":0, "a":"#.repeat(500), "}".repeat(500));
        assert!(canonical(&deep).len() < deep.len());
    }

    fn in_doubles(value: Value) -> Value {
        match value {
            Value::Number(number) => number.as_f64().map(|number| number + 0.0).into(),
            Value::Array(items) => items.into_iter().map(in_doubles).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(name, value)| (name, in_doubles(value))).collect()
            }
            other => other,
        }
    }

    proptest! {
        #[test]
        fn the_spelling_is_of_the_same_value_and_stays(pieces in prop::collection::vec(prop::sample::select(
            vec!["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\n\"", "\"\\u00e4\"", "1", "-0.5e3", "1.50", "true", "null", " "]
        ), 0..14)) {
            let text = pieces.concat();
            let once = canonical(&text);
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(in_doubles(serde_json::from_str(&once).unwrap()), in_doubles(value), "{}", text);
                prop_assert_eq!(&canonical(&once), &once);
                prop_assert!(is_canonical(once.as_bytes()) || once.contains('\\'), "{}", once);
            }
        }
    }
}
